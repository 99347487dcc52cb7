"""How many tokens replies took, and what that costs."""

from __future__ import annotations

__all__ = ["Usage"]

from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_evalplug.model.price import Price


class Usage(NamedTuple):
    """Tokens of prompts and of replies; ``cached`` is the part of the prompts' that was cached."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @classmethod
    def of(cls, usage: Any) -> Usage | None:
        """Read what a reply has as ``usage``; None if it says nothing.

        A record comes from a file, so anything may stand there.
        """
        if not isinstance(usage, Mapping):
            return None
        prompt, completion, cached = (
            count if type(count := usage.get(name)) is int and count >= 0 else 0
            for name in ("prompt_tokens", "completion_tokens", "cached_tokens")
        )
        return cls(prompt, completion, min(cached, prompt)) if prompt or completion else None

    @property
    def total(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    def plus(self, other: Usage) -> Usage:
        """Return the sums."""
        return Usage(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def cost(self, price: Price) -> float:
        """Return what the tokens cost, in the price's currency."""
        cached = price.prompt if price.cached_prompt is None else price.cached_prompt
        parts = (
            (self.prompt - self.cached) * price.prompt,
            self.cached * cached,
            self.completion * price.completion,
        )
        return sum(parts) / 1_000_000

    def counts(self, name: str) -> dict[str, int]:
        """Return what a model of this name has used as counts, which processes add up."""
        return {f"{part} tokens of {name}": n for part, n in self._asdict().items() if n}

    @classmethod
    def counted(cls, counts: Mapping[str, int], name: str) -> Usage:
        """Return what :meth:`counts` of this name add up to."""
        return cls(*(counts.get(f"{part} tokens of {name}", 0) for part in cls._fields))
