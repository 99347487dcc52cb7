from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.aggregate import (
    mean_scores,
    repeat_scores,
    set_scores,
)
from pytest_evalplug.evaluation.base import BaseEvaluator, evaluator_from
from pytest_evalplug.types import AggScore, Detail


def test_mean_scaled_with_standard_error() -> None:
    scores = [{"accuracy": v} for v in (1.0, 0.0, 1.0, 1.0)]
    (mean,) = mean_scores(scores, ["0", "1", "2", "3"], lambda metric: 100.0)
    assert (mean.metric, mean.value, mean.num_samples) == ("accuracy", 75.0, 4)
    assert mean.metadata is not None
    assert mean.metadata["stderr"] == pytest.approx(25.0)  # sqrt(0.25 / 4) = 0.25


def test_shares_have_wilsons_interval_on_their_scale() -> None:
    scores = [{"accuracy": v} for v in (1.0, 0.0, 1.0, 1.0)]
    (mean,) = mean_scores(scores, list("abcd"), lambda metric: 100.0)
    assert (mean.metadata or {})["interval"] == pytest.approx((30.0642, 95.4413), abs=1e-4)


def test_other_means_stay_within_the_range_of_a_percentage() -> None:
    scores = [{"f1": v, "length": v} for v in (0.9, 0.5, 0.99)]
    f1, length = mean_scores(scores, list("abc"), lambda m: 100.0 if m == "f1" else 1.0)
    low, high = (f1.metadata or {})["interval"]
    assert (low, high) == (pytest.approx(14.872, abs=0.001), 100.0)
    assert (length.metadata or {})["interval"][1] == pytest.approx(1.4446, abs=0.001)


def test_one_cluster_says_nothing_of_how_sure_the_mean_is() -> None:
    scores = [{"f1": v} for v in (0.5, 1.0)]
    (mean,) = mean_scores(scores, ["a", "a"], lambda metric: 100.0)
    assert (mean.value, mean.metadata) == (75, None)


def test_a_metric_counts_the_samples_that_have_it() -> None:
    means = mean_scores([{"x": 1.0}, {"y": 3.0}], [None, None], lambda metric: 1.0)
    assert [(m.metric, m.value, m.num_samples) for m in means] == [("x", 1.0, 1), ("y", 3.0, 1)]


def details(pattern: str) -> list[Detail]:
    """Return a detail for each of R (right), W (wrong), E (error), N (no verdict)."""
    verdicts = {"R": True, "W": False}
    return [
        Detail(str(i), f"s{i}", "d", kind, "R", verdicts.get(kind))
        if kind != "E"
        else Detail(str(i), f"s{i}", "d", error="down")
        for i, kind in enumerate(pattern)
    ]


def repeated(pattern: str, ks: Sequence[int] = (2,)) -> dict[str, AggScore]:
    """Return the scores of samples ``a, b, ...``, asked twice each."""
    groups = [chr(ord("a") + i // 2) for i in range(len(pattern))]
    return {s.metric: s for s in repeat_scores(details(pattern), groups, ks, 2)}


def test_votes_over_samples_in_percent() -> None:
    scores = repeated("RRRWWW", [1, 2])
    assert {name: score.value for name, score in scores.items() if "_" not in name} == {
        "pass@1": 50,
        "pass@2": pytest.approx(200 / 3),
        "mG-Pass@2": pytest.approx(100 / 3),
        "maj@2": 50,
    }
    assert scores["pass@2"].num_samples == 3
    assert scores["pass@2"].metadata == {
        "listed": True,
        "stderr": pytest.approx(100 / 3),
        "interval": pytest.approx((20.7660, 93.8508), abs=1e-4),
    }
    assert scores["G-Pass@2_0.25"].value == pytest.approx(200 / 3)
    assert scores["G-Pass@2_1.0"].value == pytest.approx(100 / 3)
    assert (scores["G-Pass@2_1.0"].metadata or {})["listed"] is False


def test_a_sample_with_too_few_measured_replies_is_missing_for_that_k() -> None:
    scores = repeated("RRREWW", [1, 2])
    assert scores["pass@1"].value == pytest.approx(200 / 3)
    assert scores["pass@1"].num_samples == 3
    assert (scores["pass@2"].value, scores["pass@2"].num_samples) == (50, 2)
    assert (scores["pass@1"].metadata or {})["if_errors_wrong"] == 50
    assert (scores["pass@2"].metadata or {})["if_errors_wrong"] == pytest.approx(200 / 3)
    assert scores["maj@2"].num_samples == 2
    assert "pass@2" not in repeated("REWE")


def test_errors_give_every_metric_its_other_number() -> None:
    for score in repeated("RRRE", [1, 2]).values():
        assert "if_errors_wrong" in (score.metadata or {})
    assert "if_errors_wrong" not in (repeated("RRRR")["pass@2"].metadata or {})


def test_without_verdicts_there_are_no_votes() -> None:
    assert repeated("NNEN") == {}


def set_of(result: Any, pattern: str, **kwargs: Any) -> list[AggScore]:
    def score(predictions: list[str]) -> Any:
        return result(predictions) if callable(result) else result

    pairs = [(d, {"prediction": d.pred}) for d in details(pattern)]
    groups = kwargs.pop("groups", [str(i) for i in range(len(pattern))])
    return set_scores(evaluator_from(score), pairs, groups, **kwargs)


def test_what_is_no_number_goes_beside_the_first_metric() -> None:
    first, second = set_of({"note": "text", "b": 1, "flag": True, "a": 2, "many": [1]}, "NN")
    assert (first.metric, second.metric) == ("b", "a")
    assert first.metadata == {"other": {"note": "text", "flag": True, "many": [1]}}
    assert second.metadata is None
    (only,) = set_of(lambda preds: {"n": len(preds), "x": str(len(preds))}, "NNN", groups="aab")
    assert only.metadata == {"other": {"x": ["2", "1"]}}


def test_runs_weigh_by_their_size() -> None:
    (score,) = set_of(lambda preds: {"n": len(preds)}, "NNN", groups="aab")
    assert score.value == pytest.approx((2 * 2 + 1 * 1) / 3)


@pytest.mark.parametrize("result", [{}, {"note": "x"}, {"details": [{}, {}]}])
def test_no_number_is_an_error(result: dict[str, Any]) -> None:
    with pytest.raises(EvalplugError, match=r"score: score\(\) returned no number"):
        set_of(result, "NN")


def test_an_empty_set_is_an_error() -> None:
    with pytest.raises(EvalplugError, match="there is no prediction to score"):
        set_scores(evaluator_from(lambda predictions: {}), [], [])


def test_verdicts_in_details_reach_samples_that_have_none() -> None:
    class Graded(BaseEvaluator):
        def score(self, predictions: list[str]) -> dict[str, Any]:
            entries = [{"is_correct": p == "R", "why": p} for p in predictions]
            share = predictions.count("R") / len(predictions)
            return {"accuracy": 100 * share, "details": entries}

    found = details("NNNN")
    for detail, pred in zip(found, "RWRR", strict=True):
        detail.pred = pred
    (score,) = set_scores(Graded(), [(d, {}) for d in found], list("abcd"))
    assert [d.correct for d in found] == [True, False, True, True]
    assert found[0].metadata == {"is_correct": True, "why": "R"}
    # the share of right answers is a mean like any other, with a standard error
    assert (score.value, score.agg_method) == (75, "mean")
    assert score.metadata == {
        "stderr": pytest.approx(25),
        "interval": pytest.approx((30.0642, 95.4413), abs=1e-4),
    }


def test_every_documented_column_arrives() -> None:
    seen: dict[str, Any] = {}

    class Asks(BaseEvaluator):
        def score(
            self, predictions: Any, references: Any, test_set: Any, origin_prompt: Any, gold: Any,
            steps: Any, res_length: Any, all_input_length: Any, ppl: Any, token_len: Any,
            loss: Any, total_chr_num: Any, mink: Any, prompt: Any, choices: Any, pred_label: Any,
            custom: Any,
        ) -> dict[str, Any]:  # fmt: skip
            seen.update({name: value for name, value in locals().items() if name != "seen"})
            return {"n": len(predictions)}

    written = ["steps", "ppl", "token_len", "loss", "total_chr_num", "mink", "pred_label", "custom"]
    record = {
        **{name: f"the {name}" for name in written},
        "origin_prompt": "the question",
        "prediction": "the reply",
        "gold": "the gold",
        "choices": ["x", "y"],
    }
    pairs = [(Detail(str(i), f"s{i}", "d", "pred", "answer"), record) for i in range(2)]
    set_scores(Asks(), pairs, ["a", "b"], [{"q": 1}, {"q": 2}])
    for name in written:
        assert seen[name] == [f"the {name}"] * 2
    assert seen["predictions"] == ["pred"] * 2
    assert seen["references"] == ["answer"] * 2
    assert seen["gold"] == ["the gold"] * 2
    assert seen["prompt"] == seen["origin_prompt"] == ["the question"] * 2
    assert seen["all_input_length"] == [12, 12]
    assert seen["res_length"] == [9, 9]
    assert seen["choices"] == [["x", "y"]] * 2
    assert seen["test_set"]["q"] == [1, 2]


def test_references_are_none_where_no_sample_has_one() -> None:
    def score(predictions: list[str], references: Any) -> dict[str, float]:
        return {"given": float(references is not None)}

    with_none = [Detail(str(i), "s", "d", "A") for i in range(2)]
    evaluator = evaluator_from(score)
    assert set_scores(evaluator, [(d, {}) for d in with_none], ["a", "b"])[0].value == 0
    with_none[0].answer = ""
    assert set_scores(evaluator, [(d, {}) for d in with_none], ["a", "b"])[0].value == 1
