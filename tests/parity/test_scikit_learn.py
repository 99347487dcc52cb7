"""AUC-ROC and Matthews correlation against scikit-learn."""

from __future__ import annotations

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef, roc_auc_score

from pytest_evalplug.evaluation.evaluators.auc import AUCROCEvaluator, auc_roc
from pytest_evalplug.evaluation.evaluators.matthews import MccEvaluator, matthews_correlation

SCORES = st.floats(0, 1) | st.sampled_from([0.0, 0.25, 0.5])  # many ties
BOTH_CLASSES = st.lists(st.tuples(st.integers(0, 1), SCORES), min_size=2, max_size=40).filter(
    lambda pairs: len({label for label, _ in pairs}) == 2
)


@given(BOTH_CLASSES)
def test_auc(pairs: list[tuple[int, float]]) -> None:
    labels, scores = map(list, zip(*pairs, strict=True))
    theirs = roc_auc_score(labels, scores)
    assert auc_roc(labels, scores) == pytest.approx(theirs, abs=1e-9)
    both = [[1 - score, score] for score in scores]
    assert AUCROCEvaluator().score(both, labels)["auc_score"] == pytest.approx(100 * theirs)


@given(st.lists(st.tuples(*[st.sampled_from("abcd")] * 2), min_size=1, max_size=40))
def test_mcc(pairs: list[tuple[str, str]]) -> None:
    preds, labels = map(list, zip(*pairs, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of a single class
        theirs = matthews_corrcoef(labels, preds)
    assert matthews_correlation(preds, labels) == pytest.approx(theirs, abs=1e-12)
    ours = MccEvaluator().score(preds, labels)["matthews_correlation"]
    assert ours == pytest.approx(100 * theirs, abs=1e-9)
