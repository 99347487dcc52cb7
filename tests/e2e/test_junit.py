"""What a CI dashboard reads."""

from __future__ import annotations

import json
from xml.etree import ElementTree

from .project import Project, right, wrong

HOSTILE = [
    "nul \x00 here",
    "\x1b[31mred\x1b[0m",
    "line\u2028separator\x85\x0b",
    "lone \ud800 surrogate",
    "\ufffe\uffff",
    "]]> <b>&amp;</b> \"quoted\" 'too'",
    "x" * 1_000_000,
    "a\r\nb",
    "",
]

SEEN_BY_OTHERS = """
SEEN = {}

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    report = yield
    SEEN[report.when] = len(item.user_properties)
    return report

@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item):
    result = yield
    SEEN["over"] = len(item.user_properties)
    if item.name == "test_sample[default-0]":
        (HERE / "seen.json").write_text(json.dumps(SEEN))
    return result
"""
"""How many properties another plugin's wrappers find at an item."""


def properties(case: ElementTree.Element) -> dict[str, str]:
    return {p.get("name", ""): p.get("value", "") for p in case.iter("property")}


def test_properties_and_hostile_replies(project: Project, mode: tuple[str, ...]) -> None:
    rows = [{"q": f"json {json.dumps(text)}", "a": text or "x"} for text in HOSTILE]
    project.data([right(1), wrong(2), {"q": "fail bad\x1b[0m luck\x00", "a": "x"}, *rows])
    project.add("conftest.py", SEEN_BY_OTHERS)
    run = project.run("--junitxml=report.xml", *mode)
    assert run.ret == 1
    assert "\x1b[31m" not in run.out
    assert "\x00" not in run.out

    tree = ElementTree.parse(project.path / "report.xml")
    suite, _ = tree.iter("testsuite")  # the scores have one of their own
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert len(cases) == len(rows) + 3
    good = properties(cases["test_sample[default-0]"])
    assert good == {
        "model": "fake",
        "prediction": "1",
        "pred": "1",
        "reference": "1",
        "score": "1.0",
    }
    bad = cases["test_sample[default-1]"]
    assert properties(bad)["score"] == "0.0"
    (failure,) = bad.iter("failure")
    assert "reference: something else" in (failure.text or "")
    assert "pred:      2" in (failure.text or "")
    assert "Traceback" not in (failure.text or "")
    (error,) = cases["test_sample[default-2]"].iter("error")
    assert "luck" in (error.text or "")
    assert suite.get("errors") == "1"

    assert r"\x00" in properties(cases["test_sample[default-3]"])["prediction"]
    assert r"\ud800" in properties(cases["test_sample[default-6]"])["prediction"]
    assert len(properties(cases["test_sample[default-9]"])["prediction"]) < 5000

    seen = json.loads((project.path / "seen.json").read_text())
    assert seen == {"setup": 5, "call": 5, "teardown": 5, "over": 0}

    saved = run.predictions()
    assert [saved[str(n + 3)]["prediction"] for n in range(len(HOSTILE))] == HOSTILE
    details = json.loads(run.result_text())["details"]
    assert len(details) == len(cases)

    again = project.run("--mode=eval")
    assert again.outcomes == run.outcomes
    assert again.result_text() == run.result_text()


def test_a_wrong_answers_report(project: Project) -> None:
    project.data([{"q": f"{'long ' * 2000}\nWhat?\nsay no", "a": "yes"}])
    run = project.run("-rA")
    assert run.outcomes == {"wrong": 1}
    assert max(map(len, run.out.splitlines())) < 400
