"""IFEval: which of a prompt's verifiable instructions a reply follows."""

from __future__ import annotations

__all__ = ["IFEvaluator"]

from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import fmean
from types import MappingProxyType
from typing import Any

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.ifeval.check import Followed, follow
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.types import Sample

_METRICS = (
    "prompt_level_strict_acc",
    "inst_level_strict_acc",
    "prompt_level_loose_acc",
    "inst_level_loose_acc",
)


@evaluators.register("ifeval", "IFEvaluator", "IFEvalEvaluator")
class IFEvaluator(BaseEvaluator):
    """Instructions followed, by the rules of Zhou et al. 2023 (arXiv:2311.07911).

    The instructions are ``instruction_id_list`` and ``kwargs`` (a dict for each) of the sample's
    metadata, or of the reference where that is a dict. Metrics, percent, named as by
    lm-evaluation-harness: ``prompt_level_strict_acc`` (all instructions of a prompt followed; the
    verdict), ``inst_level_strict_acc`` (the share of all instructions of the set), and both
    ``loose``, which forgives introductions, closing lines and asterisks. ``details`` list, under
    ``instructions``, which were followed. A reply that is ``None`` or blank follows none.
    """

    scale = MappingProxyType(dict.fromkeys(_METRICS, 100.0))

    def score_sample(
        self, prediction: Any, reference: Any = None, sample: Sample | None = None
    ) -> dict[str, Any]:
        """Score one reply; the instruction levels are the shares of this prompt's instructions."""
        followed = _follow_all(prediction, reference, sample.metadata if sample else None)
        metrics = _levels([followed])
        return {**metrics, "correct": metrics["prompt_level_strict_acc"] == 1, **_detail(followed)}

    def score(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any] | None = None,
        test_set: Sequence[Mapping[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Score the set; ``test_set`` has a sample's metadata where ``references`` are no dicts.

        Raises ConfigError for an empty set and columns of different lengths, and DataError as
        :func:`~pytest_evalplug.evaluation.ifeval.check.follow` does.
        """
        columns = [
            column if column is not None else [None] * len(predictions)
            for column in (references, test_set)
        ]
        lengths = {len(predictions), *map(len, columns)}
        if lengths != {len(predictions)} or not predictions:
            raise ConfigError(f"IFEval needs columns of one length, not empty, not {lengths}")
        followed = [_follow_all(*row) for row in zip(predictions, *columns, strict=True)]
        metrics = {name: 100 * value for name, value in _levels(followed).items()}
        return {**metrics, "details": [_detail(prompt) for prompt in followed]}


def _follow_all(
    prediction: Any, reference: Any, metadata: Mapping[str, Any] | None
) -> list[Followed]:
    source = reference if isinstance(reference, Mapping) else metadata or {}
    names, arguments = source.get("instruction_id_list"), source.get("kwargs")
    if not names or not isinstance(arguments, (list, tuple)) or len(names) != len(arguments):
        raise DataError(
            "the sample has no instructions to check, or not as many kwargs",
            fix="Put instruction_id_list and kwargs of the dataset into Sample.metadata.",
        )
    reply = "" if prediction is None else str(prediction)
    return [
        follow(name, options or {}, reply) for name, options in zip(names, arguments, strict=True)
    ]


def _levels(prompts: Sequence[Sequence[Followed]]) -> dict[str, float]:
    """Return the four metrics of some prompts, each with at least one instruction, as 0-1."""
    instructions = list(chain.from_iterable(prompts))
    values = (
        fmean(all(i.strict for i in prompt) for prompt in prompts),
        fmean(i.strict for i in instructions),
        fmean(all(i.loose for i in prompt) for prompt in prompts),
        fmean(i.loose for i in instructions),
    )
    return dict(zip(_METRICS, values, strict=True))


def _detail(followed: Sequence[Followed]) -> dict[str, Any]:
    return {"instructions": [dict(instruction._asdict()) for instruction in followed]}
