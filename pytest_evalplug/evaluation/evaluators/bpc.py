"""Bits per character: how well a model compresses text."""

from __future__ import annotations

__all__ = ["BPCEvaluator"]

import math
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.registry import evaluators


@evaluators.register("bpc", "BPCEvaluator")
class BPCEvaluator(BaseEvaluator):
    """Bits per character of the set's texts: their summed losses over their summed characters.

    For ``--eval-mode=ppl`` on Samples of one choice, whose text (with the prompt in front) is
    what counts. Metrics, in bits, less is better: ``bpc``, and ``bpb``, bits per UTF-8 byte,
    where the texts are in the prediction file. Source: OpenCompass's BPCEvaluator; there the
    first ``total_chr_num`` is that of the whole set, here each is its own text's.
    """

    def score(
        self,
        loss: Sequence[Any],
        total_chr_num: Sequence[Any],
        origin_prompt: Sequence[Any] | None = None,
        continuations: Sequence[Any] | None = None,
    ) -> dict[str, Any]:
        """Score the set; ``loss`` is in nats, one number or a list of one for each sample.

        Raises ConfigError for an empty set, columns of different lengths, and values that are
        missing, several, not finite or no length of a text.
        """
        if not loss or len(loss) != len(total_chr_num):
            raise ConfigError(f"{len(loss)} losses for {len(total_chr_num)} texts")
        bits = math.fsum(map(_number, loss)) / math.log(2)
        lengths = [*map(_number, total_chr_num)]
        if min(lengths) < 0 or not sum(lengths):
            raise ConfigError("total_chr_num must be lengths of texts, not all empty")
        metrics = {"bpc": bits / sum(lengths)}
        texts = [*map(_text, origin_prompt or (), continuations or ())]
        # the lengths tell whether these are the texts that the losses belong to
        if [*map(len, texts)] == lengths:
            metrics["bpb"] = bits / sum(len(text.encode("utf-8", "replace")) for text in texts)
        return metrics


def _number(value: Any) -> float:
    values = value if isinstance(value, (list, tuple)) else [value]
    if len(values) != 1 or not isinstance(values[0], (int, float)) or not math.isfinite(values[0]):
        raise ConfigError(
            f"bits per character need one finite loss and length a sample, not {value!r}",
            fix="Use --eval-mode=ppl, and Samples of one choice.",
        )
    return values[0]


def _text(prompt: Any, continuations: Any) -> str:
    return f"{prompt}{''.join(map(str, continuations or ()))}"
