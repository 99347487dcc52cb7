from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.config import EvalConfig, resolve_evaluator
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator


class Empty(BaseEvaluator):
    pass


def test_all_keys() -> None:
    config = EvalConfig.from_dict(
        {
            "pred_role": "BOT",
            "pred_postprocessor": "last-number",
            "dataset_postprocessor": {"type": "after", "marker": "####"},
            "evaluator": {"type": AccEvaluator, "ignore_case": True},
        },
        "test_x.py",
    )
    assert config.pred_role == "BOT"
    assert len(config.pred_postprocessor) == len(config.dataset_postprocessor) == 1
    (evaluator,) = config.evaluators
    assert isinstance(evaluator, AccEvaluator)
    assert evaluator.ignore_case


def test_metrics_name_the_evaluators_where_there_is_none() -> None:
    config = EvalConfig.from_dict({}, metrics=("accuracy", "exact_match"))
    assert [type(e).__name__ for e in config.evaluators] == ["AccEvaluator", "EMEvaluator"]
    config = EvalConfig.from_dict({"evaluator": "number"}, metrics=("accuracy", "exact_match"))
    assert [type(e).__name__ for e in config.evaluators] == ["NumberEvaluator"]


@pytest.mark.parametrize(
    ("eval_cfg", "message"),
    [
        ({"pred_postprocesor": "think"}, r"t.py: eval_cfg has no key.*'pred_postprocessor'"),
        ({"evaluator": "acuracy"}, r"t.py: evaluator: unknown evaluator 'acuracy'.*'accuracy'"),
        ({"evaluator": {"type": AccEvaluator, "case": 1}}, "AccEvaluator: .*'case'"),
        ({"evaluator": Empty}, "Empty defines neither"),
        ({"evaluator": 3}, "an Evaluator is"),
        (
            {"evaluator": {"type": AccEvaluator, "pred_postprocessor": "thnk"}},
            "evaluator: .*'think'",
        ),
    ],
)
def test_mistakes_say_where_and_what_would_work(eval_cfg: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EvalConfig.from_dict(eval_cfg, "t.py")


def test_a_plain_function_scores_a_sample_or_the_set() -> None:
    def one(prediction: str, reference: str) -> bool:
        return prediction == reference

    def whole(predictions: list[str], references: list[str]) -> dict[str, float]:
        return {"pairs": float(len(predictions))}

    assert resolve_evaluator(one).judges_samples
    assert not resolve_evaluator(one).judges_sets
    assert resolve_evaluator(whole).judges_sets
    assert resolve_evaluator(whole).evaluate(1, 1, None, predictions=["a"], references=["b"]) == {
        "pairs": 1.0
    }


@pytest.mark.parametrize(
    ("outer", "inner", "twice"),
    [
        ("last-number", "last-number", ["last_number"]),
        (["think", "last-number"], "last-number", ["last_number"]),
        ("last-number", "first-number", []),
        (
            {"type": "after", "marker": "####"},
            {"type": "after", "marker": "A:"},
            [],  # other options, another step
        ),
        ("last-number", None, []),
    ],
)
def test_a_postprocessor_in_both_places(outer: Any, inner: Any, twice: list[str]) -> None:
    evaluator = {"type": "accuracy", "pred_postprocessor": inner}
    config = EvalConfig.from_dict({"pred_postprocessor": outer, "evaluator": evaluator})
    assert config.applied_twice == twice


def test_an_evaluator_with_an_init_of_its_own_has_no_postprocessor() -> None:
    class Own(BaseEvaluator):
        def __init__(self) -> None: ...

        def score_sample(self, prediction: str) -> float:
            return float(len(prediction))

    assert EvalConfig.from_dict({"evaluator": Own}).applied_twice == []
    score = Own().judge({"prediction": "abc"})
    assert score is not None
    assert score.value == {"score": 3.0}
