"""Replicas against a Ray that is played by a few lines; test_ray_real.py has the real one."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, ModelError
from pytest_evalplug.model import ray_cluster
from pytest_evalplug.model.ray_backend import RayBackend, _own_replicas, _room, _translated
from pytest_evalplug.model.ray_pool import LostError
from pytest_evalplug.model.ray_replica import ModelActor
from pytest_evalplug.model.spec import HFOptions, resolve_model


class RayError(Exception):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class Passing(RayError):
    pass


PLACED = object()
"""Stands for an actor that has room."""


class FakeRay(SimpleNamespace):
    """Ray, as far as it is used: a reference is the error or None that it stands for."""

    def __init__(self, running: bool = True, loads: Sequence[Exception | None] = ()) -> None:
        passing = ("ActorUnavailableError", "NodeDiedError", "ObjectLostError")
        errors = dict.fromkeys((*passing, "OutOfMemoryError", "RpcError"), Passing)
        super().__init__(
            exceptions=SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError, **errors)
        )
        self.running = running
        self.loads = [*loads]
        self.log: list[str] = []
        self.room_after = 0
        """How many waits for room end without any."""
        self.refuses: Exception | None = None
        self.cluster: dict[str, float] = {"CPU": 8.0}
        self.connected = False
        self.made: list[Any] = []

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, address: str, **options: Any) -> None:
        self.log.append(f"init {address}")
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if self.refuses:
            raise self.refuses
        if address == "auto" and not self.running:
            raise ConnectionError("no instance")
        self.connected = True

    def shutdown(self) -> None:
        self.log.append("shutdown")
        self.connected = False

    def nodes(self) -> list[dict[str, Any]]:
        dead = {"Alive": False, "Resources": {"CPU": 64.0, "GPU": 8.0}}
        return [{"Alive": True, "Resources": self.cluster}, dead]

    def cluster_resources(self) -> dict[str, float]:
        return self.cluster

    def remote(self, cls: type) -> Any:
        assert cls is ModelActor

        def options(**given: Any) -> Any:
            def remote(name: str, hf: HFOptions) -> Any:
                self.made.append((given, hf))
                load = SimpleNamespace(remote=lambda: self.loads.pop(0) if self.loads else None)
                placed = SimpleNamespace(remote=lambda: PLACED)
                return SimpleNamespace(load=load, placed=placed)

            return SimpleNamespace(remote=remote)

        return SimpleNamespace(options=options)

    def wait(self, waiting: list[Any], num_returns: int, timeout: float | None) -> Any:
        if waiting[0] is PLACED and self.room_after:
            assert timeout is not None
            self.room_after -= 1
            return [], waiting
        return waiting[:1], waiting[1:]

    def get(self, reference: Any) -> None:
        if reference is not None:
            raise reference

    def kill(self, actor: Any) -> None:
        self.log.append("kill")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    ray = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", ray)
    for name in ("RAY_ADDRESS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ray_cluster, "_members", 0)
    monkeypatch.setattr(ray_cluster, "_joined", False)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return ray


def backend(**options: Any) -> RayBackend:
    table = {"backend": "hf", "model": "m", "engine": "ray", **options}
    made = resolve_model("many", {"many": table}).create()
    assert isinstance(made, RayBackend)
    return made


def failure(**options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        backend(**options)
    text = str(caught.value)
    assert text.startswith("model 'many': ")
    assert "\n" not in text
    return text


def test_a_cluster_that_runs_is_joined_and_left(fake: FakeRay) -> None:
    before = signal.getsignal(signal.SIGTERM)
    model = backend(replicas=3, batch_size=4)
    assert (model.batch_size, model.concurrency) == (4, 6)
    assert model.capabilities == {"generate", "loglikelihood"}
    model.close()
    model.close()
    assert fake.log == ["init auto", "kill", "kill", "kill", "shutdown"]
    assert signal.getsignal(signal.SIGTERM) == before


def test_where_none_runs_one_is_started(fake: FakeRay) -> None:
    fake.running = False
    backend().close()
    assert fake.log == ["init auto", "init local", "kill", "shutdown"]


def test_the_last_model_leaves_the_cluster(fake: FakeRay) -> None:
    first, second = backend(), backend()
    first.close()
    assert fake.connected
    second.close()
    assert fake.log == ["init auto", "kill", "kill", "shutdown"]


def test_a_connection_of_the_user_is_used_and_kept(fake: FakeRay) -> None:
    fake.connected = True
    backend().close()
    assert fake.log == ["kill"]


def test_an_address_where_nobody_is_fails_at_once(fake: FakeRay) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        text = failure(ray_address=address)
    assert f"no Ray cluster at {address!r}" in text
    assert "Check ray_address and RAY_ADDRESS" in text
    assert fake.log == []


def test_the_address_in_the_environment(fake: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    fake.running = False
    assert "no Ray cluster at 'auto'" in failure()  # none is started where one is named
    backend(ray_address="local").close()
    assert fake.log == ["init auto", "init local", "kill", "shutdown"]


def test_workers_have_their_part_of_the_replicas(
    fake: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [_own_replicas(5, number, 3, "") for number in range(3)] == [2, 2, 1]
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw5")  # in the place of gw2, which crashed
    model = backend(replicas=5)
    model.close()
    assert len(fake.made) == 1
    assert model.concurrency == 10  # of all workers; each takes its part
    assert "replicas = 2 are too few for 3 workers" in failure(replicas=2)
    fake.running = False
    assert "with -n its replicas need a Ray cluster that is running" in failure(replicas=3)


def test_room_is_that_of_whole_nodes() -> None:
    nodes = [{"CPU": 4.0, "GPU": 3.0}, {"CPU": 1.0, "GPU": 8.0}, {"GPU": 1.0}, {"CPU": 2.0}]
    assert [_room(nodes, gpus) for gpus in (0, 1, 2, 4, 0.5, 16)] == [7, 4, 2, 1, 5, 0]


def test_gpus_are_taken_where_there_are_some(fake: FakeRay) -> None:
    backend(num_gpus=0, device="auto").close()
    backend().close()
    fake.cluster = {"CPU": 8.0, "GPU": 2.0}
    backend(replicas=2).close()
    backend(num_gpus=0.5).close()
    backend(num_gpus=2, model_kwargs={"device_map": "auto"}).close()
    found = [(given["num_gpus"], hf.device) for given, hf in fake.made]
    assert found == [(0, "cpu"), (0, "cpu"), *[(1, "auto")] * 2, (0.5, "auto"), (2, "auto")]
    assert "num_gpus is 2, but the model is put on one GPU" in failure(num_gpus=2)
    assert "no node of the Ray cluster has 4 GPUs" in failure(
        num_gpus=4, model_kwargs={"device_map": "auto"}
    )
    assert not fake.connected


def test_a_full_cluster_is_waited_for_and_said(
    fake: FakeRay, caplog: pytest.LogCaptureFixture
) -> None:
    fake.room_after = 1
    backend().close()
    assert caplog.messages == ["model 'many': no replica has room yet, see 'ray status'"]
    fake.room_after = 2
    assert "no replica has found room in the Ray cluster for 900 seconds" in failure()
    assert fake.log[-2:] == ["kill", "shutdown"]


def test_a_cluster_that_wants_a_token(fake: FakeRay) -> None:
    fake.refuses = RayError("no authentication token was found")
    assert "no authentication token was found" in failure()
    assert "RAY_AUTH_TOKEN or ~/.ray/auth_token" in failure(ray_address="ray")
    fake.refuses = ConnectionError(
        "Failed to connect"
    )  # that is all that Ray says about a wrong one
    assert "RAY_AUTH_TOKEN or ~/.ray/auth_token" in failure(ray_address="ray")


def test_a_cluster_that_is_gone_is_left_all_the_same(fake: FakeRay) -> None:
    model = backend(replicas=2)
    tried: list[Any] = []

    def kill(actor: Any) -> None:
        tried.append(actor)
        raise RayError("gone")

    fake.kill = kill  # type: ignore[method-assign]
    model.close()
    assert len(tried) == 2
    assert fake.log == ["init auto", "shutdown"]


def test_a_model_that_cannot_be_had_is_one_clear_line(fake: FakeRay) -> None:
    cause = ConfigError("no folder 'm'", where="model 'many'", fix="Mount it")
    fake.loads = [None, RayTaskError(cause)]
    assert failure(replicas=3) == "model 'many': no folder 'm'. Mount it"
    assert fake.log == ["init auto", "kill", "kill", "kill", "shutdown"]


def test_replicas_that_die_at_once(fake: FakeRay) -> None:
    fake.loads = [RayError("died"), None]
    backend(replicas=2).close()  # one will do
    fake.loads = [RayError("died"), RayError("died")]
    assert "no replica could load the model, the last one: RayError: died" in failure(replicas=2)


def test_a_gpu_that_is_full_leaves_the_others(fake: FakeRay) -> None:
    full = RayTaskError(RuntimeError("CUDA out of memory"))
    fake.loads = [full, None]
    backend(replicas=2).close()
    fake.loads = [full]
    assert "the last one: RuntimeError: CUDA out of memory" in failure()


def test_a_local_path_is_sent_whole(
    fake: FakeRay, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m").mkdir()
    backend(tokenizer="org/other").close()
    [(_, hf)] = fake.made
    assert (hf.model, hf.tokenizer) == (str(tmp_path / "m"), "org/other")


def test_what_errors_mean(fake: FakeRay) -> None:
    own = ConfigError("x")
    assert _translated(fake, RayTaskError(own)) is own
    other = _translated(fake, RayTaskError(ValueError("a\nb")))
    assert isinstance(other, ModelError)
    assert str(other) == "ValueError: a b"
    for error, forever in ((RayError("dead"), True), (Passing("away"), False)):
        lost = _translated(fake, error)
        assert isinstance(lost, LostError)
        assert lost.forever is forever
    assert isinstance(_translated(fake, KeyError("k")), KeyError)


def test_ray_is_named_where_it_is_missing(fake: FakeRay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert "pip install 'pytest-evalplug[ray]'" in failure()


class TestActor:
    @pytest.fixture
    def actor(self, monkeypatch: pytest.MonkeyPatch) -> ModelActor:
        actor = ModelActor("m", HFOptions(model="./none"))
        broken = SimpleNamespace(say=str, fail=self.fail)
        monkeypatch.setattr(actor, "_loaded", lambda: broken)
        return actor

    @staticmethod
    def fail(message: str) -> None:
        raise RuntimeError(message)

    def test_calls(self, actor: ModelActor) -> None:
        pytest.importorskip("torch")
        assert actor.call("say", 3) == "3"
        with pytest.raises(RuntimeError, match="shapes"):
            actor.call("fail", "shapes do not match")

    def test_a_process_whose_gpu_is_lost_ends(
        self, actor: ModelActor, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("torch")
        ended: list[int] = []
        monkeypatch.setattr("os._exit", ended.append)
        with pytest.raises(RuntimeError):
            actor.call("fail", "CUDA error: out of memory")
        assert ended == []
        with pytest.raises(RuntimeError):  # only here does anything come after _exit
            actor.call("fail", "CUDA error: device-side assert triggered")
        assert ended == [1]

    def test_loading_fails_with_an_answer(self) -> None:
        pytest.importorskip("transformers")
        with pytest.raises(ConfigError, match="no file or folder"):
            ModelActor("m", HFOptions(model="./none")).load()
