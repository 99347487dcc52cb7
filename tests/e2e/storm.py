"""A server of which every fifth reply is a fault of some kind, and what it knows of the others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from tests.http_faults import HANGING, LASTING, PASSING, TOO_LONG, Fault
from tests.servers import Action, Call, delay

SHARE = 0.2
LASTING_SHARE = 0.02
QUIET = 100
"""The first samples meet no fault that could stand for all: the server has to be known first."""
_HEAVY = ("body of 100 MB", "gzip of 100 MB")
_LASTING = {n: f for n, f in {**LASTING, **TOO_LONG}.items() if n not in _HEAVY}
_ALWAYS_PASSING = {n: f for n, f in PASSING.items() if n not in ("408", "504")}
"""A timeout gets fewer tries than the rest."""


class Storm:
    """A script for a server: ``say X`` is answered with X, unless a fault comes in between.

    What meets which fault follows from the seed, the prompt and the number of the attempt.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.faults: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.asked_again: list[str] = []
        """Prompts that came again after a reply."""
        self._once = [*HANGING.items(), *((name, LASTING[name]) for name in _HEAVY)]

    def __call__(self, call: Call) -> Action | str:
        if self.answered[call.prompt]:
            self.asked_again.append(call.prompt)
        fault = self.fault(call.prompt, call.attempt)
        if fault is None:
            self.answered[call.prompt] += 1
            return delay(0.02, answer(call))
        name, act = fault
        self.faults[name] += 1
        return act

    def fault(self, prompt: str, attempt: int) -> tuple[str, Action] | None:
        """Return which fault this attempt meets."""
        number = int(prompt.removeprefix("say "))
        if number < QUIET:
            return None
        if number < QUIET + len(self._once):
            name, fault = self._once[number - QUIET]
            return (name, fault.act) if attempt == 0 or name in _HEAVY else None
        lasting = random.Random(f"{self.seed} {prompt}")
        if lasting.random() < LASTING_SHARE:
            return _one_of(_LASTING, lasting)
        chance = random.Random(f"{self.seed} {prompt} {attempt}")
        kinds = PASSING if attempt == 0 else _ALWAYS_PASSING
        return _one_of(kinds, chance) if chance.random() < SHARE else None

    def lost(self, prompts: Sequence[str], attempts: int) -> set[str]:
        """Return the prompts that no client could get an answer to in so many attempts."""
        every = range(attempts)
        return {p for p in prompts if all(self.fault(p, attempt) for attempt in every)}


def answer(call: Call) -> str:
    """Answer as the prompt asks."""
    return call.prompt.removeprefix("say ")


def _one_of(faults: dict[str, Fault], chance: random.Random) -> tuple[str, Action]:
    name = chance.choice(list(faults))
    return name, faults[name].act
