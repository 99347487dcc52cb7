"""What a run is held to: its gates and its baseline."""

from __future__ import annotations

__all__ = ["check_required", "unchecked"]

from pathlib import Path
from typing import Literal

from pytest_evalplug.errors import DataError, EvalplugError, one_line
from pytest_evalplug.options import RunConfig
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.gates import GateResult, check_gates
from pytest_evalplug.summary.table import Table


def check_required(
    config: RunConfig, run: RunDirectory, table: Table
) -> tuple[list[GateResult], list[str]]:
    """Return what came of the gates, and notes. Raises EvalplugError for a damaged baseline."""
    if config.shard is not None:
        return unchecked(config, "skipped", "one shard: 'evalplug merge' checks it"), []
    results = check_gates(config.gates, table)
    if config.baseline is None:
        return results, []
    from pytest_evalplug.run.saved_run import open_saved
    from pytest_evalplug.summary.baseline import Allowed, check_baseline

    baseline = Path(config.baseline)
    try:
        compared, notes = check_baseline(
            open_saved(str(baseline), baseline.parent),
            open_saved(str(run.path), run.path.parent),
            Allowed(config.max_drop or 0.0, config.significance),
        )
    except EvalplugError:
        raise
    except Exception as error:  # anybody's files, of any shape: they may not cost this run
        raise DataError(f"can't be read: {one_line(error)}", where=str(baseline)) from error
    return results + compared, notes


def unchecked(
    config: RunConfig, outcome: Literal["failed", "skipped"], why: str
) -> list[GateResult]:
    """Return the gates, the baseline as one, with the reason why they can't be checked."""
    texts = [*config.gates, *(["baseline"] if config.baseline else [])]
    return [GateResult(text, "", outcome, why) for text in texts]
