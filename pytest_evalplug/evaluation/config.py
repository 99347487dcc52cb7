"""Reading ``eval_cfg``."""

from __future__ import annotations

__all__ = ["EvalConfig", "resolve_evaluator"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.evaluation.base import BaseEvaluator, evaluator_from
from pytest_evalplug.evaluation.postprocessor import Postprocessor, resolve_postprocessor
from pytest_evalplug.evaluation.registry import evaluators

_KEYS = ("pred_role", "pred_postprocessor", "dataset_postprocessor", "evaluator")


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """How one benchmark's predictions are scored.

    ``pred_role`` names the speaker whose turn is scored; with one reply a prompt it changes
    nothing and is kept for configurations that state it.
    """

    pred_postprocessor: tuple[Postprocessor, ...] = ()
    dataset_postprocessor: tuple[Postprocessor, ...] = ()
    evaluators: tuple[BaseEvaluator, ...] = ()
    pred_role: str | None = None

    @property
    def applied_twice(self) -> list[str]:
        """The postprocessors that ``eval_cfg`` and an Evaluator both have, with equal options."""
        own = [step for evaluator in self.evaluators for step in evaluator.pred_postprocessor]
        return [str(step) for step in self.pred_postprocessor if step in own]

    @classmethod
    def from_dict(
        cls, eval_cfg: Mapping[str, Any], where: str = "", *, metrics: Sequence[str] = ()
    ) -> EvalConfig:
        """Read ``eval_cfg``; without an ``evaluator`` the ``metrics`` name them.

        Raises ConfigError for unknown keys, names and options, with the nearest known ones.
        """
        for key in eval_cfg:
            if key not in _KEYS:
                raise ConfigError(
                    f"eval_cfg has no key {key!r}", where=where, fix=nearest(key, _KEYS)
                )
        steps = {
            key: resolve_postprocessor(eval_cfg.get(key), where=f"{where}: {key}".lstrip(": "))
            for key in ("pred_postprocessor", "dataset_postprocessor")
        }
        specs = [eval_cfg["evaluator"]] if eval_cfg.get("evaluator") is not None else metrics
        return cls(
            **steps,
            evaluators=tuple(
                resolve_evaluator(spec, where=f"{where}: evaluator".lstrip(": ")) for spec in specs
            ),
            pred_role=eval_cfg.get("pred_role"),
        )


def resolve_evaluator(spec: Any, *, where: str = "") -> BaseEvaluator:
    """Return the Evaluator that ``spec`` means.

    ``spec`` is an Evaluator, a subclass of BaseEvaluator, a function that scores, a registered
    name, or ``dict(type=..., key=value)`` with the constructor's arguments. Raises ConfigError,
    also for what :meth:`BaseEvaluator.check` finds.
    """
    evaluator = _resolve(spec, where)
    evaluator.check(where)
    return evaluator


def _resolve(spec: Any, where: str) -> BaseEvaluator:
    if isinstance(spec, BaseEvaluator):
        return spec
    options = dict(spec) if isinstance(spec, Mapping) else {"type": spec}
    kind = options.pop("type", None)
    if isinstance(kind, str):
        kind = evaluators.get(kind, where=where)
    if isinstance(kind, type) and issubclass(kind, BaseEvaluator):
        return _create(kind, options, where)
    if callable(kind) and not isinstance(kind, type) and not options:
        return evaluator_from(kind)
    raise ConfigError(
        f"an Evaluator is a subclass of BaseEvaluator, a function, a name or dict(type=...), "
        f"not {spec!r}",
        where=where,
    )


def _create(kind: type[BaseEvaluator], options: Mapping[str, Any], where: str) -> BaseEvaluator:
    try:
        return kind(**options)
    except TypeError as error:
        raise ConfigError(f"{kind.__name__}: {error}", where=where) from error
    except ConfigError as error:
        raise ConfigError(error.what, where=where, fix=error.fix) from None
