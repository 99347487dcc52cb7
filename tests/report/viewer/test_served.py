"""``evalplug view`` as a user has it: the command, a browser, and a pytest that runs meanwhile."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_evalplug.cli import main
from tests.e2e.project import Project, right, wrong
from tests.report.viewer.conftest import Tab
from tests.report.viewer.runs import Given, make_run


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address that the command prints."""
    command = [sys.executable, "-m", "pytest_evalplug.cli", "view", "--no-browser", "--port=0"]
    runs = tmp_path / "runs"
    runs.mkdir()
    command += ["--work-dir", str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        assert found, line
        yield found[0]
        process.terminate()


def test_a_run_is_followed_to_its_end(
    url: str, tmp_path: Path, tab: Tab, pytester: pytest.Pytester
) -> None:
    page = tab.open(url)
    page.get_by_text("There are no runs in this folder yet.").wait_for()

    project = Project(pytester)
    project.data([right(1), wrong(2), *({"q": "wait 0.8", "a": "0.8"} for _ in range(4))])
    command = [sys.executable, "-m", "pytest", f"--work-dir={tmp_path / 'runs'}"]
    with subprocess.Popen(command, cwd=project.path, stdout=subprocess.DEVNULL) as process:
        page.get_by_text("● running").wait_for(timeout=30_000)
        page.locator("table.runs a").click()
        page.get_by_role("heading", name="● Running").wait_for()
        page.get_by_text("of 6 samples").first.wait_for()
        page.get_by_role("link", name="quiz").click()
        page.locator(".row").first.wait_for()
        page.keyboard.press("u")
        process.wait(60)
    page.locator("table.summary").wait_for()
    tab.shows("table.summary .value", ["83.33"])
    assert not page.get_by_text("● Running").is_visible()
    [written] = (tmp_path / "runs").glob("*/report/index.html")
    tab.open(written)
    tab.shows("table.summary .value", ["83.33"])


def test_two_runs_against_each_other(url: str, tmp_path: Path, tab: Tab) -> None:
    first = make_run(tmp_path / "runs", {("m", "main"): [Given("a"), Given("b")]})
    second = make_run(tmp_path / "runs", {("m", "main"): [Given("a", correct=False), Given("b")]})
    page = tab.open(url, f"#/run/{second.name}/quiz")
    page.locator("option", has_text="m").last.wait_for(state="attached")
    page.get_by_label("Beside").select_option(f"{first.name}~m")
    page.get_by_role("button", name="flipped 1").click()
    tab.shows(".row .id", ["a"])
    page.locator(".row").click()
    page.wait_for_selector(".replies.of-2")
    tab.shows(".column-name", ["✗ m", f"✓ m ({first.name})"])
    assert all(request.startswith(url) for request in tab.requests)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["20260101_000000"], "no run '20260101_000000'"),
        (["latest"], "no run 'latest'"),
        (["--port", "99999"], "can't listen"),
    ],
)
def test_mistakes(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "--no-browser", "--work-dir", str(tmp_path), *words]) == 2
    assert said in capsys.readouterr().err
