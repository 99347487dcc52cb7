"""The reply as it is."""

from __future__ import annotations

__all__ = ["none"]

from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("none")
def none(text: Any) -> str:
    """Return the reply as it is, for Evaluators that judge all of it, as IFEval does.

    >>> none(" As it is. ")
    ' As it is. '
    """
    return "" if text is None else str(text)
