"""Pick the worked examples that stand above a question, never the question itself."""

from __future__ import annotations

__all__ = ["ShotPool"]

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeAlias

from pytest_evalplug.dataset.records import row_of
from pytest_evalplug.types import Sample

_Key: TypeAlias = tuple[str, tuple[str, ...]]


class ShotPool:
    """The Samples that shots are picked from; ``same_split``: they are evaluated themselves."""

    def __init__(self, samples: Sequence[Sample], *, same_split: bool) -> None:
        self.samples = samples
        self.same_split = same_split
        self._keys = [_question(s) for s in samples]

    def pick(self, sample: Sample, number: int, rng: Random | None = None) -> list[Sample]:
        """Return ``number`` shots for a Sample: the first ones, or drawn by ``rng``.

        Left out are Samples of the same record and those that ask the same question (white space
        and the order of the choices aside). Fewer are returned only if fewer are left.
        """
        key = _question(sample)
        row = row_of(sample) if self.same_split else None
        shots: list[Sample] = []
        for position in _draw(len(self.samples), rng):
            if len(shots) == number:
                break
            shot = self.samples[position]
            if self._keys[position] != key and (row is None or row_of(shot) != row):
                shots.append(shot)
        return shots


def _draw(size: int, rng: Random | None) -> Iterator[int]:
    """Yield each position once; drawing a few of many costs only those few."""
    if rng is None:
        yield from range(size)
        return
    drawn: set[int] = set()
    while len(drawn) < size:
        position = rng.randrange(size)
        if position not in drawn:
            drawn.add(position)
            yield position


def _question(sample: Sample) -> _Key:
    return " ".join(str(sample.input).split()), tuple(sorted(sample.choices or ()))
