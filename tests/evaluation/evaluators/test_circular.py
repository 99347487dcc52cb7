from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.circular import CircularEvaluator
from pytest_evalplug.types import ModelOutput, Sample, TaskState


def rows(*patterns: str, qid: str = "0") -> list[dict[str, Any]]:
    return [{"qid": qid, "circular_pattern": pattern} for pattern in patterns]


FOUR = ("ABCD", "BCDA", "CDAB", "DABC")


def test_a_question_counts_if_all_its_versions_are_right() -> None:
    test_set = [*rows(*FOUR), *rows(*FOUR, qid="1")]
    result = CircularEvaluator().score(list("ABCDABCA"), list("ABCDABCD"), test_set)
    assert result == {
        "perf_circular": 50.0,
        "more_1_circular": 100.0,
        "more_2_circular": 100.0,
        "more_3_circular": 100.0,
        "acc_circular": 87.5,
        "acc_origin": 100.0,
    }


def test_the_order_of_samples_does_not_matter() -> None:
    test_set = [*rows("BA", "AB"), *rows("AB", "BA", qid="1")]
    result = CircularEvaluator().score(["A", "B", "A", "A"], ["A", "A", "A", "B"], test_set)
    assert result == CircularEvaluator().score(
        ["B", "A", "A", "A"], ["A", "A", "B", "A"], [test_set[i] for i in (1, 0, 3, 2)]
    )
    assert (result["perf_circular"], result["acc_origin"]) == (0.0, 50.0)


def test_questions_of_different_sizes_have_no_more_k() -> None:
    test_set = [*rows("AB", "BA"), *rows("ABC", "BCA", "CAB", qid="1")]
    result = CircularEvaluator().score(list("ABABA"), list("ABABC"), test_set)
    assert result == {"perf_circular": 50.0, "acc_circular": 80.0, "acc_origin": 100.0}


def test_incomplete_questions_are_left_out() -> None:
    test_set = [*rows("AB", "BA"), *rows("AB", qid="1")]
    assert CircularEvaluator().score(list("ABB"), list("ABA"), test_set)["acc_circular"] == 100.0


def test_a_version_has_a_verdict_only() -> None:
    assert CircularEvaluator().score_sample("A", "A") == {"correct": True}


class Rotated(MultiChoiceAdapter):
    circular = True

    def record_to_sample(self, record: Any) -> Sample:
        raise NotImplementedError

    def load_subset(self, subset: str) -> list[Sample]:
        return [Sample(f"q{n}", "B", choices=["w", "x", "y"]) for n in range(2)]


def test_rotated_samples_are_scored_together() -> None:
    meta = BenchmarkMeta(name="b", eval_cfg={"evaluator": "circular"})
    adapter, details, records = Rotated(benchmark_meta=meta), [], []
    samples = adapter.samples("default")
    for sample in samples:
        # knows the first answer, and always takes B for the second
        reply = sample.target if sample.input == "q0" else "B"
        record = {"index": sample.index, "prediction": f"ANSWER: {reply}"}
        state = TaskState("m", sample, [], ModelOutput(record["prediction"]))
        details.append(adapter.scorer.detail(state, record))
        records.append(record)
    rows = [adapter.scorer.test_row(sample) for sample in samples]
    found = adapter.scorer.aggregate("default", details, records, lambda: rows)
    assert [d.correct for d in details] == [True] * 3 + [True, False, False]
    assert {score.metric: score.value for score in found} == {
        "perf_circular": 50.0,
        "more_1_circular": 100.0,
        "more_2_circular": 50.0,
        "acc_circular": pytest.approx(200 / 3),
        "acc_origin": 100.0,
    }


@pytest.mark.parametrize(
    ("test_set", "error", "message"),
    [
        (rows("AB"), EvalplugError, "no question has all"),
        ([{"circular_pattern": "AB"}], ConfigError, "no 'qid'"),
        ([], ConfigError, "do not belong together"),
    ],
)
def test_mistakes_are_explained(test_set: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        CircularEvaluator().score(["A"], ["A"], test_set)
    with pytest.raises(EvalplugError):
        CircularEvaluator().score([], [], [])
