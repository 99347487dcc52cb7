from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator


class Documented(BaseEvaluator):
    """The Evaluator of OpenCompass's guide, word for word in what it does."""

    per_sample = True

    def score(
        self, predictions: list[Any], references: list[Any], test_set: Any = None
    ) -> dict[str, Any]:
        details = [
            {"pred": p, "answer": r, "correct": str(p).strip() == str(r).strip()}
            for p, r in zip(predictions, references, strict=True)
        ]
        right = sum(d["correct"] for d in details)
        return {"accuracy": 100 * right / len(predictions), "details": details}


class Waiting(BaseEvaluator):
    metric: ClassVar[str] = "length"

    async def score_sample(self, prediction: str, original_prediction: str) -> float:
        await asyncio.sleep(0)
        return len(prediction) / len(original_prediction)


def test_score_of_a_set_of_one_is_a_verdict() -> None:
    score = Documented().judge({"prediction": "A", "reference": "A"})
    assert score is not None
    assert score.value == {"accuracy": 1.0}
    assert score.metadata == {"correct": True}


def test_without_per_sample_a_set_has_no_verdict_for_one() -> None:
    class Whole(Documented):
        per_sample = False

    assert Whole().judge({"prediction": "A", "reference": "A"}) is None


def test_async_score_sample_and_a_bare_number() -> None:
    score = Waiting().judge({"prediction": "ab", "reference": "", "original_prediction": "abcd"})
    assert score is not None
    assert score.value == {"length": 0.5}


def test_evaluator_level_postprocessor_is_applied_once_everywhere() -> None:
    def drop_one(text: str) -> str:
        return text[1:]

    evaluator = AccEvaluator(pred_postprocessor=drop_one)
    score = evaluator.judge({"prediction": "xA", "reference": "A"})
    assert score is not None
    assert (score.value["accuracy"], score.extracted_prediction) == (1.0, "A")
    result = evaluator.evaluate(1, 1, None, predictions=["xA"], references=["A"])
    assert result["accuracy"] == 100


def test_repeated_runs_are_averaged() -> None:
    columns = {"predictions": ["A", "B", "A", "A"], "references": ["A", "B", "A", "B"]}
    result = Documented().evaluate(1, 2, range(4), **columns)
    assert result["accuracy (2 runs average)"] == 75
    assert [[d["correct"] for d in row["runs"]] for row in result["details"]] == [
        [True, True],
        [True, False],
    ]


def test_means_over_runs_need_no_details() -> None:
    def score(predictions: list[str]) -> dict[str, Any]:
        return {"n": len(predictions), "note": "text"}

    class Plain(BaseEvaluator):
        pass

    Plain.score = staticmethod(score)  # type: ignore[assignment, method-assign]
    assert Plain().evaluate(1, 2, None, predictions=["a"] * 4) == {"n (2 runs average)": 2}


@pytest.mark.parametrize(("n", "dataset"), [(3, None), (0, None), (2, range(5))])
def test_lengths_must_make_whole_runs(n: int, dataset: Any) -> None:
    with pytest.raises(ConfigError, match="runs over the set"):
        AccEvaluator().evaluate(1, n, dataset, predictions=["A"] * 4, references=["A"] * 4)


def test_asking_for_an_absent_column() -> None:
    class Perplexed(BaseEvaluator):
        def score_sample(self, prediction: str, ppl: float) -> float:
            return ppl

    with pytest.raises(ConfigError, match=r"Perplexed: .*asks for 'ppl'.*prediction"):
        Perplexed().judge({"prediction": "A", "reference": "A"})
