"""Cases of summary groups."""

from __future__ import annotations

__all__ = ["check_summary_group"]

import math
from typing import Any

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.summary.groups import read_group
from pytest_evalplug.summary.scores import Scores


def check_summary_group(row: Record, steps: tuple[()]) -> Finding:
    """Compare a group's values, to 1e-6, or expect an error, or a group that is missing.

    Of the metrics of a dataset in ``results`` the first is the one that its bare name stands for.
    """
    expected = row["expected"]
    # a table of many rows has every dataset in each, as null
    results = {name: _there(metrics) for name, metrics in _there(row["results"]).items()}
    got = _values(results, _there(row["group"]))
    wanted = _there(expected)
    if "error" in wanted or "missing" in wanted:
        right = got.keys() == wanted.keys()
    else:
        right = all(math.isclose(got.get(m, math.nan), v, abs_tol=1e-6) for m, v in wanted.items())
    shown = f"{dumps(row['group'])} of {dumps(results)}"
    return Finding(shown, wanted, got, right)


def _values(results: dict[str, dict[str, float]], config: dict[str, Any]) -> dict[str, Any]:
    """Return the group's metrics, ``error`` with its text, or ``missing`` with what is."""
    try:
        group = read_group(config, where="group")
    except ConfigError as error:
        return {"error": str(error)}
    scores = Scores.of({"model": results})
    scores.add_groups([group])
    reason = scores.reasons.get(("model", group.name, group.metric))
    if reason is not None:
        return {"missing" if "; missing: " in reason else "error": reason}
    return {m: entry.cell.value for m, entry in scores.entries["model"][group.name].items()}


def _there(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}
