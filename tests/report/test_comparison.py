from __future__ import annotations

import json

from pytest_evalplug.report.comparison import as_json, as_markdown, as_text
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.run_comparison import Comparison, Side, compare_sides, pair_sides
from tests.summary.test_run_comparison import Run, measured


def comparison(old: ResultFile, new: ResultFile, name: str = "new") -> Comparison:
    [pair] = pair_sides([Side(Run("old", old)), Side(Run(name, new))])
    return compare_sides(*pair)


BETTER = comparison(measured("RWWWWWWW"), measured("WRRRRRRR"))


def test_text() -> None:
    head, row, notes, legend = as_text([BETTER], 2).split("\n\n")
    assert head == "old: old m\nnew: new m"
    assert row.splitlines()[2].split() == [
        *("math", "accuracy", "12.50", "(8)", "87.50", "(8)", "+75.00", "±", "25.00"),
        *("+14.45", "to", "+100.00", "0.070", "McNemar", "7", "1"),
    ]
    assert "p (Holm)" not in row
    assert notes.splitlines() == [
        "math, wrong → right: 7, 2 of them",
        "  s1: 'W' → 'R', reference 'R'",
        "  s2: 'W' → 'R', reference 'R'",
        "math, right → wrong: 1",
        "  s0: 'R' → 'W', reference 'R'",
    ]
    assert legend.startswith("old and new: score (n); difference: new - old")
    assert "→ 'R'" not in as_text([BETTER], 0)


def test_several_tests() -> None:
    old = Run("old", measured("R" * 20), measured("R", dataset="law"))
    new = Run("new", measured("W" * 20), measured("W", dataset="law"))
    [pair] = pair_sides([Side(old), Side(new)])
    text = as_text([compare_sides(*pair)], 0)
    assert "2 tests: one of 20 would be below p = 0.05 by chance alone" in text
    assert text.count("< 0.001") == 2  # as it is, and adjusted
    assert "p (Holm)" in text


def test_a_metric_without_pairs_has_dashes() -> None:
    old, new = measured("R"), measured("R")
    old.metrics["bleu"], new.metrics["bleu"] = 20.0, 30.0
    line = as_text([comparison(old, new)], 0).splitlines()[6]
    assert line.split() == [*("math", "bleu", "20.00", "(1)", "30.00", "(1)"), *"------"]


def test_nothing_to_compare() -> None:
    found = comparison(measured("R"), measured("R", dataset="law"))
    assert "nothing to compare\n\nonly in old: math\nonly in new: law" in as_text([found], 1)


def test_markdown() -> None:
    text = as_markdown([BETTER], 1)
    assert text.startswith("**old m** → **new m**\n\n| dataset   | metric   |")
    assert "\n````\nmath, wrong → right: 7, 1 of them\n  s1: 'W' → 'R'" in text


def test_json_has_everything() -> None:
    [found] = json.loads(as_json([BETTER]))
    assert (found["old"], found["notes"]) == ({"run": "outputs/old", "model": "m"}, [])
    [line] = found["datasets"]
    assert (line["dataset"], line["difference"], line["p_value"]) == ("math", 75, 0.0703125)
    assert len(line["gained"]) == 7
    assert line["lost"] == [
        {"sample_id": "s0", "index": "0", "old": "R", "new": "W", "answer": "R"}
    ]


def test_what_a_model_says_is_text() -> None:
    old, new = measured("W"), measured("R")
    assert new.details is not None
    new.details[0].pred = "\x1b[2J<script>\n````\n| [x](javascript:y) |" + "z" * 100
    found = comparison(old, new, "a|b<i>[c](d)")
    text, markdown = as_text([found], 1), as_markdown([found], 1)
    assert "\x1b" not in text + markdown
    [flip] = [line for line in text.splitlines() if line.startswith("  s0: ")]
    assert "\\x1b[2J<script>" in flip
    assert "more characters" in flip
    assert flip in markdown.split("\n````\n")[1]
    assert "**a\\|b&lt;i&gt;\\[c\\](d) m**" in markdown
