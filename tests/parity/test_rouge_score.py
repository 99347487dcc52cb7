"""ROUGE against the package rouge-score, and against values published by the package rouge."""

from __future__ import annotations

from string import ascii_letters, digits, punctuation
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from pytest_evalplug.evaluation.evaluators.rouge import RougeEvaluator, rouge_n

METRICS = ["rouge1", "rouge2", "rougeL"]
SCORER = RougeScorer(METRICS, use_stemmer=False)
OURS = RougeEvaluator()
PUBLISHED = RougeEvaluator(tokenizer="rouge-score")


def expected(pred: str, references: list[str]) -> Any:
    scores = SCORER.score_multi(references, pred)
    return pytest.approx({metric: scores[metric].fmeasure for metric in METRICS})


def test_real_texts(text_pairs: list[tuple[str, str]]) -> None:
    for pred, reference in text_pairs:
        assert PUBLISHED.score_sample(pred, reference) == expected(pred, [reference])


def test_texts_that_are_not_ascii(chinese_pairs: list[tuple[str, str]]) -> None:
    for pred, reference in chinese_pairs:
        assert PUBLISHED.score_sample(pred, reference) == expected(pred, [reference])


ASCII = st.text(st.sampled_from("ab" * 8 + ascii_letters + digits + punctuation + " \n\t" * 8))


@given(ASCII, st.lists(ASCII, min_size=1, max_size=3))
def test_ascii_texts_need_no_option(pred: str, references: list[str]) -> None:
    assert OURS.score_sample(pred, references) == expected(pred, references)
    assert PUBLISHED.score_sample(pred, references) == expected(pred, references)


@given(st.text(), st.text())
def test_any_texts(pred: str, reference: str) -> None:
    assert PUBLISHED.score_sample(pred, reference) == expected(pred, [reference])


@pytest.mark.parametrize("n", [1, 2])
def test_published_values(summaries: list[dict[str, Any]], n: int) -> None:
    # That package counts each n-gram once, punctuation too; its ROUGE-L is of whole summaries
    # (the union of each sentence's subsequences), which is another metric and isn't compared.
    scored = [row for row in summaries if "scores" in row]
    assert len(scored) == 4
    for row in scored:
        ours, theirs = (_distinct(row[side], n) for side in ("hyp", "ref"))
        precision, recall, f = rouge_n(ours, theirs, 1)
        published = row["scores"][f"rouge-{n}"]
        assert (precision, recall) == pytest.approx((published["p"], published["r"]))
        assert f == pytest.approx(published["f"], abs=1e-7)


def _distinct(text: str, n: int) -> list[str]:
    words = text.split()
    return list({" ".join(words[i : i + n]) for i in range(len(words) - n + 1)})
