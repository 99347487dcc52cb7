"""Repeated runs, and what the --dump options add."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from .project import CONFTEST, HEAD, Project, right, wrong

# The n-th reply to "cycle A B C" is the n-th of the words, whoever asks and in whatever order.
CYCLES = (
    CONFTEST.replace(
        "class Fake:",
        """
def reply(prompt, params):
    text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
    verb, *words = text.split()
    if verb != "cycle":
        return obey(prompt, params)
    word = words[(params.seed or 0) % len(words)]
    if word == "fail":
        return ModelError("no reply")
    cut = word.endswith("~")
    return ModelOutput(
        "" if word == "none" else word.rstrip("~"),
        finish_reason="length" if cut else "stop",
        usage={"completion_tokens": len(word)},
    )


class Fake:""",
    )
    .replace("[obey(prompt, params) for", "[reply(prompt, params) for")
    .replace(
        "from pytest_evalplug.errors",
        "from pytest_evalplug.types import ModelOutput\nfrom pytest_evalplug.errors",
    )
)

REPEATED = (
    HEAD
    + """
@register_benchmark(
    BenchmarkMeta(
        name="quiz",
        eval_cfg=dict(evaluator=dict(type="accuracy")),
        repeats=4,
        k=[1, 4],
        generation=dict(temperature=1.0),
    )
)
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
"""
)

DUMPS = ("--dump-extract-rate", "--dump-res-length")


def cycle(words: str, answer: str) -> dict[str, str]:
    return {"q": f"cycle {words}", "a": answer}


@pytest.fixture
def repeated(project: Project) -> Project:
    """Three samples: right 4, 2 and 1 times of 4."""
    project.write("conftest.py", CYCLES)
    project.write("test_quiz.py", REPEATED)
    project.data([cycle("A A A A", "A"), cycle("A B~ A C", "A"), cycle("none D E A", "A")])
    return project


def rows(out: str) -> dict[str, str]:
    """Return metric -> value of the quiz's rows in the table."""
    lines = [line.split() for line in out.splitlines() if line.startswith("quiz ")]
    return {line[2]: line[4] for line in lines if len(line) == 5}


def test_a_repeated_run(repeated: Project, mode: tuple[str, ...]) -> None:
    run = repeated.run(*DUMPS, "--junitxml=report.xml", *mode)
    assert run.ret == 0
    assert run.outcomes == {"passed": 7, "wrong": 5}
    table = {
        "accuracy": "58.33",
        "pass@1": "58.33",
        "pass@4": "100.00",
        "mG-Pass@4": "33.33",
        "maj@4": "77.78",  # A, A, and a tie of three of which one is right
        "extract_rate": "91.67",
    }
    assert rows(run.out) == table
    assert "quiz fake: each of 3 samples asked 4 times; means are over all runs" in run.out
    assert "quiz fake: 1 of 12 replies were cut at max_tokens" in run.out
    assert (
        "quiz fake: reply length in characters: mean 0.9, median 1, p95 1, max 1 (n = 12)"
        in run.out
    )
    result = run.result()
    assert result["G-Pass@4_0.0"] == result["pass@4"] == 100
    assert result["G-Pass@4_0.5"] == pytest.approx(200 / 3)
    assert result["G-Pass@4_1.0"] == pytest.approx(100 / 3)
    assert result["extract_rate"] == pytest.approx(1100 / 12)
    assert result["run"]["num_truncated"] == 1
    assert result["run"]["res_length"]["tokens"]["max"] == 4
    # three observations, not twelve
    assert result["run"]["stderr"]["accuracy"] == pytest.approx(22.048, abs=0.001)
    extracted = [
        p.get("value")
        for p in ElementTree.parse(repeated.path / "report.xml").iter("property")
        if p.get("name") == "extracted"
    ]
    assert sorted(filter(None, extracted)) == ["false"] + ["true"] * 11


def test_scoring_again(repeated: Project) -> None:
    first = repeated.run()
    assert "extract_rate" not in first.result()
    assert first.result()["run"]["res_length"] is None
    dumped = repeated.run("--mode=eval", "--reuse", *DUMPS)
    assert dumped.result()["extract_rate"] == pytest.approx(1100 / 12)
    again = repeated.run("--mode=eval", "--reuse", *DUMPS, "-n2")
    assert again.path == first.path
    assert again.result_text() == dumped.result_text()
    viewed = repeated.run("--mode=viz").out
    assert "1 of 12 replies were cut" in viewed
    assert rows(viewed)["extract_rate"] == "91.67"


def test_an_authors_own_aggregation_stands_alone(repeated: Project) -> None:
    repeated.add(
        "test_quiz.py",
        """
    def aggregate_scores(self, sample_scores):
        return [AggScore("own", 1.0, "", len(sample_scores))]
""",
    )
    run = repeated.run()
    assert list(rows(run.out)) == ["own"]
    assert "too few" not in run.out


def test_too_few_replies_are_said_and_never_a_number(repeated: Project) -> None:
    repeated.data([cycle("A A A A", "A"), cycle("A fail A C", "A")])
    run = repeated.run()
    assert run.ret == 1
    assert run.outcomes == {"passed": 6, "wrong": 1, "errors": 1}
    assert run.result()["pass@1"] == pytest.approx((100 + 200 / 3) / 2)
    assert run.result()["pass@4"] == 100
    assert run.result()["run"]["if_errors_wrong"]["maj@4"] == 100
    assert (
        "quiz fake: pass@4, maj@4 over 1 of 2 samples; the others have too few measured replies"
        in run.out
    )
    only = repeated.run("-k", "r0")
    assert "pass@4" not in only.result()
    assert "quiz fake: pass@4, maj@4 over 0 of 2 samples" in only.out


def test_k_follows_the_repeats_or_is_refused(repeated: Project) -> None:
    run = repeated.run("--eval-set=quiz.repeats=2")
    assert run.ret == 1
    assert "k is 4, but repeats is 2. Ask more often, or set k too" in run.out
    run = repeated.run("--eval-set=quiz.repeats=2", "--eval-set=quiz.k=2")
    assert [name for name in rows(run.out) if "@" in name] == ["pass@2", "mG-Pass@2", "maj@2"]
    run = repeated.run("--eval-set=quiz.repeats=1")
    assert list(rows(run.out)) == ["accuracy"]


def test_details_can_be_left_out(project: Project) -> None:
    project.data([right(1), wrong(2)])
    assert "details" not in project.run("--dump-eval-details=false").result()
    for option in ("--dump-eval-details", "--dump-eval-details=true", "--eval-show-wrong=1"):
        assert len(project.run(".", option).result()["details"]) == 2
    swallowed = project.run("--dump-eval-details", ".")
    assert swallowed.ret == 4
    assert "--dump-eval-details: must be true or false (joined by '='), got '.'" in swallowed.out


def test_the_whole_sets_error_is_shown(project: Project, mode: tuple[str, ...]) -> None:
    score(project, "return {'error': 'no corpus'}")
    project.data([right(1), wrong(2)])
    run = project.run(*DUMPS, *mode)
    assert run.ret == 1
    assert run.outcomes == {"passed": 2}
    assert rows(run.out)["-"] == "-"
    assert rows(run.out)["extract_rate"] == "100.00"
    assert run.out.count("quiz fake: no metrics, Graded: no corpus") == 1
    assert run.result()["run"]["error"] == "Graded: no corpus"
    assert "no metrics, Graded: no corpus" in project.run("--mode=viz").out


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("return {'x': float('nan')}", "x is nan, which is no score"),
        (
            "return {'x': 1, 'details': []} if not predictions else {'x': 1, 'details': [{}]}",
            "1 details for 2",
        ),
        ("return {'note': 'text'}", "score() returned no number"),
        ("return 1 / 0", "ZeroDivisionError"),
    ],
)
def test_no_number_is_made_up(project: Project, body: str, why: str) -> None:
    score(project, body)
    project.data([right(1), wrong(2)])
    run = project.run()
    assert run.ret == 1
    assert why in run.line("quiz fake: no metrics")


def test_what_is_no_number_is_in_the_file_alone(project: Project) -> None:
    score(
        project,
        """
        details = [{"pred": p, "correct": p == "1"} for p in predictions]
        return {"accuracy": 50, "languages": ["en"], "note": "text", "ok": True, "details": details}
        """,
    )
    project.data([right(1), wrong(2)])
    run = project.run()
    assert run.ret == 0
    assert list(rows(run.out)) == ["accuracy"]
    result: dict[str, Any] = run.result()
    assert (result["languages"], result["note"], result["ok"]) == (["en"], "text", True)
    # the set's verdicts: no item could have one, but the details do
    assert [d["correct"] for d in result["details"]] == [True, False]
    assert result["run"]["stderr"] == {"accuracy": 50.0}


def test_the_same_postprocessor_twice_is_said_once(project: Project) -> None:
    project.write(
        "test_quiz.py",
        (project.path / "test_quiz.py")
        .read_text()
        .replace(
            'ACCURACY = dict(evaluator=dict(type="accuracy"',
            'ACCURACY = dict(pred_postprocessor="last-number", '
            'evaluator=dict(type="accuracy", pred_postprocessor="last-number"',
        ),
    )
    project.data([right(1), right(2)])
    run = project.run()
    assert run.ret == 0
    assert "quiz: predictions go through last_number twice" in run.line("go through")


def score(project: Project, body: str) -> None:
    """Give the quiz an Evaluator of the whole set."""
    lines = "\n".join(f"        {line.strip()}" for line in body.strip().splitlines())
    project.write(
        "test_quiz.py",
        HEAD
        + f"""
class Graded(BaseEvaluator):
    def score(self, predictions, references, test_set):
{lines}

@register_benchmark(BenchmarkMeta(name="quiz", eval_cfg=dict(evaluator=Graded)))
class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"])
""",
    )
