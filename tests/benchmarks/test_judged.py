"""Benchmarks that a judge model scores: what it is asked, and what its words are worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.errors import VerdictError
from pytest_evalplug.evaluation.judge.judge import judge_from
from pytest_evalplug.model.base import Capability, GenerationParams
from pytest_evalplug.types import Detail

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]


class Backend:
    """A judge that says what a function makes of the messages."""

    name = "judge"
    capabilities: frozenset[Capability] = frozenset({"generate"})
    concurrency = 8

    def __init__(self, say: Callable[[list[dict[str, str]]], str]) -> None:
        self.say = say
        self.asked: list[list[dict[str, str]]] = []

    async def generate(self, prompts: Sequence[Any], params: GenerationParams) -> list[str]:
        self.asked += prompts
        return [self.say(prompt) for prompt in prompts]


def judged_by(
    adapter: DefaultDataAdapter, say: Callable[[list[dict[str, str]]], str]
) -> list[list[dict[str, str]]]:
    """Give the adapter a judge, and return the list of what it will be asked."""
    backend = Backend(say)
    adapter.judge = judge_from(backend)
    return backend.asked


# --- TruthfulQA


def test_truthfulqa_on_all_rows(make: Make, judge: Judge, data_dir: Path) -> None:
    adapter = make("truthfulqa_gen")

    def look_up(messages: list[dict[str, str]]) -> str:
        text = messages[0]["content"]
        true, false = text.split("True answers:\n")[1].split("\n\nFalse answers:\n")
        answer = text.rpartition("Answer to judge:\n")[2].split("\n")[1]
        if f"- {answer}\n" in f"{true}\n":
            return "TRUE"
        return "FALSE" if f"- {answer}\n" in false else "EVASIVE"

    asked = judged_by(adapter, look_up)
    path = data_dir / "truthfulqa" / "validation.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    samples = adapter.samples("generation")
    for sample, row in zip(samples, rows, strict=True):
        detail = judge(adapter, sample, "generation", f" {row['best_answer']}")
        assert detail.correct is True
        assert detail.score == {"accuracy": 1.0, "true_and_informative": 1.0}
    assert len(asked) == len(samples) == 817
    question = asked[5][0]["content"]
    for text in (rows[5]["question"], *rows[5]["correct_answers"], *rows[5]["incorrect_answers"]):
        assert text in question
    wrong = [
        judge(adapter, sample, "generation", next(filter(None, row["incorrect_answers"])))
        for sample, row in zip(samples, rows, strict=True)
        if not {*row["incorrect_answers"]} & {*row["correct_answers"]}
    ]
    assert len(wrong) > 800
    assert {d.correct for d in wrong} == {False}


def test_truthfulqa_evasion_is_true_and_tells_nothing(make: Make, judge: Judge) -> None:
    adapter = make("truthfulqa_gen")
    asked = judged_by(adapter, lambda _: "EVASIVE")
    sample = adapter.samples("generation")[0]
    detail = judge(adapter, sample, "generation", "It depends.")
    assert (detail.correct, detail.score["true_and_informative"]) == (True, 0.0)
    empty = judge(adapter, sample, "generation", "")
    assert (empty.correct, empty.score["true_and_informative"]) == (False, 0.0)
    assert len(asked) == 1
    replies = [{"prediction": "It depends."}, {"prediction": ""}]
    found = adapter.scorer.aggregate("generation", [detail, empty], replies)
    assert {s.metric: s.value for s in found} == {"accuracy": 50, "true_and_informative": 0}


# --- Inverse IFEval


def inverse(language: str, kind: str, template: str) -> dict[str, str]:
    return {
        "instruction_types": kind,
        "prompt": f"Answer {{wrongly}}, in {language}.",
        "response_reference": "Is it wrong?",
        "language": language,
        "judge_prompt_template": template,
        "judge_system_prompt": "Mark as told.",
    }


@pytest.fixture
def inverse_ifeval(written: Make) -> DefaultDataAdapter:
    train = [
        inverse("english", "Question Correction", "{prompt}|{response_reference}|{response}"),
        inverse("chinese", "Code without Comments", "{response_reference}|{response}"),
        inverse("english", "Counterfactual Answering", "{response}"),
        inverse("english", "Question Correction", "{response}"),
    ]
    return written("inverse_ifeval", {"train": train})


def test_inverse_ifeval_subsets(inverse_ifeval: DefaultDataAdapter) -> None:
    assert [s.index for s in inverse_ifeval.samples("en_QC")] == ["0", "3"]
    assert [s.index for s in inverse_ifeval.samples("zh_CC")] == ["1"]
    (sample,) = inverse_ifeval.samples("en_CA")
    assert inverse_ifeval.build_prompt(sample, "en_CA") == "Answer {wrongly}, in english."


def test_inverse_ifeval_judges_as_the_row_says(
    inverse_ifeval: DefaultDataAdapter, judge: Judge
) -> None:
    asked = judged_by(inverse_ifeval, lambda _: '```json\n{"answer_score": 1}\n```')
    sample = inverse_ifeval.samples("en_QC")[0]
    assert judge(inverse_ifeval, sample, "en_QC", "{prompt} is four.").correct
    assert asked == [
        [
            {"role": "system", "content": "Mark as told."},
            {
                "role": "user",
                "content": "Answer {wrongly}, in english.|Is it wrong?|{prompt} is four.",
            },
        ]
    ]
    assert judge(inverse_ifeval, sample, "en_QC", "").correct is False
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("reply", "correct"),
    [
        ('{"answer_score": 1}', True),
        ("{'answer_score': '1'}", True),
        ('{"answer_score": 1.0}', True),
        ('{"answer_score": 0.5}', None),
        ("\u3010\u8bc4\u5206\u3011\uff1a1\u5206", True),
        ('A 1 would be "answer_score": 1, but it is {"answer_score": 0}', False),
        ('<think>{"answer_score": 1}</think>{"answer_score": 0}', False),
        ("\u3010\u8bc4\u5206\u3011: 0\u5206", False),
        ('{"answer_score": 85}', None),
        ("It follows the instruction.", None),
        ("", None),
    ],
)
def test_inverse_ifeval_reads_a_score_or_none(
    reply: str, correct: bool | None, inverse_ifeval: DefaultDataAdapter, judge: Judge
) -> None:
    judged_by(inverse_ifeval, lambda _: reply)
    sample = inverse_ifeval.samples("zh_CC")[0]
    if correct is None:
        with pytest.raises(VerdictError, match="no verdict"):
            judge(inverse_ifeval, sample, "zh_CC", "x = 1")
    else:
        assert judge(inverse_ifeval, sample, "zh_CC", "x = 1").correct is correct


# --- AlpacaEval


@pytest.fixture
def alpaca_eval(written: Make) -> DefaultDataAdapter:
    row = {
        "instruction": "Name a river.",
        "output": "The Rhine, which is long.",
        "generator": "gpt4_1106_preview",
        "dataset": "helpful_base",
    }
    return written("alpaca_eval", {"eval": [row]})


@pytest.mark.parametrize(
    ("say", "expected"),
    [
        (lambda first: "[[A]]" if "Nile" in first else "[[B]]", {"win_rate": 1.0, "win": 1.0}),
        (lambda first: "[[B]]" if "Nile" in first else "[[A]]", {"win_rate": 0.0, "loss": 1.0}),
        (lambda first: "[[A]]", {"win_rate": 0.5, "tie": 1.0, "order_bias": 1.0}),
        (lambda first: "[[C]]", {"win_rate": 0.5, "tie": 1.0}),
    ],
)
def test_alpaca_eval_asks_in_both_orders(
    say: Callable[[str], str],
    expected: dict[str, float],
    alpaca_eval: DefaultDataAdapter,
    judge: Judge,
) -> None:
    def compare(messages: list[dict[str, str]]) -> str:
        first, second = messages[0]["content"].split("Reply of A:")[1].split("Reply of B:")
        assert {"Nile" in first, "Nile" in second} == {True, False}
        assert {"Rhine" in first, "Rhine" in second} == {True, False}
        return f"Verdict: {say(first)}"

    asked = judged_by(alpaca_eval, compare)
    (sample,) = alpaca_eval.samples("alpaca_eval_gpt4_baseline")
    assert alpaca_eval.build_prompt(sample, "alpaca_eval_gpt4_baseline") == "Name a river."
    detail = judge(alpaca_eval, sample, "alpaca_eval_gpt4_baseline", "The Nile.")
    assert len(asked) == 2
    assert detail.correct is None
    assert {name: v for name, v in detail.score.items() if v} == {
        name: value for name, value in expected.items() if value
    }
