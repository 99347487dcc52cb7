from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run_holder import RunHolder


def test_a_run_that_can_not_be_taken_over_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_evalplug.run.directory.LOOK_SECONDS", 0.0)
    config: Any = None
    begun: list[int] = []
    with RunDirectory.create(tmp_path) as run:
        holder = RunHolder(config, lambda: begun.append(1))
        holder._late_path = run.path
        assert holder.path() == run.path
        with pytest.raises(pytest.UsageError, match="another process is working in the run"):
            holder.found()
        assert holder.found() is None  # the session's end asks once more
    assert not begun
