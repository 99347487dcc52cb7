from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.inference.records import (
    build_record,
    generation_params,
    prediction_key,
    task_state,
)
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.jsonio import digest
from pytest_evalplug.types import ModelOutput

Make = Callable[..., list[Case]]
GEN = INFERENCERS["gen"]
MODEL = ModelInfo("m", "f1")


def key(case: Case, model: ModelInfo = MODEL, **changed: Any) -> Any:
    payload = changed.get("payload", case.sample.input)
    return prediction_key(model.fingerprint, GEN, payload, generation_params(case, model), case)


def test_the_model_s_settings_win(make_cases: Make) -> None:
    (case,) = make_cases("q", generation={"max_tokens": 9, "stop": "\n"})
    model = ModelInfo("m", "f", {"temperature": 0.5, "max_tokens": 3, "stop": ["a", "b"]})
    params = generation_params(case, model)
    assert (params.max_tokens, params.temperature, params.stop) == (3, 0.5, ("a", "b"))
    assert generation_params(case, MODEL).stop == ("\n",)


@pytest.mark.parametrize(
    ("generation", "seeds"),
    [({"temperature": 1.0}, [5, 6]), ({}, [None, None]), ({"temperature": 1.0, "seed": 1}, [1, 2])],
)
def test_sampled_repeats_get_seeds_of_their_own(
    make_cases: Make, generation: dict[str, Any], seeds: list[int | None]
) -> None:
    cases = make_cases("q", repeats=2, seed=5, generation=generation)
    assert [generation_params(case, MODEL).seed for case in cases] == seeds


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"generation": {"temperature": 0.5}}, ["generation parameters"]),
        ({"repeats": 1}, []),
    ],
)
def test_what_a_key_depends_on(make_cases: Make, change: dict[str, Any], said: list[str]) -> None:
    (case,) = make_cases("q")
    (other,) = make_cases("q", **change)
    assert key(case).differs(key(other).to_wire()) == said


def test_the_key_names_what_changed(make_cases: Make) -> None:
    first, second = make_cases("q", "r")
    assert key(first).differs(key(first).to_wire()) == []
    assert key(first).differs(key(first, ModelInfo("m", "f2")).to_wire()) == ["model"]
    assert key(first).differs(key(first, payload="other").to_wire()) == ["prompt"]
    assert key(first).differs(key(second).to_wire()) == ["prompt", "sample"]


def test_a_record_holds_all_that_was_said(make_cases: Make) -> None:
    (case,) = make_cases("q")
    output = ModelOutput(
        "reply", finish_reason="length", reasoning="hm", usage={"n": 1}, extra={"ppl": [1.0]}
    )
    record = build_record(case, "shown", key(case), output=output, dropped_shots=1)
    assert record == {
        "index": "0",
        "sample_id": "default-0",
        "subset": "default",
        "origin_prompt": "shown",
        "prediction": "reply",
        "gold": "x",
        "choices": ["one", "three"],
        "finish_reason": "length",
        "reasoning": "hm",
        "usage": {"n": 1},
        "ppl": [1.0],
        "dropped_shots": 1,
        "key": key(case).to_wire(),
    }


def test_an_error_has_no_prediction(make_cases: Make) -> None:
    (case,) = make_cases("q")
    record = build_record(case, "shown", key(case), error="no")
    assert record["error"] == "no"
    assert "prediction" not in record


@pytest.mark.parametrize("gold", [0, False, "", ["a", "b"]])
def test_any_reference_is_kept(make_cases: Make, gold: Any) -> None:
    (case,) = make_cases("q")
    case.sample.target = gold
    record = build_record(case, "shown", key(case), output=ModelOutput("x"))
    assert record["gold"] is gold


def test_a_backend_s_own_columns_take_no_other_s_place(make_cases: Make) -> None:
    (case,) = make_cases("q")
    output = ModelOutput("reply", extra={"index": "7", "gold": "!", "key": "!", "mine": 1})
    record = build_record(case, "shown", key(case), output=output)
    assert (record["index"], record["gold"], record["mine"]) == ("0", "x", 1)
    assert record["key"] == key(case).to_wire()


def test_scoring_sees_the_reference_as_it_is_now(make_cases: Make) -> None:
    (case,) = make_cases("q")
    record = build_record(case, "shown", key(case), output=ModelOutput("reply"))
    case.sample.target = "corrected"
    state = task_state(case, "m", record)
    assert state.sample.target == "corrected"
    assert state.sample.choices == ["one", "three"]
    assert state.output.completion == "reply"
    assert state.messages == [{"role": "user", "content": "shown"}]


def test_a_key_is_of_what_is_written_not_of_what_is_equal(
    make_cases: Make,
) -> None:
    (case,) = make_cases("a")
    for temperature in (0, 0.0, 0):
        params = GenerationParams(temperature=temperature)
        key = prediction_key("f", GEN, "a", params, case)
        assert key.params == digest({"mode": "gen", **params.to_wire()})
