from __future__ import annotations

import math
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.perplexity import (
    PerplexityEvaluator,
    TextPerplexityEvaluator,
)

TEXTS = ["one two\nthree", "\u4e8c "]  # 3 + 2 words (an empty one at the end), 13 + 4 bytes


def test_perplexity_is_a_mean_over_targets() -> None:
    result = PerplexityEvaluator().score(loss=[[1.0], [2.0], 3.0])
    assert result == {"perplexity": pytest.approx(math.exp(2))}


def test_texts_by_word_and_by_byte() -> None:
    result = TextPerplexityEvaluator().score(references=TEXTS, loss=[[10.0], [7.0]])
    assert result == {
        "word_perplexity": pytest.approx(math.exp(17 / 5)),
        "byte_perplexity": pytest.approx(math.e),
        "bits_per_byte": pytest.approx(1 / math.log(2)),
    }


@pytest.mark.parametrize("loss", [None, math.nan, math.inf, [1.0, 2.0], [], "1.0"])
def test_what_is_no_single_loss(loss: Any) -> None:
    for evaluator in (PerplexityEvaluator(), TextPerplexityEvaluator()):
        columns = {"predictions": ["", ""], "references": TEXTS, "loss": [1.0, loss]}
        with pytest.raises(ConfigError, match="one finite loss a sample"):
            evaluator.evaluate_run(columns)


def test_a_perplexity_beyond_numbers_is_none() -> None:
    columns = {"predictions": [""], "references": ["a"], "loss": [[1e6]]}
    with pytest.raises(EvalplugError, match="perplexity is inf, which is no score"):
        PerplexityEvaluator().evaluate_run(columns)
    with pytest.raises(EvalplugError, match="word_perplexity is inf"):
        TextPerplexityEvaluator().evaluate_run(columns)


def test_empty_texts_have_no_perplexity() -> None:
    with pytest.raises(ConfigError, match="empty texts"):
        TextPerplexityEvaluator().score(references=["", ""], loss=[1.0, 1.0])


def test_a_reply_has_no_loss() -> None:
    with pytest.raises(ConfigError, match="asks for 'loss'"):
        PerplexityEvaluator().evaluate_run({"predictions": ["x"], "references": ["y"]})
