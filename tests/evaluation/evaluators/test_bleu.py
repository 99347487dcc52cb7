from __future__ import annotations

import sys
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.config import resolve_evaluator
from pytest_evalplug.evaluation.evaluators.bleu import (
    BleuEvaluator,
    ChrfEvaluator,
    sentence_bleu,
    sentence_chrf,
)

CHINESE = "\u4eca\u5929\u5929\u6c14\u5f88\u597d"
NEAR = "\u4eca\u5929\u5929\u6c14\u4e0d\u597d"


@settings(max_examples=50)
@given(st.text(st.sampled_from("ab \u5317\u4eac.5"), max_size=12), st.text(max_size=8))
def test_bounds(pred: str, reference: str) -> None:
    assert 0 <= sentence_bleu(pred, [reference]) <= 100 + 1e-9
    assert 0 <= sentence_chrf(pred, [reference]) <= 100 + 1e-9


@given(st.text(st.sampled_from("ab c"), min_size=1).filter(str.strip))
def test_a_text_scores_100_against_itself(text: str) -> None:
    assert sentence_bleu(text, [text]) == pytest.approx(100)
    assert sentence_chrf(text, [text]) == pytest.approx(100)


@pytest.mark.parametrize(
    ("options", "bleu"),
    [
        ({}, 53.73),
        ({"lang": "zh"}, 53.73),
        ({"lang": "zh-CN"}, 53.73),
        ({"lang": "en"}, 0),
        ({"tokenize": "char"}, 53.73),
        ({"lang": "zh", "tokenize": "13a"}, 0),
    ],
)
def test_the_tokenizer(options: dict[str, Any], bleu: float) -> None:
    score = BleuEvaluator(**options).score_sample(NEAR, CHINESE)
    assert 100 * score["bleu"] == pytest.approx(bleu, abs=0.01)
    assert "correct" not in score


def test_the_first_reference_tells_the_script() -> None:
    assert sentence_bleu(NEAR, [CHINESE, "fine weather"]) > 50
    assert sentence_bleu(NEAR, ["fine weather", CHINESE]) == 0


def test_the_set_is_scored_as_a_corpus() -> None:
    preds = ["the cat is on the mat", "it is raining hard today"]
    references = [["the cat is on the rug"], ["it rains hard today", "today it is raining hard"]]
    result = BleuEvaluator().score(preds, references)
    mean = fmean(map(sentence_bleu, preds, references))
    assert 0 < result["bleu"] < 100
    assert result["bleu"] != pytest.approx(mean)
    assert BleuEvaluator().score(preds[::-1], references[::-1]) == pytest.approx(result)


def test_missing_preds_score_0() -> None:
    assert ChrfEvaluator().score_sample(None, "x") == {"chrf": 0.0}
    whole = ChrfEvaluator().score(["a red house"], ["a red house"])["chrf"]
    with_gap = ChrfEvaluator().score(["a red house", None], ["a red house", "a blue one"])
    assert whole == pytest.approx(100)
    assert with_gap == ChrfEvaluator().score(["a red house", ""], ["a red house", "a blue one"])


@pytest.mark.parametrize("name", ["bleu", "chrf"])
@pytest.mark.parametrize(
    ("predictions", "references"),
    [([], []), (["a"], ["a", "b"]), ([["a", "b"]], ["a"]), (["a"], [None]), (["a"], [[]])],
)
def test_sets_that_make_no_corpus(name: str, predictions: Any, references: Any) -> None:
    with pytest.raises(EvalplugError):
        resolve_evaluator(name).score(predictions, references)


def test_mistakes_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"no tokenizer '13b'.*13a"):
        resolve_evaluator({"type": "bleu", "tokenize": "13b"})
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ConfigError, match=r"pip install 'pytest-evalplug\[text\]'"):
        resolve_evaluator("bleu")
