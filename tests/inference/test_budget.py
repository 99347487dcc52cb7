from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, ModelError, NoReplyError, StorageError
from pytest_evalplug.inference.batcher import Batcher
from pytest_evalplug.inference.budget import Account, Budget, BudgetError, Limits
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.price import Price
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.types import ModelOutput, Prompt

from .conftest import Backend

PARAMS = GenerationParams(max_tokens=100)
PRICE = Price(prompt=1_000_000, completion=2_000_000)


def reply(prompt: int = 10, completion: int = 10) -> ModelOutput:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return ModelOutput("text", usage=usage)


async def answer(output: ModelOutput | ModelError) -> list[ModelOutput | ModelError]:
    return [output]


async def spend(account: Account, output: ModelOutput | ModelError) -> None:
    await account.pay([40], PARAMS, lambda: answer(output))


def test_requests_stop_before_the_budget_is_exceeded(tmp_path: Path) -> None:
    account = Account("m", Budget(tmp_path / "b.json", 205, None), PRICE)

    async def scenario() -> str:
        for _ in range(10):
            await spend(account, reply())
        with pytest.raises(BudgetError) as caught:
            await spend(account, reply())
        return str(caught.value)

    assert asyncio.run(scenario()) == (
        "--eval-max-tokens: the budget of 205 tokens is used up (200; the next request would "
        "go over it). Go on with --reuse and another budget"
    )


def test_a_request_that_does_not_fit_waits_for_those_in_flight(tmp_path: Path) -> None:
    """They may use less. The budget is used up when none is left: all that was sent has come."""
    account = Account("m", Budget(tmp_path / "b.json", 300, None), PRICE)
    arrived: list[int] = []

    async def slow(number: int) -> list[ModelOutput | ModelError]:
        await asyncio.sleep(0.02)
        arrived.append(number)
        return [reply(10, 20)]

    async def scenario() -> list[Any]:
        asks = [account.pay([40], PARAMS, lambda n=n: slow(n)) for n in range(30)]  # type: ignore[misc]
        return await asyncio.gather(*asks, return_exceptions=True)

    results = asyncio.run(scenario())
    assert len(arrived) == 10
    assert sum(isinstance(result, BudgetError) for result in results) == 20


def test_money(tmp_path: Path) -> None:
    account = Account("m", Budget(tmp_path / "b.json", None, 65.0), PRICE)

    async def scenario() -> None:
        await spend(account, reply(10, 10))  # 30
        await spend(account, reply(10, 10))
        with pytest.raises(BudgetError, match=r"--eval-max-cost: the budget of 65 is used up \(60"):
            await spend(account, reply(10, 10))

    asyncio.run(scenario())


def test_processes_and_models_share_it(tmp_path: Path) -> None:
    limits = Limits(RunDirectory.attach(tmp_path), 45, None)
    first, second = (limits.account(name, object(), None) for name in ("a", "b"))
    assert first is not None
    assert second is not None
    asyncio.run(spend(first, reply()))
    asyncio.run(spend(second, reply()))
    with pytest.raises(BudgetError):
        asyncio.run(spend(first, reply()))


def test_a_judge_that_has_not_been_asked_is_not_held_up_by_a_model(tmp_path: Path) -> None:
    """What it will use, here 1010 at most, is not known yet."""
    limits = Limits(RunDirectory.attach(tmp_path), 200, None)
    model, judge = (limits.account(name, object(), None) for name in ("m", "judge"))
    assert model is not None
    assert judge is not None

    async def asking_both() -> list[ModelOutput | ModelError]:
        long = GenerationParams(max_tokens=1000)
        await asyncio.wait_for(judge.pay([40], long, lambda: answer(reply())), 10)
        return await answer(reply())

    asyncio.run(spend(model, reply()))
    asyncio.run(model.pay([40], PARAMS, asking_both))


def test_what_a_killed_process_had_in_flight_counts(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    state = {"models": {"m": [100, 0, 5]}, "flight": {"gw1 m": [80, 0]}}
    file.write_text(json.dumps(state))
    account = Account("m", Budget(file, 200, None), PRICE)
    asyncio.run(spend(account, reply()))
    with pytest.raises(BudgetError, match="200;"):
        asyncio.run(spend(account, reply()))


def test_a_worker_is_waited_for_as_long_as_it_lives(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path)
    other = RunDirectory.join(run.path, "gw1")
    account = Limits(run, 200, None, "gw0").account("m", object(), None)
    assert account is not None
    state = {"models": {"m": [100, 0, 5]}, "flight": {"gw1 m": [100, 0]}}
    (run.path / "limits" / "budget.json").write_text(json.dumps(state))

    async def scenario() -> None:
        asking = asyncio.ensure_future(spend(account, reply()))
        await asyncio.wait({asking}, timeout=0.1)
        assert not asking.done()
        other.close()
        with pytest.raises(BudgetError, match="200;"):
            await asking

    asyncio.run(asyncio.wait_for(scenario(), 60))
    run.close()


def test_what_fails_gives_back_what_was_reserved(tmp_path: Path) -> None:
    account = Account("m", Budget(tmp_path / "b.json", 200, None), PRICE)

    async def broken() -> list[ModelOutput | ModelError]:
        raise RuntimeError

    async def scenario() -> None:
        for _ in range(20):
            await spend(account, ModelError("no"))
            with pytest.raises(RuntimeError):
                await account.pay([40], PARAMS, broken)

    asyncio.run(scenario())
    state = json.loads((tmp_path / "b.json").read_text())
    assert (state["models"], state["flight"]) == ({"m": [0, 0, 0]}, {})


def test_what_was_sent_and_not_answered_counts_as_reserved(tmp_path: Path) -> None:
    """A request of 10 + 100 tokens is reserved, then two of the mean of 20."""
    account = Account("m", Budget(tmp_path / "b.json", 500, None), PRICE)

    async def never() -> list[ModelOutput | ModelError]:
        await asyncio.Event().wait()
        raise AssertionError

    async def scenario() -> None:
        await spend(account, NoReplyError("timeout"))
        await spend(account, reply())
        await asyncio.wait(
            asks := [asyncio.create_task(account.pay([40] * 2, PARAMS, never))], timeout=0.1
        )
        asks[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await asks[0]

    asyncio.run(scenario())
    state = json.loads((tmp_path / "b.json").read_text())
    assert (state["lost"][0], state["models"], state["flight"]) == (150, {"m": [20, 30, 1]}, {})


@pytest.mark.parametrize("damage", ["gone", "full"])
def test_a_reply_is_kept_where_its_cost_cannot_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    file = tmp_path / "b.json"

    def full(path: Path, text: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    class Breaking(Backend):
        def generate(self, prompts: Sequence[Prompt], params: GenerationParams) -> list[str]:
            if damage == "gone":
                file.unlink()
            else:
                monkeypatch.setattr("pytest_evalplug.model.shared._replace", full)
            return ["a paid reply"]

    async def scenario() -> list[Any]:
        account = Account("m", Budget(file, 1000, None), PRICE)
        batcher = Batcher(Breaking(), INFERENCERS["gen"], account=account)
        asks = [batcher.submit("a", PARAMS), batcher.submit("b", PARAMS)]
        results = await asyncio.gather(*asks, return_exceptions=True)
        await batcher.stop(1)
        return results

    first, second = asyncio.run(scenario())
    assert first.completion == "a paid reply"
    if damage == "full":
        assert isinstance(second, StorageError)
    else:
        assert second.completion == "a paid reply"


def test_a_reply_without_usage_is_estimated(tmp_path: Path) -> None:
    account = Account("m", Budget(tmp_path / "b.json", 1000, None), PRICE)
    asyncio.run(spend(account, ModelOutput("x" * 400)))
    assert json.loads((tmp_path / "b.json").read_text())["models"]["m"][0] == 11 + 101


def test_who_waits_when_the_run_ends_is_let_go(tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    account = Account("m", Budget(file, 30, None), PRICE)

    async def scenario() -> None:
        began = asyncio.Event()

        async def never() -> list[ModelOutput | ModelError]:
            began.set()
            await asyncio.Event().wait()
            raise AssertionError

        first = asyncio.ensure_future(account.pay([40], PARAMS, never))
        await began.wait()
        second = asyncio.ensure_future(spend(account, reply()))
        await asyncio.sleep(0)
        account.closed = True
        with pytest.raises(asyncio.CancelledError):
            await second
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    asyncio.run(scenario())
    assert json.loads(file.read_text())["flight"] == {}


def test_a_model_without_a_price_has_no_part_in_a_budget_of_money(tmp_path: Path) -> None:
    run = RunDirectory.attach(tmp_path)
    with pytest.raises(ConfigError, match="no price is known of model 'm'"):
        Limits(run, None, 1.0).account("m", object(), None)
    assert Limits(run, None, None).account("m", object(), None) is None


def test_a_backend_is_told_where_its_rates_are_shared(tmp_path: Path) -> None:
    class Backend:
        def share_limits(self, path: Path) -> None:
            self.path = path

    backend = Backend()
    Limits(RunDirectory.attach(tmp_path)).account("org/m", backend, None)
    assert backend.path.parent == tmp_path / "limits"
    assert backend.path.name.startswith("rates-org_m")
