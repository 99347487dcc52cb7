"""Perplexity: how surprised a model is by texts that it is shown."""

from __future__ import annotations

__all__ = ["PerplexityEvaluator", "TextPerplexityEvaluator"]

import math
import re
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.registry import evaluators


@evaluators.register("perplexity", "PerplexityEvaluator")
class PerplexityEvaluator(BaseEvaluator):
    """Perplexity of the set's targets: exp of their mean loss (``--eval-mode=ll``).

    Metric: ``perplexity``, 1 or more, less is better. A target counts as one, however long it is.
    Source: LAMBADA (Paperno et al. 2016, arXiv:1606.06031); lm-evaluation-harness's
    ``perplexity``.
    """

    def score(self, loss: Sequence[Any]) -> dict[str, float]:
        """Score the set; ``loss`` is in nats, one number or a list of one for each sample.

        Raises ConfigError for values that are missing, several or not finite.
        """
        return {"perplexity": _exp(math.fsum(map(_loss, loss)) / len(loss))}


@evaluators.register("text_perplexity", "TextPerplexityEvaluator")
class TextPerplexityEvaluator(BaseEvaluator):
    """Perplexity of the set's texts by word and by byte (``--eval-mode=ll``), whatever its tokens.

    The reference is a text as published, whatever form of it the model was shown; words are what
    white space separates, bytes those of UTF-8. Metrics, less is better: ``word_perplexity`` and
    ``byte_perplexity`` (the summed losses over the summed lengths, exp of it) and
    ``bits_per_byte``. Source: lm-evaluation-harness's task ``wikitext``, version 2.
    """

    def score(self, references: Sequence[str], loss: Sequence[Any]) -> dict[str, float]:
        """Score the set; ``loss`` is in nats, one number or a list of one for each sample.

        Raises ConfigError for values that are missing, several or not finite, and for texts that
        are all empty.
        """
        total = math.fsum(map(_loss, loss))
        size = sum(len(text.encode("utf-8", "replace")) for text in references)
        if not size:
            raise ConfigError("the references are empty texts")
        # an empty piece at either end is a word to the source too
        words = sum(len(re.split(r"\s+", text)) for text in references)
        return {
            "word_perplexity": _exp(total / words),
            "byte_perplexity": _exp(total / size),
            "bits_per_byte": total / size / math.log(2),
        }


def _loss(value: Any) -> float:
    values = value if isinstance(value, (list, tuple)) else [value]
    if len(values) != 1 or not isinstance(values[0], (int, float)) or not math.isfinite(values[0]):
        raise ConfigError(
            f"perplexity needs one finite loss a sample, not {value!r}",
            fix="Use --eval-mode=ll, and a query of one continuation (build_query).",
        )
    return values[0]


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf  # refused where metrics are checked
