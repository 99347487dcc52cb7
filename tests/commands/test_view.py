from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.cli import main


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "--work-dir", "."], "error: no run 'nowhere' in ., and no folder of that "),
        (["--work-dir", "absent"], "error: --work-dir absent: there is no such folder. Give"),
    ],
)
def test_what_is_not_there(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", "--no-browser", *words]) == 2
    assert message in capsys.readouterr().err
