from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pytest_evalplug.logs import RUN_LOG, close_log, open_log


def test_the_file_alone_holds_what_is_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "logs" / "main.log"
    handler = open_log(path)
    RUN_LOG.info("started")
    logging.getLogger("pytest_evalplug.inference").error("é")
    close_log(handler)
    RUN_LOG.info("too late")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == ["INFO started", "ERROR é"]
    assert [record.getMessage() for record in caplog.records] == ["é"]


def test_a_text_that_utf8_can_not_hold_is_escaped(tmp_path: Path) -> None:
    # not through the package's logger: pytest would keep the text, and xdist could not send it
    path = tmp_path / "main.log"
    handler = open_log(path)
    RUN_LOG.info("\ud800")
    close_log(handler)
    assert path.read_text(encoding="utf-8").endswith("INFO \\ud800\n")
