from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug import DefaultDataAdapter
from pytest_evalplug.errors import FatalModelError, ModelError, NotApplicable, TooLongError
from pytest_evalplug.inference import engine as engine_module
from pytest_evalplug.inference import window
from pytest_evalplug.inference.batcher import StoppedError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.engine import Engine
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.inference.saved import SavedPredictions
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.types import ModelOutput, Prompt, Sample

from .conftest import Backend, Quiz

Make = Callable[..., list[Case]]
Start = Callable[..., Engine]
MODEL = ModelInfo("echo", "f")


@pytest.fixture
def start(store: PredictionStore, tmp_path: Path) -> Iterator[Start]:
    """Return what starts an engine; all are closed at the end."""
    engines: list[Engine] = []

    def make(backend: Any, plan: Sequence[Case] = (), mode: str = "gen", **settings: Any) -> Engine:
        engine = Engine(
            backend, INFERENCERS[mode], store, model=MODEL, output_dir=tmp_path, **settings
        )
        engines.append(engine)
        engine.plan(plan)
        return engine

    yield make
    for engine in engines:
        engine.close()
    assert not [t for t in threading.enumerate() if t.name == "evalplug-engine"]


def test_it_works_ahead_in_the_plan_s_order(start: Start, make_cases: Make) -> None:
    cases = make_cases(*(f"q{n}" for n in range(12)))
    backend = Backend(batch_size=4)
    engine = start(backend, cases)
    assert [engine.result(case)["prediction"] for case in cases] == [f"<q{n}>" for n in range(12)]
    assert [len(batch) for batch in backend.batches] == [4, 4, 4]
    assert engine.counts == {"asked": 12}


def test_a_case_outside_the_plan_is_asked_on_demand(start: Start, make_cases: Make) -> None:
    first, second = make_cases("a", "b")
    engine = start(Backend(), [first])
    assert engine.result(second)["prediction"] == "<b>"


def test_a_case_is_asked_once(start: Start, make_cases: Make) -> None:
    (case,) = make_cases("a")
    backend = Backend()
    engine = start(backend, [case])
    assert engine.result(case) == engine.result(case)
    engine.forget(case)
    assert engine.result(case)["prediction"] == "<a>"  # from the journal now
    assert backend.batches == [["a"]]


def test_a_further_test_of_a_sample_does_not_count_again(start: Start, make_cases: Make) -> None:
    cases = make_cases("a", "fail")
    backend = Backend()
    engine = start(backend, cases)
    for _ in range(2):
        assert engine.result(cases[0])["prediction"] == "<a>"
        with pytest.raises(ModelError, match="no"):
            engine.result(cases[1])
        for case in cases:
            engine.forget(case)
    assert engine.counts == {"asked": 1}
    assert backend.batches == [["a"], ["fail"]]


def test_what_the_first_test_did_not_want_is_not_asked_again(
    start: Start, make_cases: Make
) -> None:
    class Slow(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> Sequence[ModelOutput | str | ModelError]:
            time.sleep(0.2)
            return super().generate(prompts, params)

    (case,) = make_cases("a")
    backend = Slow()
    engine = start(backend, [case])
    time.sleep(0.05)  # it is under way
    engine.forget(case)
    assert engine.result(case)["prediction"] == "<a>"
    assert backend.batches == [["a"]]


def test_what_a_crashed_worker_left_is_found(
    start: Start, make_cases: Make, store: PredictionStore, tmp_path: Path
) -> None:
    mine, other_s = make_cases("a", "b")
    backend = Backend()
    engine = start(backend, [mine])
    engine.result(mine)  # by now all journals have been looked at
    (run,) = (tmp_path / "runs").iterdir()
    theirs = PredictionStore(RunDirectory.attach(run), "gw1")
    crashed = Engine(Backend(), INFERENCERS["gen"], theirs, model=MODEL, output_dir=tmp_path)
    crashed.result(other_s)
    crashed.close()
    theirs.close()
    assert engine.result(other_s)["prediction"] == "<b>"
    assert backend.batches == [["a"]]
    assert engine.counts == {"asked": 1, "reused": 1}


def test_others_journals_are_not_looked_at_for_every_sample(
    start: Start, make_cases: Make, store: PredictionStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "LOOK_SECONDS", 3600)
    looks: list[int] = []
    monkeypatch.setattr(store, "refresh", lambda: looks.append(1))
    engine = start(Backend())
    for case in make_cases(*"abc"):
        engine.result(case)
    assert looks == [1]


def test_what_is_under_way_at_the_end_may_tidy_up(
    start: Start, make_cases: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_module, "GRACE_SECONDS", 0.05)
    tidied: list[int] = []
    began = threading.Event()

    class Tidy(Quiz):
        async def _on_inference(self, model: Any, sample: Sample) -> Any:
            began.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0.05)
                tidied.append(1)

    (case,) = make_cases("a", cls=Tidy)
    engine = start(Backend(), [case])
    began.wait(10)
    engine.close()
    assert tidied == [1]
    with pytest.raises(StoppedError):
        engine.result(case)


def test_a_corrected_reference_is_kept_with_the_old_reply(
    start: Start, make_cases: Make, store: PredictionStore
) -> None:
    first, second = make_cases("a", "b")
    engine = start(Backend(), [first, second])
    engine.result(first)
    engine.result(second)
    first.sample.target = second.sample.target = "corrected"
    assert start(Backend()).result(first)["gold"] == "corrected"
    assert SavedPredictions(INFERENCERS["gen"], store, MODEL).result(second)["gold"] == "corrected"
    for index in ("0", "1"):
        saved = store.get("echo", "quiz", index)
        assert saved is not None
        assert saved["gold"] == "corrected"


@pytest.mark.parametrize(
    ("bound", "most", "asked"),
    [("COUNT", 5, {5}), ("CHARACTERS", 5000, {*range(3, 60)})],  # what is under way is asked, too
)
def test_the_window_bounds_what_waits(
    start: Start,
    make_cases: Make,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    most: int,
    asked: set[int],
) -> None:
    monkeypatch.setattr(window, bound, most)
    cases = make_cases(*(f"q{n} {'x' * 1000}" for n in range(60)))
    backend = Backend()
    engine = start(backend, cases)
    time.sleep(0.2)
    assert len(backend.batches) in asked
    for case in cases:
        engine.result(case)
        engine.forget(case)
    assert len(backend.batches) == 60


def test_what_is_over_before_its_turn_is_not_asked(
    start: Start, make_cases: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "COUNT", 2)
    cases = make_cases(*"abcd")
    backend = Backend()
    engine = start(backend, [*cases, *cases])  # two tests of each
    engine.forget(cases[2])  # both of its
    engine.forget(cases[2])
    engine.forget(cases[3])  # the first of its
    for case in (cases[0], cases[1], cases[3]):
        engine.result(case)
        engine.forget(case)
    engine.close()
    assert backend.batches == [["a"], ["b"], ["d"]]


def test_errors_are_kept_and_asked_again(
    start: Start, make_cases: Make, store: PredictionStore
) -> None:
    (case,) = make_cases("fail")
    engine = start(Backend())
    with pytest.raises(ModelError, match="no"):
        engine.result(case)
    saved = store.lookup("echo", "quiz", "0")
    assert saved is not None
    assert saved["error"] == "no"
    backend = Backend()
    with pytest.raises(ModelError):
        start(backend).result(case)
    assert len(backend.batches) == 1


def test_a_saved_prediction_is_served(
    start: Start, make_cases: Make, store: PredictionStore
) -> None:
    cases = make_cases("a", "b")
    start(Backend()).result(cases[0])
    backend = Backend()
    engine = start(backend, cases)
    assert [engine.result(case)["prediction"] for case in cases] == ["<a>", "<b>"]
    assert backend.batches == [["b"]]
    assert engine.counts == {"reused": 1, "asked": 1}


def test_a_prompt_that_is_too_long_loses_shots_first(start: Start, make_cases: Make) -> None:
    class Short(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[ModelOutput | str | ModelError]:
            self.batches.append(list(prompts))
            return ["ok" if str(p).count("Shot") < 2 else TooLongError("long") for p in prompts]

    class Shots(Quiz):
        def few_shots(self, sample: Sample, subset: str) -> list[str]:
            return ["Shot"] * self.few_shot_num

    (case,) = make_cases("q", cls=Shots, few_shot_num=3)
    backend = Short()
    record = start(backend).result(case)
    assert record["prediction"] == "ok"
    assert record["dropped_shots"] == 2
    assert record["origin_prompt"].count("Shot") == 1
    assert len(backend.batches) == 3


def test_a_prompt_that_never_fits_is_an_error(start: Start, make_cases: Make) -> None:
    class Tiny(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[ModelOutput | str | ModelError]:
            return [TooLongError("too long: 9 of 5 tokens") for _ in prompts]

    (case,) = make_cases("q")
    with pytest.raises(TooLongError, match="9 of 5"):
        start(Tiny()).result(case)


def test_a_fatal_error_ends_the_look_ahead(start: Start, make_cases: Make) -> None:
    class Dead(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[ModelOutput | str | ModelError]:
            self.batches.append(list(prompts))
            raise FatalModelError("key")

    cases = make_cases(*(f"q{n}" for n in range(50)))
    backend = Dead()
    engine = start(backend, cases)
    for case in cases:
        with pytest.raises(FatalModelError):
            engine.result(case)
    assert len(backend.batches) == 1
    assert str(engine.fatal) == "key"


def test_an_error_in_the_author_s_prompt_is_that_sample_s(start: Start, make_cases: Make) -> None:
    class Broken(Quiz):
        def format_prompt_template(self, sample: Sample) -> str:
            if sample.input == "b":
                raise ValueError("no b")
            return str(sample.input)

    cases = make_cases("a", "b", "c", cls=Broken)
    engine = start(Backend(), cases)
    assert engine.result(cases[0])["prediction"] == "<a>"
    with pytest.raises(ModelError, match="default-1: ValueError: no b"):
        engine.result(cases[1])
    assert engine.result(cases[2])["prediction"] == "<c>"


class Skipped(BaseException):
    """As pytest's own."""


@pytest.mark.parametrize("timeout", [None, 60.0])
@pytest.mark.parametrize("place", ["format_prompt_template", "_on_inference", "run_inference"])
@pytest.mark.parametrize("coroutine", [False, True])
def test_whatever_author_code_raises_is_that_sample_s(
    start: Start, make_cases: Make, place: str, coroutine: bool, timeout: float | None
) -> None:
    errors = [SystemExit(3), KeyboardInterrupt("stop"), StopIteration("end"), Skipped("not now")]

    def plain(self: Any, *args: Any) -> str:
        number = int(args[-2 if place == "run_inference" else -1].input)
        if number:
            raise errors[number - 1]
        return "0"

    async def waiting(self: Any, *args: Any) -> str:
        return plain(self, *args)

    own = waiting if coroutine and place != "format_prompt_template" else plain
    cases = make_cases(*"012340", cls=type("Own", (Quiz,), {place: own}))
    engine = start(Backend(), cases, timeout=timeout)
    for case, match in [
        (cases[1], "SystemExit: 3"),
        (cases[2], "KeyboardInterrupt: stop"),
        (cases[3], "StopIteration"),
    ]:
        with pytest.raises(ModelError, match=match):
            engine.result(case)
    with pytest.raises(NotApplicable, match="not now"):
        engine.result(cases[4])
    assert "0" in engine.result(cases[5])["prediction"]


def test_whatever_a_backend_raises_is_its_batch_s(start: Start, make_cases: Make) -> None:
    class Leaving(Backend):
        async def generate(  # type: ignore[override]
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[str]:
            if prompts == ["b"]:
                raise SystemExit(3)
            return ["x"]

    cases = make_cases("a", "b", "c")
    engine = start(Leaving(), cases, timeout=60.0)
    assert engine.result(cases[0])["prediction"] == "x"
    with pytest.raises(ModelError, match="SystemExit: 3"):
        engine.result(cases[1])
    assert engine.result(cases[2])["prediction"] == "x"


@pytest.mark.parametrize("mode", ["ppl", "ll"])
def test_choices(start: Start, make_cases: Make, mode: str) -> None:
    (case,) = make_cases("q")
    record = start(Backend(), mode=mode).result(case)
    assert record["prediction"] == "A"
    assert record["origin_prompt"] == "q"


@pytest.mark.parametrize("mode", ["ppl", "ll"])
@pytest.mark.parametrize("hook", ["_on_inference", "run_inference"])
def test_an_own_way_to_ask_does_not_apply_to_choices(
    start: Start, make_cases: Make, mode: str, hook: str
) -> None:
    def own(self: Any, *args: Any) -> str:
        return "B"

    (case,) = make_cases("q", cls=type("Own", (Quiz,), {hook: own}))
    with pytest.raises(NotApplicable, match=f"quiz: asks in its own way; {mode} mode"):
        start(Backend(), mode=mode).result(case)


def test_the_model_for_an_author_s_test(start: Start, make_cases: Make) -> None:
    (case,) = make_cases("q", generation={"max_tokens": 7})

    class Noting(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> Sequence[ModelOutput | str | ModelError]:
            return [f"{params.max_tokens}" for _ in prompts]

    assert start(Noting()).facade(case).generate("x").completion == "7"
    with pytest.raises(NotApplicable, match="not asked for text in ll mode"):
        start(Noting(), mode="ll").facade(case).generate("x")


def test_a_sample_without_choices_does_not_apply(start: Start, make_cases: Make) -> None:
    (case,) = make_cases("q")
    case.sample.choices = None
    with pytest.raises(NotApplicable):
        start(Backend(), mode="ll").result(case)


@pytest.mark.parametrize("returned", [None, 3])
def test_a_hook_that_returns_nothing_says_so(
    start: Start, make_cases: Make, returned: object
) -> None:
    class Silent(Quiz):
        def _on_inference(self, model: Any, sample: Sample) -> Any:
            return returned

    (case,) = make_cases("q", cls=Silent)
    with pytest.raises(ModelError, match="an inference hook returned"):
        start(Backend()).result(case)


def test_hooks_of_many_samples_run_at_once(start: Start, make_cases: Make) -> None:
    together = threading.Barrier(16)

    class Meeting(Quiz):
        def _on_inference(self, model: Any, sample: Sample) -> Any:
            together.wait(30)  # broken unless all are here
            return model.generate(sample.input)

    cases = make_cases(*(f"q{n}" for n in range(16)), cls=Meeting)
    engine = start(Backend(batch_size=16), cases)
    for case in cases:
        engine.result(case)


def test_waiting_ticks(start: Start, make_cases: Make) -> None:
    class Slow(Backend):
        def generate(
            self, prompts: Sequence[Prompt], params: GenerationParams
        ) -> list[ModelOutput | str | ModelError]:
            time.sleep(0.5)
            return ["x" for _ in prompts]

    (case,) = make_cases("q")
    ticks: list[int] = []
    start(Slow()).result(case, lambda: ticks.append(1))
    assert 1 <= len(ticks) <= 3


def test_closing_twice_and_forgetting_late_is_fine(start: Start, make_cases: Make) -> None:
    (case,) = make_cases("q")
    engine = start(Backend(), [case])
    engine.close()
    engine.close()
    engine.forget(case)
    with pytest.raises(StoppedError):
        engine.result(case)


def test_saved_predictions_need_no_backend(
    start: Start, make_cases: Make, store: PredictionStore
) -> None:
    good, bad, missing = make_cases("a", "fail", "c")
    engine = start(Backend())
    record = engine.result(good)
    with pytest.raises(ModelError):
        engine.result(bad)
    saved = SavedPredictions(INFERENCERS["gen"], store, MODEL)
    assert saved.result(good) == record
    with pytest.raises(ModelError, match="saved error"):
        saved.result(bad)
    with pytest.raises(ModelError, match="no saved prediction of echo"):
        saved.result(missing)
    stale = SavedPredictions(INFERENCERS["gen"], store, ModelInfo("echo", "f", {"max_tokens": 1}))
    with pytest.raises(ModelError, match="stale: changed generation parameters"):
        stale.result(good)


def test_an_adapter_is_one_of_ours(make_cases: Make) -> None:
    (case,) = make_cases("q")
    assert isinstance(case.adapter, DefaultDataAdapter)
    assert case.dataset == "quiz"
