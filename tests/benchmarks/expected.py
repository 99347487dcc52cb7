"""What is known of each shipped benchmark: one entry each, and most tests here run on all."""

from __future__ import annotations

__all__ = ["EXPECTED", "Expected", "names"]

from collections.abc import Callable
from dataclasses import dataclass

from pytest_evalplug.types import Sample


def plain(sample: Sample) -> str:
    """Answer with the reference alone."""
    return f" {sample.target}"


def concluding(sample: Sample) -> str:
    """Reason, then answer in a sentence."""
    return f"\nLet me see. So the answer is {sample.target}."


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a benchmark holds, and how it is answered right."""

    rows: int | None
    """Of the data at hand; None where there is none: its own tests write a few rows."""
    subsets: int = 1
    at_hand: int | None = None
    """The subsets whose data is there, if not all."""
    choices: bool = False
    """Whether ``ppl`` and ``ll`` compare choices."""
    letters: bool = False
    """Whether a reply is a letter."""
    right: Callable[[Sample], str] | None = plain
    """A reply that is right; None where no text follows from the reference."""


def _gsm8k_0shot(sample: Sample) -> str:
    return f"I count.\nThe answer is {sample.target.rpartition('#### ')[2]}."


def _agieval(sample: Sample) -> str:
    return plain(sample) if sample.choices else rf"I count: \boxed{{{sample.target}}}."


EXPECTED: dict[str, Expected] = {
    "agieval": Expected(rows=4967, subsets=17, choices=True, letters=True, right=_agieval),
    "arc_challenge": Expected(rows=1172, choices=True, letters=True),
    "arc_easy": Expected(rows=2376, choices=True, letters=True),
    "bbh": Expected(rows=6511, subsets=27, choices=True, right=concluding),
    "demo_knowledge": Expected(rows=76, choices=True, letters=True),
    "demo_math": Expected(rows=76, right=concluding),
    "gsm8k": Expected(rows=1319),
    "gsm8k_0shot": Expected(rows=1319, right=_gsm8k_0shot),
    "ifeval": Expected(rows=541, right=None),
    "mmlu": Expected(rows=1596, subsets=57, at_hand=10, choices=True, letters=True),
}


def names(wanted: Callable[[Expected], bool] = lambda _: True) -> list[str]:
    """Return the benchmarks whose data is at hand and that are ``wanted``."""
    return [name for name, e in EXPECTED.items() if e.rows is not None and wanted(e)]
