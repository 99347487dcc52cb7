"""``--mode viz``: a finished run's table again, without a test session."""

from __future__ import annotations

__all__ = ["show_run"]

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.options import RunConfig


def show_run(config: pytest.Config) -> int | None:
    """Print the summary of the run that ``--reuse`` names; None for any other stage.

    Raises pytest.UsageError if there is no such run or it has no results.
    """
    try:
        run_config = RunConfig.from_pytest(config)
        if run_config.stage != "viz":
            return None
        from pytest_evalplug.finish import view
        from pytest_evalplug.run.directory import RunDirectory

        path = RunDirectory.find(run_config.work_dir, run_config.reuse or "latest")
        outcome = view(RunDirectory.attach(path), run_config.summarizer)
    except EvalplugError as error:
        raise pytest.UsageError(str(error)) from None
    assert outcome.table is not None
    print(outcome.table.text(verbose=config.get_verbosity() > 0))
    print("", *outcome.notes, f"summary of {path}", sep="\n")
    return 0
