"""Text of others steers no terminal, no CI server, no page and no spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pytest_evalplug.errors import one_line
from pytest_evalplug.logs import RUN_LOG, close_log, open_log
from pytest_evalplug.report.step_summary import step_summary
from pytest_evalplug.report.text import clean, clean_log
from pytest_evalplug.report.viewer.bundle import page
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table
from tests.e2e.project import HEAD, Project, Run

TERMINAL = (
    "\x1b[2J\x1b]0;title\x07\x1b]8;;http://evil\x07\x1b]52;c;ZXZpbA==\x07\x9b31m\x90q\x9c"
    "\x00\x08\x7f\rover\u202ertl\u2066\u200b\ufeff\u2028\x85"
)
COMMANDS = (
    "\n::error::pwned\n  ::set-output name=a::b\n::stop-commands::x\n::add-mask::1"
    "\n##[error]x ##vso[task.setvariable variable=PATH]y"
)
MARKUP = (
    "\n</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>]]>"
    "\n| a | b |\n![i](http://evil) [l](javascript:x) `c` **b**\n=cmd|' /C calc'!A0\n---\n"
)
EVIL = TERMINAL + COMMANDS + MARKUP
COMMAND = re.compile(r"^\s*::[\w-]+(?: [^:]*)?::|##\[|##vso\[", re.MULTILINE)


def harm(text: str) -> set[str]:
    """Return the characters and commands that should not have come this far."""
    plain = text.replace("\n", "").replace("\t", "")
    return {char for char in plain if not char.isprintable()} | set(COMMAND.findall(text))


def test_the_search_finds_what_it_is_for() -> None:
    assert {"\x1b", "\x9b", "\u202e", "\r", "\x00", "\u2028", "##["} < harm(EVIL)
    assert "::error::" in harm("x\n::error::y")


@pytest.mark.parametrize("show", [clean, clean_log, lambda text: clean(one_line(text, 999))])
def test_text_that_is_shown_does_no_harm(show: type[str]) -> None:
    assert harm(show(EVIL)) == set()
    assert "alert(1)" in show(EVIL)


def test_captured_logs_keep_the_colour_of_their_level_only() -> None:
    log = "\x1b[32mINFO    \x1b[0m x: \x1b[31mred\x1b[0m \x1b[31mERR\x1b]0;t\x07\x1b[0m"
    shown = clean_log(log)
    assert shown.startswith("\x1b[32mINFO    \x1b[0m x: ")
    assert "\x1b" not in shown.removeprefix("\x1b[32mINFO    \x1b[0m")


@pytest.mark.parametrize("text", ["std::vector", "a ::b", "x = y::z::w", "## [x]", "# ##"])
def test_what_is_no_command_stays(text: str) -> None:
    assert clean(text) == text


def test_a_logged_reply_is_one_record(tmp_path: Path) -> None:
    path = tmp_path / "infer.log"
    handler = open_log(path, lambda text: text.replace("key", "***"))
    RUN_LOG.info("reply %s key", f"{EVIL}\n2026-11-30 ERROR forged")
    close_log(handler)
    first, *rest = path.read_text(encoding="utf-8").split("\n")
    assert re.match(r"\d{4}-\d\d-\d\d .* INFO reply ", first)
    assert all(line.startswith("    ") for line in rest if line)
    assert harm("\n".join([first, *rest])) == set()
    assert "key" not in first


SUITE = (
    HEAD
    + """
import json, logging, warnings
from pathlib import Path
EVIL = json.loads(Path("evil.json").read_text(encoding="utf-8"))
NAMES = json.loads(Path("names.json").read_text(encoding="utf-8"))

@register_benchmark(BenchmarkMeta(
    name="quiz", reformat_subset=True, subset_list=NAMES,
    eval_cfg=dict(evaluator=dict(type="accuracy")),
))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(record["q"], record["a"], subset_key=record["subset"], id=record.get("id"))
    def _on_inference(self, model, sample):
        if "fail" in sample.input:
            raise RuntimeError(EVIL)
        return EVIL
    def test_fails(self, sample, prediction):
        print(prediction)
        logging.warning(prediction)
        warnings.warn(prediction)
        assert prediction == "never", prediction
    def test_raises(self, sample, prediction):
        raise ValueError(prediction)
    def test_skips(self, sample, prediction):
        pytest.skip(prediction)
    def test_is_expected_to_fail(self, sample, prediction):
        pytest.xfail(prediction)
"""
)
NAMES = ["plain", f"=cmd{TERMINAL}", "<b>|x|`y`[z](http://evil)", "::error::s", "../../up"]


@pytest.fixture
def attacked(project: Project, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "step.md"))
    project.write("test_quiz.py", SUITE)
    project.write("evil.json", json.dumps(EVIL))
    project.write("names.json", json.dumps(NAMES))
    rows = [{"q": f"{EVIL} say", "a": EVIL[::-1], "subset": name, "id": name} for name in NAMES]
    project.data([*rows, {"q": "fail", "a": EVIL, "subset": "plain"}])
    return project.run(
        *("-rA", "-v", "--junitxml=junit.xml", "-o", "junit_logging=all"),
    )


def test_nothing_that_a_run_shows_does_harm(project: Project, attacked: Run) -> None:
    assert attacked.outcomes["wrong"] == len(NAMES)
    assert attacked.outcomes["failed"] == 2 * len(NAMES)
    assert harm(attacked.out) == set()
    junit = (project.path / "junit.xml").read_text(encoding="utf-8")
    assert harm(junit) == set()
    assert sum(1 for _ in ElementTree.fromstring(junit).iter("testcase")) > 5 * len(NAMES)
    shown = [project.path / "step.md", *attacked.path.rglob("*.log")]
    shown += [path for path in attacked.path.glob("summary/*") if path.suffix != ".json"]
    assert len(shown) == 5
    for path in shown:
        text = path.read_text(encoding="utf-8")
        assert harm(text) == set(), path
        if path.suffix == ".md":
            assert not re.search(r"<b>|\]\(|`", text), path
    for path in attacked.path.rglob("*.json"):
        assert "\x1b" not in path.read_text(encoding="utf-8")


def table(name: str) -> Table:
    cell = Cell(-12.5, 4, None, None)
    return Table((f"@{name}", "m"), (Row(name, "v", name, "gen", (cell, None)),), notes=(name,))


@pytest.mark.parametrize("name", ["=cmd|x", "@sum", "+1+cmd|x", "-1+cmd|x", "\t=x", EVIL])
def test_no_name_is_a_formula(name: str) -> None:
    rows = list(csv.reader(io.StringIO(table(name).csv())))
    assert len(rows) == 2
    cells = [cell for row in rows for cell in row]
    assert "-12.50" in cells
    assert [c for c in cells if c[:1] in "=@+\t\r" and c] == []
    assert [c for c in cells if c.startswith("-")] == ["-12.50", "-"]


@pytest.mark.parametrize("name", ["<b>x</b>", "[x](y)", "![x](y)", "`x`", "a|b", "&lt;", EVIL])
def test_a_name_in_markdown_is_text(name: str) -> None:
    for text in (table(name).markdown(), step_summary("run", table(name), [], [name])):
        assert harm(text) == set()
        assert not re.search(r"[<>`]|\]\(", text)
        rows = [line for line in text.split("\n") if line.startswith("|")]
        assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [7, 7, 7]


def test_a_page_holds_no_element_of_others() -> None:
    """Data are base64, which has no letter that could end an element; the rest is ours."""
    text = "".join(page([("index", "PHNjcmlwdD4=")]))
    policy = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
