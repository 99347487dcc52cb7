from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.inference.inferencers import INFERENCERS
from pytest_evalplug.inference.saved import SavedPredictions, asks_about
from pytest_evalplug.model.spec import ModelInfo
from pytest_evalplug.run.predictions import PredictionStore
from pytest_evalplug.types import Sample

Make: TypeAlias = Callable[..., list[Case]]

QUESTION = Sample("What is\n 2 + 2?", "4")
CHOICES = Sample("Which?", "B", choices=["a red one", "a blue one"])


def user(text: str) -> list[dict[str, str]]:
    shot = {"role": "user", "content": "What is 3 + 3?"}
    reply = {"role": "assistant", "content": "6"}
    return [shot, reply, {"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("record", "sample"),
    [
        ({"origin_prompt": "Think.\n\nQ: What is 2 +  2?\nA:"}, QUESTION),
        ({"origin_prompt": user("What is 2 + 2?")}, QUESTION),
        ({"origin_prompt": [*user("What is 2 + 2?"), {"role": "assistant"}]}, QUESTION),
        ({"origin_prompt": "rendered", "doc": {"q": "What is 2 + 2?", "n": 3}}, QUESTION),
        ({"origin_prompt": "Which?\nA. a red one\nB. a blue one"}, CHOICES),
        ({"origin_prompt": "Which? (a red one, or else a blue one)"}, CHOICES),
        (
            {"origin_prompt": "Say.\nOptions: a red one, a blue one"},
            Sample("Say. Options: a red one, a blue one", "", choices=["a red one", "a blue one"]),
        ),
        ({"origin_prompt": "Q: 1"}, Sample([{"role": "user", "content": "Q: 1"}], "")),
    ],
)
def test_a_prompt_of_the_sample(record: dict[str, Any], sample: Sample) -> None:
    assert asks_about(record, sample)


@pytest.mark.parametrize(
    ("record", "sample"),
    [
        ({}, QUESTION),
        ({"origin_prompt": "What is 2 + 3?"}, QUESTION),
        ({"origin_prompt": user("What is 2 + 2?")}, Sample("What is 3 + 3?", "6")),  # a shot
        ({"origin_prompt": [{"role": "system", "content": "What is 2 + 2?"}]}, QUESTION),
        ({"origin_prompt": ["What is 2 + 2?", 3, {"role": "user", "content": 4}]}, QUESTION),
        ({"origin_prompt": "Which?\nA. a blue one\nB. a red one"}, CHOICES),  # in another order
        ({"origin_prompt": "a red one, a blue one: Which?"}, CHOICES),
        ({"origin_prompt": "Which?\nA. a red one"}, CHOICES),
        ({"doc": {"q": "Which?", "choices": CHOICES.choices}}, CHOICES),  # how were they shown?
        ({"doc": {"q": "no. What is 2 + 2?"}, "origin_prompt": 3}, QUESTION),
        ({"origin_prompt": "anything", "doc": {"q": ""}}, Sample(" ", "")),
    ],
)
def test_a_prompt_of_another(record: dict[str, Any], sample: Sample) -> None:
    assert not asks_about(record, sample)


def test_an_imported_reply_is_served_for_its_question_only(
    make_cases: Make, store: PredictionStore
) -> None:
    mine, other = make_cases("first", "second")
    for index in "01":
        record = {"origin_prompt": "first: one, three", "prediction": "r", "gold": "?"}
        store.put("m", "quiz", {"index": index, **record, "imported": {"from": "run"}})
    saved = SavedPredictions(INFERENCERS["gen"], store, ModelInfo("m", "imported"))
    found = saved.result(mine)
    assert (found["prediction"], found["sample_id"], found["subset"]) == (
        "r",
        mine.item_id,
        mine.subset,
    )
    assert found["gold"] == mine.sample.target
    assert saved.result(mine) == found  # as well with its reference corrected in the store
    with pytest.raises(ModelError, match="the imported reply of m is to another question"):
        saved.result(other)
    by_likelihood = SavedPredictions(INFERENCERS["ppl"], store, ModelInfo("m", "imported"))
    with pytest.raises(ModelError, match="was imported, and is none by likelihood"):
        by_likelihood.result(mine)
