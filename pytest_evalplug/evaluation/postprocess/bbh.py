"""The published rule of BIG-Bench Hard."""

from __future__ import annotations

__all__ = ["bbh_paper"]

from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("bbh-paper")
def bbh_paper(text: Any) -> str:
    """Return what stands after the last ``the answer is ``, without one trailing full stop.

    Suzgun et al. 2022, arXiv:2210.09261: chain-of-thought replies end in "So the answer is X.".
    A reply without the phrase is returned whole, and so equals the reference only if it is that.

    >>> bbh_paper("The date today is 01/05. So the answer is (B).")
    '(B)'
    """
    return str(text).rpartition("the answer is ")[2].strip().removesuffix(".")
