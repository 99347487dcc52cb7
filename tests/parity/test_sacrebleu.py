"""BLEU and chrF against sacrebleu's own shortcuts."""

from __future__ import annotations

import pytest
import sacrebleu

from pytest_evalplug.evaluation.evaluators.bleu import BleuEvaluator, ChrfEvaluator

Pairs = list[tuple[str, str]]


def test_sentences(text_pairs: Pairs) -> None:
    bleu, chrf = BleuEvaluator(), ChrfEvaluator()
    assert len(text_pairs) == 200
    for pred, reference in text_pairs:
        ours = 100 * bleu.score_sample(pred, reference)["bleu"]
        assert ours == pytest.approx(sacrebleu.sentence_bleu(pred, [reference]).score)
        ours = 100 * chrf.score_sample(pred, reference)["chrf"]
        assert ours == pytest.approx(sacrebleu.sentence_chrf(pred, [reference]).score)


def test_the_corpus(text_pairs: Pairs) -> None:
    preds, references = map(list, zip(*text_pairs, strict=True))
    bleu = sacrebleu.corpus_bleu(preds, [references]).score
    chrf = sacrebleu.corpus_chrf(preds, [references]).score
    assert 1 < bleu < 99
    assert BleuEvaluator().score(preds, references)["bleu"] == pytest.approx(bleu)
    assert ChrfEvaluator().score(preds, references)["chrf"] == pytest.approx(chrf)


def test_chinese(chinese_pairs: Pairs) -> None:
    preds, references = map(list, zip(*chinese_pairs, strict=True))
    corpus = sacrebleu.corpus_bleu(preds, [references], tokenize="zh").score
    assert corpus > 1
    assert BleuEvaluator().score(preds, references)["bleu"] == pytest.approx(corpus)
    for pred, reference in chinese_pairs:
        theirs = sacrebleu.sentence_bleu(pred, [reference], tokenize="zh").score
        assert 100 * BleuEvaluator().score_sample(pred, reference)["bleu"] == pytest.approx(theirs)


def test_several_references_not_all_alike_in_number(text_pairs: Pairs) -> None:
    preds = [pred for pred, _ in text_pairs[:30]]
    second = [text_pairs[n + 1][0] if n % 2 else None for n in range(30)]
    first = [reference for _, reference in text_pairs[:30]]
    lists = [[a, b] if b is not None else [a] for a, b in zip(first, second, strict=True)]
    bleu = sacrebleu.corpus_bleu(preds, [first, second]).score  # type: ignore[list-item]
    chrf = sacrebleu.corpus_chrf(preds, [first, second]).score  # type: ignore[list-item]
    assert bleu != pytest.approx(sacrebleu.corpus_bleu(preds, [first]).score)
    assert BleuEvaluator().score(preds, lists)["bleu"] == pytest.approx(bleu)
    assert ChrfEvaluator().score(preds, lists)["chrf"] == pytest.approx(chrf)
    for pred, references in zip(preds, lists, strict=True):
        theirs = sacrebleu.sentence_bleu(pred, references).score
        assert 100 * BleuEvaluator().score_sample(pred, references)["bleu"] == pytest.approx(theirs)
