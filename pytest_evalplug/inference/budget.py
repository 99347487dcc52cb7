"""What a session may use, in tokens and in money, over all its models, judges and processes."""

from __future__ import annotations

__all__ = ["Account", "Budget", "BudgetError", "Limits"]

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pytest_evalplug.errors import (
    ConfigError,
    FatalModelError,
    ModelError,
    NoReplyError,
    StorageError,
)
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.price import Price
from pytest_evalplug.model.shared import InTurn, SharedState, State
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.run.directory import RunDirectory, safe_name
from pytest_evalplug.types import ModelOutput

Result = ModelOutput | ModelError

_CHARACTERS_PER_TOKEN = 4
"""Of English, roughly; for what no reply has told yet, or never tells."""
_POLL_SECONDS = 0.05
_BUDGET = "budget.json"


class BudgetError(FatalModelError):
    """The session's budget is used up: no further request is sent."""


class Amount(NamedTuple):
    """Tokens, and what they cost."""

    tokens: float = 0.0
    cost: float = 0.0

    def plus(self, other: Amount, times: float = 1) -> Amount:
        """Return the sum of this and ``times`` the other."""
        return Amount(self.tokens + times * other.tokens, self.cost + times * other.cost)


class Budget:
    """Counts what is used in a file that all processes share.

    What is in flight is reserved, at the mean of what the same model's requests have used by then.
    A request that no longer fits waits for those in flight, which may use less; once none is, the
    budget is used up. So all that was sent has arrived when the session stops. A model's very first
    request goes if anything is left: what it will use is anybody's guess.

    ``worker`` is this process; ``lives`` tells whether another one is there, as what one that
    was killed had reserved is not waited for: it counts as used.
    """

    def __init__(
        self,
        path: Path,
        max_tokens: int | None,
        max_cost: float | None,
        *,
        worker: str = "main",
        lives: Callable[[str], bool] = lambda worker: False,
    ) -> None:
        self._limits = Amount(max_tokens or float("inf"), max_cost or float("inf"))
        self._worker = worker
        self._lives = lives
        self._state = SharedState(path)
        self._queue = InTurn()

    async def reserve(
        self, model: str, count: int, estimate: Amount, closed: Callable[[], bool]
    ) -> Amount | None:
        """Set aside what ``count`` requests may use, one of them ``estimate`` if nothing is known.

        Waits for what is in flight; None if ``closed`` meanwhile. Raises BudgetError.
        """
        async with self._queue.turn():
            while not closed():
                found = await self._state.change(lambda s: self._try(s, model, count, estimate))
                if found is not None:
                    return found
                await asyncio.sleep(_POLL_SECONDS)
        return None

    async def settle(
        self, model: str, reserved: Amount, used: Amount, answered: int, lost: Amount
    ) -> None:
        """Count what ``answered`` requests have used instead of what was reserved for them.

        ``lost`` is what others may have used, of which nobody will ever tell. Raises StorageError.
        """

        def change(state: State) -> None:
            flight, models = state.setdefault("flight", {}), state.setdefault("models", {})
            state["lost"] = Amount(*state.get("lost", (0, 0))).plus(lost)
            key = self._key(model)
            mine = Amount(*flight.get(key, (0, 0))).plus(reserved, -1)
            if mine.tokens > 1e-6:
                flight[key] = mine
            else:
                flight.pop(key, None)
            tokens, cost, count = models.get(model, (0, 0, 0))
            models[model] = [*Amount(tokens, cost).plus(used), count + answered]

        await self._state.change(change)

    def _try(self, state: State, model: str, count: int, estimate: Amount) -> Amount | None:
        models, flight = state.setdefault("models", {}), state.setdefault("flight", {})
        used = Amount(*state.setdefault("lost", Amount()))
        for tokens, cost, _ in models.values():
            used = used.plus(Amount(tokens, cost))
        tokens, cost, answered = models.get(model, (0, 0, 0))
        one = Amount().plus(Amount(tokens, cost), 1 / answered) if answered else estimate
        wanted = Amount().plus(one, count)
        in_flight = Amount()
        for amount in flight.values():
            in_flight = in_flight.plus(Amount(*amount))
        first = not answered and not any(key.partition(" ")[2] == model for key in flight)
        if not self._has(used.plus(in_flight).plus(Amount() if first else wanted)):
            if self._bury(state):
                return self._try(state, model, count, estimate)
            if flight:
                return None
            if first or not self._has(used.plus(one)):
                raise self._used_up(used)
        key = self._key(model)
        flight[key] = Amount(*flight.get(key, (0, 0))).plus(wanted)
        return wanted

    def _bury(self, state: State) -> bool:
        """Count what dead processes had in flight as used; tell whether there are any."""
        flight, lost = state["flight"], Amount(*state["lost"])
        workers = {key.partition(" ")[0] for key in flight} - {self._worker}
        dead = {worker for worker in workers if not self._lives(worker)}
        for key in [key for key in flight if key.partition(" ")[0] in dead]:
            lost = lost.plus(Amount(*flight.pop(key)))
        state["lost"] = lost
        return bool(dead)

    def _key(self, model: str) -> str:
        return f"{self._worker} {model}"

    def _has(self, amount: Amount) -> bool:
        return all(a <= limit for a, limit in zip(amount, self._limits, strict=True))

    def _used_up(self, used: Amount) -> BudgetError:
        by_tokens = self._limits.tokens < float("inf")
        if by_tokens and self._limits.cost < float("inf"):  # which of the two is nearer
            by_tokens = used.tokens / self._limits.tokens >= used.cost / self._limits.cost
        if by_tokens:
            what = f"the budget of {self._limits.tokens:,.0f} tokens is used up"
            option, spent = "--eval-max-tokens", f"{used.tokens:,.0f}"
        else:
            what = f"the budget of {self._limits.cost:g} is used up"
            option, spent = "--eval-max-cost", f"{used.cost:.4g}"
        return BudgetError(
            f"{what} ({spent}; the next request would go over it)",
            where=option,
            fix="Go on with --reuse and another budget",
        )


@dataclass(slots=True)
class Account:
    """What one model takes from the budget."""

    name: str
    budget: Budget
    price: Price
    closed: bool = False
    unkept: StorageError | None = None
    """Why it is not known any more what has been used; then nothing more is asked."""

    async def pay(
        self,
        sizes: Sequence[int],
        params: GenerationParams,
        ask: Callable[[], Awaitable[Sequence[Result]]],
    ) -> Sequence[Result]:
        """Return what ``ask`` returns, for prompts of these sizes in characters.

        Raises BudgetError or StorageError instead of asking, CancelledError if closed before it
        could ask. What it cost is counted at what was reserved where it was sent and nobody waits
        for the reply, as after a timeout: a server may have worked, and wants to be paid.
        """
        longest = Usage(max(sizes) // _CHARACTERS_PER_TOKEN, params.max_tokens)
        reserved = await self.budget.reserve(
            self.name, len(sizes), self._amount(longest), self._is_closed
        )
        if reserved is None:
            raise self.unkept or asyncio.CancelledError
        answers: list[Usage] = []
        unanswered = 0
        try:
            results = await ask()
            answers = [
                Usage.of(result.usage) or _estimate(size, result)
                for size, result in zip(sizes, results, strict=False)
                if isinstance(result, ModelOutput)
            ]
            unanswered = sum(isinstance(result, NoReplyError) for result in results)
            return results
        except (asyncio.CancelledError, NoReplyError):
            unanswered = len(sizes)
            raise
        finally:
            used = Amount()
            for usage in answers:
                used = used.plus(self._amount(usage))
            lost = Amount().plus(reserved, unanswered / len(sizes))
            try:
                await self.budget.settle(self.name, reserved, used, len(answers), lost)
            except StorageError as error:  # the replies are paid and there
                self.unkept = error

    def _amount(self, usage: Usage) -> Amount:
        return Amount(usage.total, usage.cost(self.price))

    def _is_closed(self) -> bool:
        return self.closed or self.unkept is not None


class Limits:
    """The limits of a run, as its processes share them in a folder of the run directory.

    ``worker`` is the name under which this one has joined the run.
    """

    def __init__(
        self,
        run: RunDirectory,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        worker: str = "main",
    ) -> None:
        self._run = run
        self._folder = run.path / "limits"
        self._worker = worker
        self._max_tokens = max_tokens
        self._max_cost = max_cost

    def account(self, name: str, backend: Any, price: Price | None) -> Account | None:
        """Return what a model pays with, None without a budget; its rates are shared from now on.

        Raises ConfigError if the budget is in money and the model has no price.
        """
        share = getattr(backend, "share_limits", None)
        if share is not None:
            share(self._folder / f"rates-{safe_name(name)}.json")
        if self._max_tokens is None and self._max_cost is None:
            return None
        if price is None and self._max_cost is not None:
            raise ConfigError(
                f"no price is known of model {name!r}",
                where="--eval-max-cost",
                fix="Add price = { prompt = ..., completion = ... } to its table",
            )
        budget = Budget(
            self._folder / _BUDGET,
            self._max_tokens,
            self._max_cost,
            worker=self._worker,
            lives=self._run.has_worker,
        )
        return Account(name, budget, price or Price(prompt=0, completion=0))


def _estimate(size: int, output: ModelOutput) -> Usage:
    reply = len(output.completion) // _CHARACTERS_PER_TOKEN
    return Usage(size // _CHARACTERS_PER_TOKEN + 1, reply + 1)
