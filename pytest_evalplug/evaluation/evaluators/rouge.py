"""ROUGE: words, word pairs and word order that a text shares with a reference."""

from __future__ import annotations

__all__ = ["Overlap", "RougeEvaluator", "RougeLEvaluator", "lcs_length", "rouge_l", "rouge_n"]

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.evaluators.reference import TextEvaluator
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.textnorm import words


class Overlap(NamedTuple):
    """What two texts share, from 0 to 1; all 0 where either has nothing to share."""

    precision: float
    recall: float
    f: float

    @classmethod
    def of(cls, shared: int, pred: int, reference: int) -> Overlap:
        """Return the measures of ``shared`` units among those of both texts."""
        if not shared:
            return cls(0.0, 0.0, 0.0)
        return cls(shared / pred, shared / reference, 2 * shared / (pred + reference))


def rouge_n(pred: Sequence[str], reference: Sequence[str], n: int) -> Overlap:
    """Return the overlap of two lists of words in runs of ``n`` words, each counted once."""
    ours, theirs = (
        Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (pred, reference)
    )
    return Overlap.of((ours & theirs).total(), ours.total(), theirs.total())


def rouge_l(pred: Sequence[str], reference: Sequence[str]) -> Overlap:
    """Return the overlap of two lists of words by their longest common subsequence."""
    return Overlap.of(lcs_length(pred, reference), len(pred), len(reference))


def lcs_length(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    One column of the table is one integer, a bit a word of ``b`` (Hyyrö 2004, Bit-Parallel
    LCS-length Computation Revisited): the memory is linear, the time that of ``len(a)`` additions.
    """
    positions: dict[str, int] = {}
    for i, word in enumerate(b):
        positions[word] = positions.get(word, 0) | 1 << i
    everywhere = column = (1 << len(b)) - 1
    for word in a:
        matched = column & positions.get(word, 0)
        column = (column + matched | column - matched) & everywhere
    return len(b) - column.bit_count()


_METRICS: dict[str, Callable[[Sequence[str], Sequence[str]], Overlap]] = {
    "rouge1": lambda pred, reference: rouge_n(pred, reference, 1),
    "rouge2": lambda pred, reference: rouge_n(pred, reference, 2),
    "rougeL": rouge_l,
}


def _ascii_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


_TOKENIZERS = {"unicode": words, "rouge-score": _ascii_words}


@evaluators.register("rouge", "RougeEvaluator")
class RougeEvaluator(TextEvaluator):
    """ROUGE-1, ROUGE-2 and ROUGE-L: F-measures with the best of the references for each.

    Lower case, no stemming, over :func:`words`: words of any script, in Chinese characters. A
    text without words scores 0, and ROUGE-2 is 0 for a single word. ``tokenizer="rouge-score"``
    takes ASCII letters and digits alone, as the package rouge-score does by default, with which
    all numbers then agree. Metrics: ``rouge1``, ``rouge2``, ``rougeL``, percent; per sample from
    0 to 1. Source: Lin 2004, ROUGE (aclanthology.org/W04-1013); google-research's rouge-score.
    """

    metrics: ClassVar[tuple[str, ...]] = ("rouge1", "rouge2", "rougeL")

    def __init__(
        self,
        pred_postprocessor: Any = None,
        *,
        tokenizer: Literal["unicode", "rouge-score"] = "unicode",
    ) -> None:
        super().__init__(pred_postprocessor)
        if tokenizer not in _TOKENIZERS:
            raise ConfigError(
                f"RougeEvaluator has no tokenizer {tokenizer!r}", fix="Use unicode or rouge-score."
            )
        self._words = _TOKENIZERS[tokenizer]

    def compare(self, pred: str, references: Sequence[str]) -> Mapping[str, float]:
        """Return the F-measures."""
        ours, theirs = self._words(pred), [self._words(r) for r in references]
        return {
            m: max(_METRICS[m](ours, reference).f for reference in theirs) for m in self.metrics
        }


@evaluators.register("rouge_l", "RougeLEvaluator")
class RougeLEvaluator(RougeEvaluator):
    """ROUGE-L alone; see :class:`RougeEvaluator`."""

    metrics = ("rougeL",)
