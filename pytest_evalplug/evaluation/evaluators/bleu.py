"""BLEU and chrF, as sacrebleu computes them."""

from __future__ import annotations

__all__ = ["BleuEvaluator", "ChrfEvaluator", "sentence_bleu", "sentence_chrf"]

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import zip_longest
from types import MappingProxyType
from typing import Any, ClassVar

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.evaluation.evaluators.reference import TextEvaluator, accepted, is_missing
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.textnorm import is_chinese


def sentence_bleu(pred: str, references: Sequence[str], tokenize: str = "auto") -> float:
    """Return sacrebleu's sentence BLEU over all references, from 0 to 100.

    ``tokenize`` is a tokenizer of sacrebleu; ``auto`` takes ``zh`` for a Chinese first reference
    and ``13a`` for any other.
    """
    metric = _sentence_bleu(_tokenizer(tokenize, references[:1]))
    return float(metric.sentence_score(pred, list(references)).score)


@cache
def _sentence_bleu(tokenizer: str) -> Any:
    return _sacrebleu().BLEU(tokenize=tokenizer, effective_order=True)


def sentence_chrf(pred: str, references: Sequence[str]) -> float:
    """Return sacrebleu's sentence chrF2 over all references, from 0 to 100."""
    return float(_sacrebleu().CHRF().sentence_score(pred, list(references)).score)


def _sacrebleu() -> Any:
    try:
        from sacrebleu import metrics
    except ImportError:
        raise ConfigError(
            "BLEU and chrF need sacrebleu", fix="pip install 'pytest-evalplug[text]'"
        ) from None
    return metrics


def _tokenizer(tokenize: str, references: Sequence[str]) -> str:
    if tokenize == "auto":
        return "zh" if is_chinese("".join(references)) else "13a"
    return tokenize


class _CorpusEvaluator(TextEvaluator):
    """Scores each sample as a sentence, and the set as a corpus: which is no mean of sentences."""

    def score(self, predictions: Sequence[Any], references: Sequence[Any]) -> dict[str, Any]:
        """Return the corpus score.

        Raises ConfigError for an empty set, columns of different lengths and lists of
        candidates, EvalplugError for a missing reference.
        """
        if not predictions or len(predictions) != len(references):
            raise ConfigError(f"{len(predictions)} predictions for {len(references)} references")
        if any(isinstance(pred, list) for pred in predictions):
            raise ConfigError(f"{self.metric} of a corpus needs one prediction a sample, no list")
        preds = ["" if is_missing(pred) else str(pred) for pred in predictions]
        texts = ([str(r) for r in accepted(reference)] for reference in references)
        return {self.metric: self.corpus(preds, [list(stream) for stream in zip_longest(*texts)])}

    def corpus(self, preds: list[str], streams: list[list[str | None]]) -> float:
        """Return the corpus score from 0 to 100; stream k has each sample's k-th reference."""
        raise NotImplementedError


@evaluators.register("bleu", "BleuEvaluator")
class BleuEvaluator(_CorpusEvaluator):
    """BLEU by sacrebleu: of the set the corpus score, of a sample its sentence score.

    ``tokenize`` names a tokenizer of sacrebleu; ``auto`` goes by ``lang`` (``zh``: ``zh``, any
    other: ``13a``), and that by the script of the references if it is ``auto`` too. Japanese and
    Thai want ``tokenize="char"``, or a tokenizer of their own. Several references: sacrebleu's
    multi-reference score. Metric: ``bleu``, 0 to 100; per sample from 0 to 1. Source: Papineni et
    al. 2002 (aclanthology.org/P02-1040); Post 2018, arXiv:1804.08771.
    """

    metric: ClassVar[str] = "bleu"
    scale: ClassVar[Mapping[str, float]] = MappingProxyType({"bleu": 100.0})

    def __init__(
        self, pred_postprocessor: Any = None, *, lang: str = "auto", tokenize: str = "auto"
    ) -> None:
        super().__init__(pred_postprocessor)
        known = ("auto", *_sacrebleu().BLEU.TOKENIZERS)
        if tokenize not in known:
            raise ConfigError(
                f"sacrebleu has no tokenizer {tokenize!r}", fix=nearest(tokenize, known)
            )
        if tokenize == "auto" and lang != "auto":
            tokenize = "zh" if lang.lower().startswith("zh") else "13a"
        self.tokenize = tokenize

    def compare(self, pred: str, references: Sequence[str]) -> dict[str, float]:
        """Return the sentence score."""
        return {self.metric: sentence_bleu(pred, references, self.tokenize) / 100}

    def corpus(self, preds: list[str], streams: list[list[str | None]]) -> float:
        """Return the corpus score; ``auto`` goes by all first references together."""
        tokenizer = _tokenizer(self.tokenize, [text or "" for text in streams[0]])
        return float(_sacrebleu().BLEU(tokenize=tokenizer).corpus_score(preds, streams).score)


@evaluators.register("chrf", "ChrfEvaluator")
class ChrfEvaluator(_CorpusEvaluator):
    """chrF2 by sacrebleu: of the set the corpus score, of a sample its sentence score.

    Metric: ``chrf``, 0 to 100; per sample from 0 to 1. Source: Popović 2015
    (aclanthology.org/W15-3049), with sacrebleu's defaults.
    """

    metric: ClassVar[str] = "chrf"
    scale: ClassVar[Mapping[str, float]] = MappingProxyType({"chrf": 100.0})

    def compare(self, pred: str, references: Sequence[str]) -> dict[str, float]:
        """Return the sentence score."""
        return {self.metric: sentence_chrf(pred, references) / 100}

    def corpus(self, preds: list[str], streams: list[list[str | None]]) -> float:
        """Return the corpus score."""
        return float(_sacrebleu().CHRF().corpus_score(preds, streams).score)
