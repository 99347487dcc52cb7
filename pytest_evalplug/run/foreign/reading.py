"""What reading the files of all tools has in common. Nothing in them is trusted or evaluated."""

from __future__ import annotations

__all__ = ["agrees", "finite", "foreign_result", "read_json", "unreadable"]

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import DataError, one_line
from pytest_evalplug.evaluation.aggregate import mean_scores
from pytest_evalplug.evaluation.outcome import is_number
from pytest_evalplug.evaluation.statistics import cluster_of
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.types import Detail

LARGEST = 2**30
"""Bytes of a file that is read as a whole."""


def read_json(path: Path) -> dict[str, Any]:
    """Return a file's JSON object. Raises DataError if it holds anything else, or far too much."""
    try:
        if path.stat().st_size > LARGEST:
            raise unreadable(path, f"it has more than {LARGEST >> 20} MiB")
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise unreadable(path, one_line(error)) from error
    if not isinstance(content, dict):
        raise unreadable(path, "no JSON object")
    return content


def finite(value: Any) -> float | None:
    """Return a finite number as a float, None for anything else."""
    try:
        return float(value) if is_number(value) and math.isfinite(value) else None
    except OverflowError:  # an int of hundreds of digits
        return None


def agrees(value: float, mean: float, scale: float) -> bool:
    """Tell whether ``value`` is ``mean``, perhaps rounded; ``scale`` is what 1 is in their unit.

    As much as its last digit leaves open, but no more than 0.05 percent points.
    """
    exponent = Decimal(str(value)).as_tuple().exponent
    assert isinstance(exponent, int)
    rounding = min(0.5 * 10.0**exponent, 0.0005 * scale)
    return math.isclose(value, mean, abs_tol=rounding + 1e-8 * scale)


def unreadable(path: Path, why: str) -> DataError:
    """Return the error that a file is not what its name says."""
    return DataError(f"the file can't be read: {why}", where=str(path))


def foreign_result(
    *,
    model: str,
    dataset: str,
    mode: str,
    metrics: Mapping[str, Any],
    means: Mapping[str, float],
    details: Sequence[Detail],
    **more: Any,
) -> ResultFile:
    """Return a result of another tool.

    What is no finite number in ``metrics`` goes to ``other``. Those in ``means`` are means of the
    details' scores, times a scale: they are computed here, unrounded, and how sure they are, too.
    """
    numbers = {m: number for m, v in metrics.items() if (number := finite(v)) is not None}
    scored = [detail for detail in details if detail.error is None]
    verdicts = [detail.correct for detail in scored if detail.correct is not None]
    rows = more.get("num_rows") or 0
    known = mean_scores(
        [{name: detail.score[name] for name in means if name in detail.score} for detail in scored],
        [cluster_of(_row(detail.index, rows), None) for detail in scored],
        means.__getitem__,
    )
    sure = {score.metric: score.metadata or {} for score in known}
    return ResultFile(
        model=model,
        dataset=dataset,
        benchmark=dataset,
        subset="",
        version="",
        mode=mode,
        num_samples=len(details),
        num_scored=len(scored),
        num_errors=len(details) - len(scored),
        num_correct=sum(verdicts) if verdicts else None,
        metrics=numbers | {score.metric: score.value for score in known},
        metric_samples={s.metric: s.num_samples for s in known if s.num_samples != len(scored)},
        stderr={m: said["stderr"] for m, said in sure.items() if "stderr" in said},
        intervals={m: said["interval"] for m, said in sure.items() if "interval" in said},
        other={name: value for name, value in metrics.items() if name not in numbers},
        details=list(details),
        **more,
    )


def _row(index: str, rows: int) -> str:
    return str(int(index) % rows) if rows else index
