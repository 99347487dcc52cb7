from __future__ import annotations

import asyncio
import re
from typing import Any, ClassVar

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator, evaluator_from
from pytest_evalplug.evaluation.columns import TestSet
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
    assert result["pass@1"] == 75
    assert [d["correct"] for d in result["details"]] == [[True, True], [True, False]]
    assert [d["pass@1"] for d in result["details"]] == [1, 0.5]
    assert "G-Pass@2_0.5" in Documented().evaluate([1, 2], 2, None, **columns)


def test_one_run_is_what_score_returns() -> None:
    result = Documented().evaluate(1, 1, None, predictions=["A", "B"], references=["A", "A"])
    assert result["accuracy"] == 50
    assert [d["correct"] for d in result["details"]] == [True, False]


@pytest.mark.parametrize(
    ("dataset", "columns"),
    [
        (None, {}),
        (None, {"predictions": [], "references": []}),
        (None, {"predictions": None, "references": ["A"]}),
        (None, {"predictions": ["A", "B"], "references": ["A"]}),
        (None, {"predictions": ["A"], "references": ["A"], "ppl": [1.0, 2.0]}),
        (range(2), {"predictions": ["A"], "references": ["A"]}),
    ],
)
def test_uneven_or_empty_columns_are_named(dataset: Any, columns: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"Documented: .*equally long and not empty, not \{"):
        Documented().evaluate(1, 1, dataset, **columns)
    with pytest.raises(ConfigError, match="equally long and not empty"):
        AccEvaluator().score(**{"references": ["A"], **columns, "extra": range(2)})


@pytest.mark.parametrize("k", [0, [1, 0], "1", [1.5]])
def test_k_is_a_whole_number_or_several(k: Any) -> None:
    columns = {"predictions": ["A"], "references": ["A"]}
    with pytest.raises(ConfigError, match="k and n must be 1 or more"):
        Documented().evaluate(k, 1, None, **columns)


def test_what_is_no_column_is_passed_on_and_a_dataset_is_cut_by_select() -> None:
    seen = []

    class Looks(BaseEvaluator):
        def score(self, predictions: list[str], references: Any, test_set: Any) -> dict[str, Any]:
            seen.append((predictions, references, test_set["q"]))
            return {"n": 1}

    rows = TestSet([{"q": i} for i in range(4)])
    Looks().evaluate(1, 2, rows, predictions=list("abcd"), references=None, test_set=rows)
    assert seen == [(["a", "b"], None, [0, 1]), (["c", "d"], None, [2, 3])]


def returns(result: Any) -> BaseEvaluator:
    def score(predictions: list[str]) -> Any:
        return result

    return evaluator_from(score)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"x": float("nan")}, "score: x is nan, which is no score"),
        ({"x": float("inf")}, "score: x is inf"),
        ({"x": 1, "details": [{}]}, "returned 1 details for 2 samples"),
        ({"x": 1, "details": {"0": {}}}, "returned 1 details for 2 samples"),
        ({"x": 1, "details": "ab"}, "details is no list of dicts"),
        ({"x": 1, "details": ["a", "b"]}, "details is no list of dicts"),
        (None, "returned NoneType. Return a dict"),
        (0.5, "returned float. Return a dict"),
    ],
)
def test_a_result_that_cannot_be_used_is_a_clear_error(result: Any, message: str) -> None:
    with pytest.raises(EvalplugError, match=re.escape(message)):
        returns(result).evaluate(1, 1, None, predictions=["a", "b"])


def test_details_may_be_a_dict_and_none_are_none() -> None:
    by_number = returns({"x": 1, "details": {"0": {"a": 1}, "1": {"a": 2}}})
    assert by_number.evaluate(1, 1, None, predictions=["a", "b"])["details"] == [{"a": 1}, {"a": 2}]
    empty: list[Any] = [[], None, {}]
    for nothing in empty:
        result = returns({"x": 1, "details": nothing}).evaluate(1, 1, None, predictions=["a"])
        assert result == {"x": 1}


def test_an_error_is_no_result_to_check() -> None:
    broken = returns({"error": "no corpus", "details": 1, "x": float("nan")})
    assert broken.evaluate(1, 1, None, predictions=["a"])["error"] == "no corpus"
    assert broken.evaluate(1, 2, None, predictions=["a", "b"]) == {"error": "run 1 of 2: no corpus"}


def test_an_own_postprocessor_s_pred_is_kept_beside_what_was_given() -> None:
    def drop_one(text: str) -> str:
        return text[1:]

    class Whole(Documented):
        per_sample = False

    for evaluator, value in ((Documented(drop_one), {"accuracy": 1.0}), (Whole(drop_one), {})):
        score = evaluator.judge({"prediction": "xA", "reference": "A"})
        assert score is not None
        assert (score.value, score.extracted_prediction) == (value, "xA")
        assert (score.metadata or {})["pred"] == "A"


def test_means_over_runs_need_no_details() -> None:
    def score(predictions: list[str]) -> dict[str, Any]:
        return {"n": len(predictions), "note": "text"}

    class Plain(BaseEvaluator):
        pass

    Plain.score = staticmethod(score)  # type: ignore[assignment, method-assign]
    assert Plain().evaluate(1, 2, None, predictions=["a"] * 4) == {
        "n (2 runs average)": 2,
        "note": ["text", "text"],
    }


def test_lengths_must_make_whole_runs() -> None:
    columns = {"predictions": ["A"] * 4, "references": ["A"] * 4}
    with pytest.raises(ConfigError, match="4 predictions do not make 3 runs over the set"):
        AccEvaluator().evaluate(1, 3, None, **columns)
    with pytest.raises(ConfigError, match="k and n must be 1 or more"):
        AccEvaluator().evaluate(1, 0, None, **columns)


def test_asking_for_an_absent_column() -> None:
    class Perplexed(BaseEvaluator):
        def score_sample(self, prediction: str, ppl: float) -> float:
            return ppl

    with pytest.raises(ConfigError, match=r"Perplexed: .*asks for 'ppl'.*prediction"):
        Perplexed().judge({"prediction": "A", "reference": "A"})
