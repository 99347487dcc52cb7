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


def _boxed(sample: Sample) -> str:
    return rf"We find $x$. Therefore, the final answer is $\boxed{{{sample.target}}}$."


def _last_alias(sample: Sample) -> str:
    return f" {sample.target[-1]}.\nQuestion: And which else?"


def _chosen(sample: Sample) -> str:
    return f" {(sample.choices or [])['AB'.index(sample.target)]}"


EXPECTED: dict[str, Expected] = {
    "agieval": Expected(rows=4967, subsets=17, choices=True, letters=True, right=_agieval),
    "alpaca_eval": Expected(rows=None),
    "arc_challenge": Expected(rows=1172, choices=True, letters=True),
    "arc_easy": Expected(rows=2376, choices=True, letters=True),
    "bbh": Expected(rows=6511, subsets=27, choices=True, right=concluding),
    "bbh_chat": Expected(rows=6511, subsets=27, choices=True, right=concluding),
    "boolq": Expected(rows=500, choices=True, right=_chosen),
    "ceval": Expected(rows=None, subsets=52, choices=True, letters=True),
    "cmmlu": Expected(rows=None, subsets=67, choices=True, letters=True),
    "commonsense_qa": Expected(rows=1221, choices=True, letters=True),
    "copa": Expected(rows=100, choices=True, letters=True),
    "demo_knowledge": Expected(rows=76, choices=True, letters=True),
    "demo_math": Expected(rows=76, right=concluding),
    "flores": Expected(rows=None, subsets=16),
    "gsm8k": Expected(rows=1319),
    "gsm8k_0shot": Expected(rows=1319, right=_gsm8k_0shot),
    "hellaswag": Expected(rows=None, choices=True, letters=True),
    "humaneval": Expected(rows=164, right=None),
    "humaneval_chat": Expected(rows=164, right=None),
    "ifeval": Expected(rows=541, right=None),
    "inverse_ifeval": Expected(rows=None, subsets=16),
    "lambada": Expected(rows=500),
    "math500": Expected(rows=500, right=_boxed),
    "mbpp": Expected(rows=500, right=None),
    "mgsm": Expected(rows=2750, subsets=11, right=concluding),
    "mmlu": Expected(rows=1596, subsets=57, at_hand=10, choices=True, letters=True),
    "mmlu_pro": Expected(rows=None, subsets=14, choices=True, letters=True, right=concluding),
    "openbookqa": Expected(rows=500, choices=True, letters=True),
    "piqa": Expected(rows=1838, choices=True, letters=True),
    "truthfulqa_mc1": Expected(rows=817, choices=True, letters=True),
    "truthfulqa_mc2": Expected(rows=817, choices=True, right=None),
    "squad": Expected(rows=None),
    "triviaqa": Expected(rows=500, right=_last_alias),
    "truthfulqa_gen": Expected(rows=817, right=None),
    "winogrande": Expected(rows=1267, choices=True, letters=True),
    "wikitext": Expected(rows=None, right=None),
    "xsum": Expected(rows=None),
}


def names(wanted: Callable[[Expected], bool] = lambda _: True) -> list[str]:
    """Return the benchmarks whose data is at hand and that are ``wanted``."""
    return [name for name, e in EXPECTED.items() if e.rows is not None and wanted(e)]
