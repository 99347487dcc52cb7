"""What ``eval_cfg`` may refer to by name; the built-in entries load when first asked for."""

from __future__ import annotations

__all__ = ["evaluators", "postprocessors"]

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_evalplug.registry import Registry

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.base import BaseEvaluator

T = TypeVar("T")


class _BuiltinRegistry(Registry[T]):
    """A registry whose built-in entries are registered by modules that load on first use."""

    def __init__(self, kind: str, *modules: str) -> None:
        super().__init__(kind)
        self._modules: tuple[str, ...] = modules

    def add(self, name: str, entry: T) -> None:
        if not getattr(entry, "__module__", "").startswith(f"{__package__}."):
            self._load()  # so that of two equal names it is not the built-in that comes second
        super().add(name, entry)

    def get(self, name: str, *, where: str = "") -> T:
        self._load()
        return super().get(name, where=where)

    def __contains__(self, name: object) -> bool:
        self._load()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self._load()
        return super().__iter__()

    def _load(self) -> None:
        modules, self._modules = self._modules, ()
        for module in modules:
            import_module(f"pytest_evalplug.evaluation.{module}")


postprocessors: Registry[Callable[..., Any]] = _BuiltinRegistry(
    "postprocessor",
    "postprocess.text",
    "postprocess.think",
    "postprocess.marker",
    "postprocess.regex",
    "postprocess.option",
    "postprocess.number",
    "postprocess.bbh",
)
"""Functions ``(text, **options) -> value``."""

evaluators: Registry[type[BaseEvaluator]] = _BuiltinRegistry("evaluator", "accuracy", "exact_match")
"""Subclasses of BaseEvaluator."""
