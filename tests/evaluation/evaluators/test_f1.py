from __future__ import annotations

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.evaluators.f1 import F1Evaluator, token_f1

TEXTS = st.text(st.sampled_from("ab \u5317\u4eac.5-"), max_size=12) | st.text()


@given(TEXTS)
def test_a_text_scores_1_against_itself(text: str) -> None:
    assert token_f1(text, [text]) == 1


@given(TEXTS, TEXTS)
def test_symmetric_and_bounded(a: str, b: str) -> None:
    assert 0 <= token_f1(a, [b]) == token_f1(b, [a]) <= 1


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4))
def test_the_best_reference_counts(pred: str, references: list[str]) -> None:
    assert token_f1(pred, references) == max(token_f1(pred, [r]) for r in references)


@pytest.mark.parametrize(
    ("pred", "reference", "f1"),
    [
        ("3.14 radians", "3.14", 2 / 3),
        ("-5", "5", 0),
        ("iPhone\u624b\u673a", "\u624b\u673a", 0.8),  # a Latin word in Chinese is one word
        ("", "x", 0),
        ("", "", 1),
    ],
)
def test_scores(pred: str, reference: str, f1: float) -> None:
    assert token_f1(pred, [reference]) == pytest.approx(f1)


def test_missing_preds_and_references() -> None:
    assert F1Evaluator().score_sample(None, "") == {"f1": 0.0}
    assert F1Evaluator().score_sample([], "x") == {"f1": 0.0}
    with pytest.raises(EvalplugError, match="no reference"):
        F1Evaluator().score_sample("x", None)


def test_candidates_count_by_their_mean() -> None:
    assert F1Evaluator().score_sample(["x", None, "x y"], "x")["f1"] == pytest.approx(5 / 9)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6), st.randoms())
def test_the_order_of_samples_does_not_matter(pairs: list[tuple[str, str]], random: object) -> None:
    evaluator = F1Evaluator()
    forth = evaluator.score(*zip(*pairs, strict=True))
    back = evaluator.score(*zip(*reversed(pairs), strict=True))
    assert (
        forth["f1"] == back["f1"] == pytest.approx(100 * fmean(token_f1(p, [r]) for p, r in pairs))
    )
