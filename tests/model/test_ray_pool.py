from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError, FatalModelError, ModelError
from pytest_evalplug.model import ray_pool
from pytest_evalplug.model.ray_pool import ATTEMPTS, IN_FLIGHT, LostError, Pool

GONE = LostError("the node died", forever=True)
AWAY = LostError("no answer")


class Fake:
    """A replica that follows a script: errors to raise, in turn; else it echoes."""

    def __init__(self, loads: Any = (), calls: Any = ()) -> None:
        self.loads = deque[EvalplugError | LostError | None](loads)
        self.calls = deque[Exception | None](calls)
        self.held = asyncio.Event()
        self.held.set()
        self.asked: list[str] = []
        self.busy = self.most = 0

    async def load(self) -> None:
        await asyncio.sleep(0)
        error = self.loads.popleft() if self.loads else None
        if error:
            raise error

    async def call(self, method: str, *args: Any) -> Any:
        self.asked.append(args[0])
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0)
        await self.held.wait()
        self.busy -= 1
        error = self.calls.popleft() if self.calls else None
        if error:
            raise error
        return f"{method} {args[0]}"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "PAUSE_SECONDS", 0.001)


def ask(pool: Pool, count: int) -> list[Any]:
    """Return what becomes of ``count`` calls made at once."""

    async def main() -> list[Any]:
        calls = [pool.call("generate", str(n)) for n in range(count)]
        results = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 30)
        pool.close()
        return list(results)

    return asyncio.run(main())


def echoes(count: int) -> list[str]:
    return [f"generate {n}" for n in range(count)]


def test_every_replica_works_and_none_has_more_than_its_share() -> None:
    replicas = [Fake() for _ in range(3)]
    assert ask(Pool("m", replicas), 30) == echoes(30)
    assert all(replica.asked for replica in replicas)
    assert {replica.most for replica in replicas} == {IN_FLIGHT}


def test_the_least_busy_is_asked() -> None:
    async def main() -> None:
        slow, quick = Fake(), Fake()
        slow.held.clear()
        pool = Pool("m", [slow, quick])
        calls = [asyncio.create_task(pool.call("generate", str(n))) for n in range(20)]
        while len(quick.asked) < 18:
            await asyncio.sleep(0)
        assert len(slow.asked) == IN_FLIGHT
        slow.held.set()
        assert await asyncio.gather(*calls) == echoes(20)
        pool.close()

    asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize("error", [GONE, AWAY])
def test_what_a_lost_replica_held_goes_to_another(error: LostError) -> None:
    lost, other = Fake([None, GONE], [error, error]), Fake()
    assert ask(Pool("m", [lost, other]), 8) == echoes(8)
    assert sorted(other.asked) == sorted(map(str, range(8)))  # none twice
    assert len(lost.asked) == IN_FLIGHT


def test_a_replica_that_is_back_works_again() -> None:
    replica = Fake([None, AWAY, AWAY, None], [None, AWAY])
    assert ask(Pool("m", [replica]), 5) == echoes(5)
    assert len(replica.asked) == 6


def test_one_that_comes_later_joins() -> None:
    async def main() -> None:
        late, other = Fake([AWAY] * 5), Fake()
        pool = Pool("m", [late, other])
        while not late.asked:
            await asyncio.gather(*(pool.call("generate", "x") for _ in range(4)))
        pool.close()

    asyncio.run(asyncio.wait_for(main(), 30))


def test_what_takes_every_replica_down_is_an_error_of_its_own() -> None:
    replica = Fake(calls=[AWAY] * ATTEMPTS)
    pool = Pool("m", [replica])

    async def main() -> Any:
        with pytest.raises(ModelError, match="4 replicas were lost while they worked on") as caught:
            await pool.call("generate", "poison")
        assert not isinstance(caught.value, FatalModelError)
        result = await pool.call("generate", "fine")
        pool.close()
        return result

    assert asyncio.run(main()) == "generate fine"


def test_without_a_replica_nothing_goes_on() -> None:
    results = ask(Pool("m", [Fake([None, GONE], [GONE] * 2) for _ in range(2)]), 9)
    assert {str(error) for error in results} == {
        "model 'm': no replica is left. Look at the cluster, then go on with --reuse"
    }
    assert all(isinstance(error, FatalModelError) for error in results)


def test_one_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "PATIENCE_SECONDS", 0.05)
    [error] = ask(Pool("m", [Fake([AWAY] * 10_000)]), 1)
    assert isinstance(error, FatalModelError)
    assert "no replica has come back within 0 seconds" in str(error)


def test_work_that_takes_long_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_pool, "PATIENCE_SECONDS", 0.01)

    async def main() -> list[str]:
        replica = Fake()
        replica.held.clear()
        pool = Pool("m", [replica])
        calls = [asyncio.create_task(pool.call("generate", str(n))) for n in range(IN_FLIGHT + 1)]
        done, _ = await asyncio.wait(calls, timeout=0.1)
        assert not done
        replica.held.set()
        results = await asyncio.gather(*calls)
        pool.close()
        return results

    assert asyncio.run(main()) == echoes(IN_FLIGHT + 1)


def test_a_model_that_a_node_lacks_stops_the_run() -> None:
    missing = ConfigError("no folder 'm'", where="model 'm'", fix="Mount it")
    [error] = ask(Pool("m", [Fake([missing])]), 1)
    assert isinstance(error, FatalModelError)
    assert str(error) == "model 'm': no folder 'm'. Mount it"


def test_a_replica_that_has_no_room_for_it_does_not() -> None:
    full = ModelError("CUDA out of memory")
    assert ask(Pool("m", [Fake([full]), Fake()]), 8) == echoes(8)
    [error] = ask(Pool("m", [Fake([full])]), 1)
    assert "no replica is left" in str(error)


def test_a_node_that_lacks_it_later_does_not() -> None:
    missing = ConfigError("no folder 'm'")
    moved = Fake([None, missing], [AWAY, AWAY])
    assert ask(Pool("m", [moved, Fake()]), 8) == echoes(8)


def test_an_error_of_the_model_is_not_tried_elsewhere() -> None:
    replica = Fake(calls=[ModelError("too hot")])
    error, fine = ask(Pool("m", [replica]), 2)
    assert str(error) == "too hot"
    assert fine == "generate 1"
    assert replica.asked == ["0", "1"]
