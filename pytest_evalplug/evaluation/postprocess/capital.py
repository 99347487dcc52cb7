"""Option letters by their place, for replies that are asked to give little else."""

from __future__ import annotations

__all__ = ["first_capital", "first_capital_multi", "last_capital", "multiple_select"]

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import Any

from pytest_evalplug.evaluation.postprocess.letters import claimed, standing, unmarked
from pytest_evalplug.evaluation.postprocess.option import first_option
from pytest_evalplug.evaluation.postprocess.reply import answer_texts
from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("first-capital")
def first_capital(text: Any, options: Sequence[str] = ascii_uppercase) -> str:
    """Return the letter that the reply claims, else the first of ``options`` that stands alone.

    Capitals of words, the words "A" and "I", options that are ruled out and those that are
    listed are passed over. OpenCompass's rule of this name, which takes any capital, the "T" of
    "The" too, is ``opencompass-first-capital``; a stricter one of ours is ``first-option``.

    >>> first_capital("Maybe (C) or D"), first_capital("I would say it is not A.")
    ('C', '')
    """
    return next((found[0] for found in _found(text, options)), "")


@postprocessors.register("last-capital")
def last_capital(text: Any, options: Sequence[str] = ascii_uppercase) -> str:
    """Return what :func:`first_capital` does, but the last letter where none is claimed.

    >>> last_capital("Maybe (C) or D")
    'D'
    """
    return next((found[-1] for found in reversed([*_found(text, options)])), "")


@postprocessors.register("first-capital-multi")
def first_capital_multi(text: Any, options: Sequence[str] = "ABCD") -> str:
    """Return the letters that the reply claims, else the first that stand together, sorted.

    OpenCompass's rule of this name takes the first run of A to D, in words too, as it stands
    (``opencompass-first-capital-multi``).

    >>> first_capital_multi("Both fit: C and A."), first_capital_multi("BD, because A is wrong")
    ('AC', 'BD')
    """
    return next(("".join(sorted(set(found))) for found in _found(text, options)), "")


@postprocessors.register("multiple-select")
def multiple_select(text: Any, options: Sequence[str] = "ABCD") -> str:
    """Return all the letters that the reply chooses, sorted, by the rule of ``first-option``.

    >>> multiple_select("The correct options are D and B; C is tempting.")
    'BD'
    """
    return first_option(text, options, multi=True)


def _found(text: Any, options: Sequence[str]) -> Iterator[str]:
    """Yield the groups of letters to choose from: the claimed one, or those that stand alone."""
    for reply in map(unmarked, answer_texts(text)):
        groups = [claim] if (claim := claimed(reply)) else list(standing(reply))
        yield from filter(None, (_allowed(group, options) for group in groups))
        if groups:
            return


def _allowed(group: str, options: Sequence[str]) -> str:
    allowed = {option.upper() for option in options}
    return "".join(letter for letter in group.upper() if letter in allowed)
