from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.scoring import Scorer
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.types import (
    AggScore,
    Detail,
    ModelOutput,
    Sample,
    SampleScore,
    Score,
    TaskState,
)


class Plain(DefaultDataAdapter):
    def record_to_sample(self, record: Mapping[str, Any]) -> Sample:
        return Sample(record["question"], record["answer"])

    def row_count(self, subset: str) -> int:
        return 2


class Choice(MultiChoiceAdapter):
    def record_to_sample(self, record: Mapping[str, Any]) -> Sample:
        return Sample(record["question"], record["answer"], choices=record["choices"])


class Whole(BaseEvaluator):
    def score(self, predictions: list[Any], test_set: Any, origin_prompt: Any) -> dict[str, Any]:
        return {
            "corpus": float(len(predictions)),
            "prompts": origin_prompt.count(None),
            "gold": sum(row["target"] == "A" for row in test_set),
            "details": [{"seen": p} for p in predictions],
        }


def adapter(cls: type[DefaultDataAdapter], **meta: Any) -> DefaultDataAdapter:
    return cls(benchmark_meta=BenchmarkMeta(name="b", dataset_id="x", **meta))


def state(target: Any, prediction: Any, choices: list[str] | None = None) -> TaskState:
    sample = Sample("q", target, choices=choices, metadata={"topic": "t"})
    return TaskState("m", sample, [], ModelOutput(prediction), sample_id="s", group_id="0")


def detail(scorer: Scorer, target: Any, prediction: Any, **record: Any) -> Detail:
    choices = record.pop("choices", None)
    entry = {"index": "0", "sample_id": "s", "subset": "d", "prediction": prediction, **record}
    return scorer.detail(state(target, prediction, choices), entry)


def test_eval_cfg_end_to_end() -> None:
    cfg = {
        "pred_postprocessor": "last-number",
        "dataset_postprocessor": {"type": "after", "marker": "####"},
        "evaluator": "number",
    }
    found = detail(Scorer(adapter(Plain, eval_cfg=cfg)), "2 + 998 #### 1,000", "It is 1000.0.")
    assert found == Detail("0", "s", "d", "1000", "1,000", True, {"accuracy": 1.0})


def test_order_of_postprocessors() -> None:
    def mark(text: str, tag: str) -> str:
        return text + tag

    cfg = {
        "pred_postprocessor": {"type": mark, "tag": "2"},
        "evaluator": {"type": "accuracy", "pred_postprocessor": {"type": mark, "tag": "3"}},
    }
    scorer = Scorer(adapter(Plain, eval_cfg=cfg), {"type": mark, "tag": "1"})
    score = scorer.score(state("a", "a"), {"prediction": "a"}).score
    assert (score.extracted_prediction, score.prediction) == ("a123", "a")


def test_every_candidate_is_postprocessed() -> None:
    scorer = Scorer(adapter(Plain, eval_cfg={"pred_postprocessor": "last-number"}))
    found = detail(scorer, "5", ["so 5", "so 6"])
    assert (found.pred, found.score, found.correct) == (["5", "6"], {"accuracy": 0.5}, False)


def test_extract_answer_replaces_the_configured_postprocessor() -> None:
    class Own(Plain):
        def extract_answer(self, prediction: str, task_state: TaskState) -> str:
            return f"{prediction[-1]}{task_state.sample.target}"

    scorer = Scorer(adapter(Own, eval_cfg={"pred_postprocessor": "last-number"}))
    assert detail(scorer, "A", "12 B").pred == "BA"


def test_match_score_replaces_the_evaluator() -> None:
    class Own(Plain):
        def match_score(
            self,
            original_prediction: str,
            filtered_prediction: Any,
            reference: Any,
            task_state: TaskState,
        ) -> Score:
            return Score({"acc": float(filtered_prediction in reference)})

    found = detail(Scorer(adapter(Own)), "Paris, France", "Paris")
    assert (found.correct, found.score, found.pred) == (True, {"acc": 1.0}, "Paris")
    assert detail(Scorer(adapter(Own)), "Paris", "Rome").correct is False
    with pytest.raises(ConfigError, match=r"both match_score\(\) and the evaluator accuracy"):
        Scorer(adapter(Own, eval_cfg={"evaluator": "accuracy"})).check()


def test_llm_match_score_is_used_if_it_alone_is_overridden() -> None:
    class Judged(Plain):
        def llm_match_score(
            self,
            original_prediction: str,
            filtered_prediction: Any,
            reference: Any,
            task_state: TaskState,
        ) -> Score:
            return Score({"accuracy": 1.0})

    assert detail(Scorer(adapter(Judged)), "a", "b").correct is True


def test_a_mistake_in_eval_cfg_names_the_benchmark() -> None:
    with pytest.raises(ConfigError, match=r"b: eval_cfg: .*'last-number'"):
        Scorer(adapter(Plain, eval_cfg={"pred_postprocessor": "last-numbr"}))


def test_no_metric_at_all() -> None:
    with pytest.raises(ConfigError, match="nothing scores"):
        Scorer(adapter(Plain, metric_list=())).check()


def test_verdict_needs_a_binary_metric_or_a_threshold() -> None:
    def f1(prediction: str, reference: str) -> dict[str, float]:
        return {"f1": 0.5}

    assert detail(Scorer(adapter(Plain, eval_cfg={"evaluator": f1})), "a", "b").correct is None
    for threshold, right in ((0.4, True), (0.6, False)):
        scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": f1}, threshold=threshold))
        assert detail(scorer, "a", "b").correct is right


def test_references_that_look_like_nothing_are_kept() -> None:
    for target in (0, False, ""):
        found = detail(Scorer(adapter(Plain)), target, str(target))
        assert (found.answer, found.correct) == (target, True)


GSM8K = {
    "pred_postprocessor": "last-number",
    "dataset_postprocessor": [{"type": "after", "marker": "####"}, "last-number"],
    "evaluator": "number",
}


@pytest.mark.parametrize("target", ["The answer is 5.", 5, ["#### 5", "The answer is 6."]])
def test_a_reference_that_postprocessing_empties_is_no_verdict(target: Any) -> None:
    scorer = Scorer(adapter(Plain, eval_cfg=GSM8K))
    task = state(target, "I do not know")
    task.sample.id = "row-7"
    with pytest.raises(DataError) as error:
        scorer.detail(task, {"index": "7", "prediction": "I do not know"})
    assert str(error.value) == (
        "b: eval_cfg: dataset_postprocessor after, last_number finds no reference in the target of "
        "sample row-7. Check the data, or the postprocessor's options."
    )
    assert scorer.test_row(task.sample)["target"] in ("", ["5", ""])


@pytest.mark.parametrize("target", ["", None])
def test_a_target_that_was_empty_stays_one(target: Any) -> None:
    cfg = {"dataset_postprocessor": "general", "evaluator": "accuracy"}
    found = detail(Scorer(adapter(Plain, eval_cfg=cfg)), target, "x")
    assert (found.correct, found.error) == (False, None)


def test_an_error_is_no_answer() -> None:
    found = detail(Scorer(adapter(Plain)), "A", None, error="server down")
    assert (found.error, found.correct, found.score) == ("server down", None, {})


def test_letters_come_from_the_sample() -> None:
    scorer = Scorer(adapter(Choice, eval_cfg={"pred_postprocessor": "first-option"}))
    assert detail(scorer, "A", "Answer: D", choices=["x", "y", "z"]).pred == ""
    assert detail(scorer, "D", "Answer: D", choices=["x", "y", "z", "w"]).correct is True
    assert detail(Scorer(adapter(Choice)), "B", "**B**", choices=["x", "y"]).correct is True


def test_choice_by_likelihood_is_not_postprocessed() -> None:
    scorer = Scorer(adapter(Plain, eval_cfg={"pred_postprocessor": "last-number"}))
    found = detail(scorer, "(B)", "B", choices=["(A)", "(B)"], pred_label="B", pred_label_norm="A")
    assert (found.pred, found.answer, found.correct) == ("B", "B", True)
    assert found.score == {"accuracy": 1.0, "accuracy_norm": 0.0}


def test_an_evaluator_reads_the_columns_of_the_record() -> None:
    def low(prediction: str, ppl: float, sample: Sample) -> dict[str, Any]:
        return {"ppl": ppl, "topic": (sample.metadata or {})["topic"]}

    found = detail(Scorer(adapter(Plain, eval_cfg={"evaluator": low})), "a", "b", ppl=3.5)
    assert (found.score, found.metadata) == ({"ppl": 3.5}, {"topic": "t"})


def test_an_evaluator_reads_what_follows_from_the_record() -> None:
    def sample(prediction: str, prompt: str, res_length: int, all_input_length: int) -> Any:
        return {"n": res_length, "m": all_input_length, "prompt": prompt, "pred": prediction}

    def whole(predictions: Any, prompt: Any, res_length: Any, all_input_length: Any) -> Any:
        return {"n": sum(res_length), "m": sum(all_input_length), "prompts": len(set(prompt))}

    record = {"origin_prompt": "why", "prediction": "so, 25"}
    cfg = {"pred_postprocessor": "last-number", "evaluator": sample}
    found = detail(Scorer(adapter(Plain, eval_cfg=cfg)), "a", **record)
    assert (found.score, found.metadata) == ({"n": 6, "m": 3}, {"prompt": "why"})
    scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": whole}))
    details = [Detail(str(i), f"s{i}", "d", "25", "a") for i in range(2)]
    scores = scorer.aggregate("d", details, [record, record])
    assert {s.metric: s.value for s in scores} == {"n": 12, "m": 6, "prompts": 1}


class Greedy(BaseEvaluator):
    def score(self, predictions: list[Any], **columns: Any) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("evaluator", [Greedy, Greedy(), Greedy().score])
def test_what_cannot_be_picked_by_name_is_refused_before_the_run(evaluator: Any) -> None:
    with pytest.raises(ConfigError, match=r"b: eval_cfg: .*score\(\) takes \*\*columns"):
        Scorer(adapter(Plain, eval_cfg={"evaluator": evaluator}))


def aggregated(
    scorer: Scorer, values: Sequence[float | None], **kwargs: Any
) -> dict[str, AggScore]:
    details = [
        Detail(str(i), f"s{i}", "d", "A", "A", error="down")
        if value is None
        else Detail(str(i), f"s{i}", "d", "A", "A", value == 1, {"accuracy": value})
        for i, value in enumerate(values)
    ]
    records = [{"index": d.index, "prediction": "A"} for d in details]
    return {s.metric: s for s in scorer.aggregate("d", details, records, **kwargs)}


def test_errors_are_left_out_and_shown_as_the_other_number() -> None:
    (score,) = aggregated(Scorer(adapter(Plain)), [1.0, 0.0, 1.0, 1.0, None]).values()
    assert (score.metric, score.value, score.subset, score.num_samples) == ("accuracy", 75, "d", 4)
    assert score.metadata is not None
    assert score.metadata["if_errors_wrong"] == pytest.approx(60)
    assert score.metadata["stderr"] == pytest.approx(25)
    assert aggregated(Scorer(adapter(Plain)), [None, None]) == {}


def test_repeats_are_grouped_by_row() -> None:
    scores = aggregated(Scorer(adapter(Plain)), [1.0, 0.0, 1.0, 0.0], repeats=2)
    assert scores["accuracy"].value == 50
    # two samples, each always right or always wrong, leave everything possible
    assert scores["accuracy"].metadata == {"stderr": pytest.approx(50), "interval": (0, 100)}
    assert [name for name in scores if "_" not in name] == [
        *("accuracy", "pass@2", "mG-Pass@2", "maj@2")
    ]


def test_samples_of_one_context_are_one_cluster() -> None:
    scorer = Scorer(adapter(Plain))
    details = []
    for i, (pred, context) in enumerate(
        [("A", "a passage"), ("A", "a passage"), ("B", 7), ("B", 7)]
    ):
        of_sample = state("A", pred)
        of_sample.sample.metadata = {"context_id": context, "more": "x"}
        details.append(scorer.detail(of_sample, {"index": str(i), "prediction": pred}))
    assert details[2].metadata == details[3].metadata == {"context_id": digest(7)}
    (score,) = scorer.aggregate("d", details, [{}] * 4)
    assert (score.metadata or {})["stderr"] == pytest.approx(50)


def test_samples_of_one_row_are_one_cluster() -> None:
    details = [
        Detail(i, i, "d", "A", "A", v == 1, {"accuracy": v})
        for i, v in [("0", 1.0), ("0.1", 1.0), ("12", 0.0), ("12.1", 0.0)]
    ]
    (score,) = Scorer(adapter(Plain)).aggregate("d", details, [{}] * 4)
    assert (score.metadata or {})["stderr"] == pytest.approx(50)


def test_whole_set_metrics() -> None:
    scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": Whole}))
    assert detail(scorer, "A", "A").correct is None
    rows = [{"target": "A"}, {"target": "B"}, {"target": "A"}]
    details = [Detail(str(i), f"s{i}", "d", "A", "A") for i in range(3)]
    details[2].error = "down"
    scores = scorer.aggregate("d", details, [{}] * 3, lambda: rows)
    assert {s.metric: s.value for s in scores} == {"corpus": 2, "prompts": 2, "gold": 1}
    assert [d.metadata for d in details] == [{"seen": "A"}, {"seen": "A"}, None]


class Both(BaseEvaluator):
    """Gives a mean over samples, and one weighted by the prediction's length."""

    def score_sample(self, prediction: str, reference: str) -> dict[str, float]:
        return {"f1": float(prediction == reference), "weighted": float(prediction == reference)}

    def score(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        pairs = list(zip(predictions, references, strict=True))
        right = [len(p) for p, r in pairs if p == r]
        return {
            "f1": 100 * len(right) / len(pairs),
            "weighted": sum(right) / sum(map(len, predictions)),
        }


def test_a_mean_that_the_whole_set_agrees_with_keeps_its_standard_error() -> None:
    scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": Both}))
    details = [detail(scorer, "aaa", p, index=str(i)) for i, p in enumerate(["aaa", "b", "b"])]
    details.append(Detail("3", "s3", "d", error="down"))
    scores = {s.metric: s for s in scorer.aggregate("d", details, [{}] * 4)}
    assert scores["f1"].value == pytest.approx(100 / 3)
    assert (scores["f1"].metadata or {}).keys() == {"stderr", "interval", "if_errors_wrong"}
    assert (scores["weighted"].value, scores["weighted"].metadata) == (0.6, None)


def test_whole_set_metrics_are_means_over_runs() -> None:
    scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": Whole}))
    rows = [{"target": "A"}] * 4
    details = [Detail(str(i), "s", "d", "A", "A") for i in range(4)]
    scores = scorer.aggregate("d", details, [{}] * 4, lambda: rows, repeats=2)
    assert {s.metric: s.value for s in scores}["corpus"] == 2


def test_an_evaluators_error_is_raised() -> None:
    def broken(predictions: list[str]) -> dict[str, Any]:
        return {"error": "no corpus"}

    scorer = Scorer(adapter(Plain, eval_cfg={"evaluator": broken}))
    with pytest.raises(EvalplugError, match="no corpus"):
        scorer.aggregate("d", [Detail("0", "s", "d")], [{}])


def test_an_overridden_aggregate_scores_has_the_last_word() -> None:
    class Own(Plain):
        def aggregate_scores(self, sample_scores: list[SampleScore]) -> list[AggScore]:
            topics = {(s.sample_metadata or {})["topic"] for s in sample_scores}
            return [AggScore("topics", float(len(topics)), "", len(sample_scores))]

    scorer = Scorer(adapter(Own))
    found = detail(scorer, "a", "a")
    scores = scorer.aggregate("d", [found], [{"prediction": "a"}])
    assert scores == [AggScore("topics", 1.0, "d", 1)]


def test_test_row_shows_the_processed_reference() -> None:
    cfg = {"dataset_postprocessor": {"type": "after", "marker": "####"}}
    row = Scorer(adapter(Plain, eval_cfg=cfg)).test_row(Sample("q", "x #### 5", metadata={"k": 1}))
    assert row == {"k": 1, "input": "q", "target": "5", "choices": None}
