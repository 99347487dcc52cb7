"""Randomness that depends on nothing but what is named: no global state, no order of calls."""

from __future__ import annotations

__all__ = ["rng", "sort_key"]

import hashlib
import random


def sort_key(seed: int, *parts: str) -> bytes:
    """Return 32 bytes, a pure function of the arguments: to sort by them is to shuffle."""
    # the length in front keeps ("a", "bc") and ("ab", "c") apart
    text = "".join(f"{len(part)}:{part}" for part in (str(seed), *parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def rng(seed: int, *parts: str) -> random.Random:
    """Return a generator seeded by ``seed`` and ``parts``: the same in every process and run."""
    return random.Random(int.from_bytes(sort_key(seed, *parts), "big"))
