from __future__ import annotations

import pytest

from pytest_evalplug.evaluation.aggregate import mean_scores, standard_error
from pytest_evalplug.types import SampleScore, Score


def test_mean_scaled_with_standard_error() -> None:
    scores = [
        SampleScore(Score({"accuracy": v}), str(i)) for i, v in enumerate([1.0, 0.0, 1.0, 1.0])
    ]
    (mean,) = mean_scores(scores, lambda metric: 100.0)
    assert (mean.metric, mean.value, mean.num_samples) == ("accuracy", 75.0, 4)
    assert mean.metadata is not None
    assert mean.metadata["stderr"] == pytest.approx(25.0)  # sqrt(0.25 / 4) = 0.25


def test_repeats_of_a_sample_are_one_observation() -> None:
    assert standard_error([1, 1, 0, 0], ["a", "a", "b", "b"]) == pytest.approx(0.5)
    assert standard_error([1, 1, 0, 0], [None] * 4) == pytest.approx(0.2886751)


def test_undefined_standard_error() -> None:
    assert standard_error([1.0], ["a"]) is None
    assert standard_error([1.0, 0.0], ["a", "a"]) is None


def test_a_metric_counts_the_samples_that_have_it() -> None:
    scores = [SampleScore(Score({"x": 1.0})), SampleScore(Score({"y": 3.0}))]
    assert [(s.metric, s.value, s.num_samples) for s in mean_scores(scores, lambda m: 1.0)] == [
        ("x", 1.0, 1),
        ("y", 3.0, 1),
    ]
