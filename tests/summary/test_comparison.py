from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_evalplug.errors import DataError
from pytest_evalplug.evaluation.paired import mcnemar_p
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.comparison import compare_results, shared_metrics
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.types import Detail
from tests.summary.conftest import result

MATH = DatasetRef("math")


def detail(index: int, kind: str) -> Detail:
    name = f"default-{index}"
    if kind == "E":
        return Detail(str(index), name, "default", error="down")
    right = kind == "R"
    return Detail(str(index), name, "default", kind, "R", right, {"accuracy": float(right)})


def right_or_wrong(pattern: str, *, first: int = 0, **more: Any) -> ResultFile:
    """Return a result with a detail for each of R (right), W (wrong) and E (error)."""
    details = [detail(i, kind) for i, kind in enumerate(pattern, first)]
    scored = [d for d in details if d.error is None]
    share = 100 * pattern.count("R") / len(scored)
    return result(MATH, "m", share, num_scored=len(scored), details=details, **more)


def graded(
    values: Sequence[float], metric: str = "f1", scale: float = 100, **more: Any
) -> ResultFile:
    details = [Detail(str(i), str(i), "d", score={metric: v}) for i, v in enumerate(values)]
    metrics = {metric: scale * sum(values) / len(values)}
    return result(MATH, "m", details=details, metrics=metrics, num_scored=len(values), **more)


def test_right_and_wrong() -> None:
    found = compare_results(right_or_wrong("RRRWWWWWWW"), right_or_wrong("RRWRRRRRRW"))
    assert (found.metric, found.old, found.new, found.difference) == ("accuracy", 30, 80, 50)
    assert (found.test, found.p_value) == ("McNemar", mcnemar_p(6, 1))
    assert [pair.new.index for pair in found.gained] == list("345678")
    assert [pair.old.index for pair in found.lost] == ["2"]
    assert found.stderr == pytest.approx(22.361, abs=0.001)  # sd of 6 (+1), 1 (-1), 3 (0), over n
    assert found.interval is not None
    assert found.interval[0] < 50 < found.interval[1]


def test_flips_are_the_metrics_own() -> None:
    old, new = right_or_wrong("RRWW"), right_or_wrong("RWRR")
    for each, values in ((old, (1, 0, 0, 0)), (new, (1, 0, 0, 1))):
        each.metrics["norm"] = 100 * sum(values) / 4
        for of_sample, value in zip(each.details or (), values, strict=True):
            of_sample.score["norm"] = value
    found = compare_results(old, new, "norm")
    assert ([p.new.index for p in found.gained], found.lost) == (["3"], [])
    assert found.p_value == mcnemar_p(1, 0)


def test_only_what_both_have_measured_is_compared_and_the_rest_is_counted() -> None:
    found = compare_results(right_or_wrong("RREWW"), right_or_wrong("WERRWR", first=1))
    # samples 1, 3 and 4: right then wrong, wrong then right, wrong then right
    assert found.num_pairs == 3
    assert found.difference == pytest.approx(100 / 3)
    assert (found.only_old, found.only_new) == (1, 2)
    assert (found.old_errors, found.new_errors) == (1, 1)
    assert (found.old_n, found.new_n) == (4, 5)


def test_scores_without_verdict_have_the_bootstrap() -> None:
    found = compare_results(graded([0.1, 0.2, 0.3, 0.4]), graded([0.2, 0.4, 0.4, 0.6]))
    assert found.test == "bootstrap"
    assert found.difference == pytest.approx(15)
    assert found.stderr == pytest.approx(2.8868, abs=1e-4)
    assert found.interval == pytest.approx((15 - 9.187, 15 + 9.187), abs=0.001)
    assert found.p_value == pytest.approx(2 / 16, abs=0.03)
    assert (found.gained, found.lost) == ([], [])


def test_a_scale_of_the_evaluators_own_is_found() -> None:
    old, new = (graded([v, v], "quality", 100) for v in (0.25, 0.5))
    assert compare_results(old, new).difference == pytest.approx(25)
    assert compare_results(graded([2, 4], "points", 1), graded([3, 5], "points", 1)).difference == 1


def test_repeats_are_clusters() -> None:
    more = {"repeats": 2, "num_rows": 4, "num_distinct": 4}
    old, new = right_or_wrong("WWWWWWWW", **more), right_or_wrong("RRWWRRWW", **more)
    for each in (*(old.details or ()), *(new.details or ())):
        each.sample_id = f"default-{int(each.index) % 4}"  # the repeats have the sample's
    found = compare_results(old, new)
    assert (found.test, found.difference, found.num_pairs) == ("bootstrap", 50, 8)
    assert found.stderr == pytest.approx(28.8675, abs=1e-4)  # as of four samples
    alone = compare_results(right_or_wrong("WWWWWWWW"), right_or_wrong("RRWWRRWW"))
    assert alone.test == "McNemar"
    assert alone.stderr == pytest.approx(18.898, abs=1e-3)


def test_pass_at_k_is_no_mean_over_replies() -> None:
    more: dict[str, Any] = {"repeats": 2, "num_rows": 2, "metric_samples": {"pass@2": 2}}
    old, new = right_or_wrong("WRWR", **more), right_or_wrong("RRWW", **more)
    old.metrics["pass@2"] = new.metrics["pass@2"] = 50.0  # as the share of right replies is
    assert compare_results(old, new, "pass@2").test is None


def test_samples_of_one_context_are_clusters() -> None:
    old, new = right_or_wrong("WWWW"), right_or_wrong("RRWW")
    for each in old.details or ():
        each.metadata = {"context_id": int(each.index) // 2}
    assert compare_results(old, new).stderr == pytest.approx(50)


def test_a_metric_that_is_no_mean_has_no_test() -> None:
    old, new = right_or_wrong("RW"), right_or_wrong("RR")
    old.metrics["bleu"], new.metrics["bleu"] = 20.0, 22.0
    found = compare_results(old, new, "bleu")
    assert (found.old, found.new, found.num_pairs) == (20, 22, 2)
    assert (found.difference, found.stderr, found.p_value, found.test) == (None,) * 4
    assert shared_metrics(old, new) == ["accuracy", "bleu"]


def test_verdicts_stand_in_for_a_metric_that_only_the_whole_set_has() -> None:
    old, new = right_or_wrong("RWWW"), right_or_wrong("RRWW")
    for each in (old, new):
        each.metrics["em"] = each.metrics.pop("accuracy")
        for of_sample in each.details or ():
            of_sample.score = {}
    assert compare_results(old, new).difference == 25


def test_names_that_tools_do_not_share_are_paired_by_index() -> None:
    old, new = right_or_wrong("RW"), right_or_wrong("RR")
    for each in new.details or ():
        each.sample_id = each.index
    assert compare_results(old, new).num_pairs == 2


def test_nothing_in_common() -> None:
    found = compare_results(right_or_wrong("RW"), right_or_wrong("RR", first=7))
    assert (found.num_pairs, found.only_old, found.only_new) == (0, 2, 2)
    assert (found.difference, found.p_value) == (None, None)


@pytest.mark.parametrize(
    ("old", "new", "metric", "message"),
    [
        (right_or_wrong("R"), graded([1.0]), None, "no metric in common"),
        (right_or_wrong("R"), right_or_wrong("R"), "f1", "m has no f1"),
        (right_or_wrong("R"), result(MATH, "m", 50), None, "were written without details"),
    ],
)
def test_what_can_not_be_compared(
    old: ResultFile, new: ResultFile, metric: str | None, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        compare_results(old, new, metric)
