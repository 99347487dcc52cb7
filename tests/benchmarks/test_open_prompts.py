"""Prompts as lm-evaluation-harness sends them (tests/parity/make_open_prompts.py), or the paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from tests.parity.make_open_prompts import LANGUAGES, ROWS
from tests.parity.postprocess_replies import digest

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Shipped: TypeAlias = dict[str, type[DefaultDataAdapter]]

LM_EVAL = json.loads(
    Path(__file__).parents[1].joinpath("parity", "open_prompts.json").read_text("utf-8")
)
OTHERS = ("humaneval", "ifeval", "mbpp", "triviaqa", "truthfulqa_gen")


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def prompt(adapter: DefaultDataAdapter, subset: str, row: int) -> str:
    text = adapter.build_prompt(adapter.samples(subset)[row], subset)
    assert isinstance(text, str)
    return text


def digests(adapter: DefaultDataAdapter, subset: str) -> list[str]:
    return [digest([prompt(adapter, subset, row)]) for row in ROWS]


def test_every_stored_prompt_is_compared() -> None:
    tasks = {f"mgsm_native_cot_{language}" for language in LANGUAGES} | {"gsm8k", *OTHERS}
    assert set(LM_EVAL) == tasks


@pytest.mark.parametrize("name", OTHERS)
def test_as_lm_eval(name: str, make: Make) -> None:
    adapter = make(name)
    assert digests(adapter, adapter.subset_list[0]) == LM_EVAL[name]


@pytest.mark.parametrize("language", LANGUAGES)
def test_mgsm_as_lm_eval(language: str, make: Make) -> None:
    assert digests(make("mgsm"), language) == LM_EVAL[f"mgsm_native_cot_{language}"]


def test_gsm8k_with_five_shots_as_lm_eval(shipped: Shipped, data_dir: Path) -> None:
    cls = shipped["gsm8k"]
    meta = cls.__evalplug_meta__.override({"few_shot_num": 5})
    adapter = cls(benchmark_meta=meta, options=AdapterOptions(data_dirs=(data_dir,)))
    assert digests(adapter, "main") == LM_EVAL["gsm8k"]


@pytest.mark.parametrize("language", ["ja", "ru", "zh"])
def test_mgsm_is_put_as_its_exemplars_are(language: str, make: Make, data_dir: Path) -> None:
    exemplars = rows(data_dir / "mgsm" / "exemplars.jsonl")
    shots = [(row["q"], row["a"]) for row in exemplars if row["lang"] == language]
    question = rows(data_dir / "mgsm" / language / "test.jsonl")[3]["question"]
    *shown, asked = prompt(make("mgsm"), language, 3).split("\n\n")
    assert shown == [f"{q}\n{a}" for q, a in shots]
    label, rest = asked.split(question)
    assert len(shots) == 8
    assert all(q.startswith(label) for q, _ in shots)
    assert all(a.startswith(rest.lstrip("\n")) for _, a in shots)


def test_math500_asks_for_a_box(make: Make, data_dir: Path) -> None:
    row = rows(data_dir / "math500" / "test.jsonl")[2]
    assert prompt(make("math500"), "default", 2) == (
        f"{row['problem']}\n"
        "Please reason step by step, and put your final answer within \\boxed{}."
    )


def test_humaneval_chat_shows_the_function_in_a_fence(make: Make, data_dir: Path) -> None:
    row = rows(data_dir / "humaneval" / "test.jsonl")[0]
    head, shown = prompt(make("humaneval_chat"), "default", 0).split("\n\n```python\n")
    assert shown == f"{row['prompt']}```"
    assert "\n" not in head


def test_mbpp_shows_three_tasks_of_the_prompt_split(make: Make, data_dir: Path) -> None:
    shots = rows(data_dir / "mbpp" / "prompt.jsonl")[1:4]
    assert [shot["task_id"] for shot in shots] == [2, 3, 4]
    text = prompt(make("mbpp"), "full", -1)
    assert [text.index(shot["text"]) for shot in shots] == sorted(
        text.index(shot["text"]) for shot in shots
    )
    assert text.count("[BEGIN]\n") == 4
    assert text.count("\n[DONE]\n\n") == 3
    assert text.endswith("\n[BEGIN]\n")
    assert "\r" not in text
