"""What is sent in multiple choice, against lm-evaluation-harness (make_lm_eval_choices.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from tests.benchmarks.hub_rows import HUB_ROWS
from tests.benchmarks.make_lm_eval_choices import digest

Make: TypeAlias = Callable[..., DefaultDataAdapter]
FromRows: TypeAlias = Callable[..., DefaultDataAdapter]

SENT = json.loads(Path(__file__).with_name("lm_eval_choices.json").read_text(encoding="utf-8"))


def sent(adapter: DefaultDataAdapter, subset: str) -> list[Any]:
    """Return the pairs of context and continuation of each sample; in gen the prompts."""
    samples = adapter.samples(subset)
    if adapter.options.eval_mode == "gen":
        return [adapter.build_prompt(sample, subset) for sample in samples]
    queries = [adapter.build_query(sample, subset) for sample in samples]
    return [
        [[part.context, text] for part in query.each_context() for text in part.continuations]
        for query in queries
    ]


@pytest.mark.parametrize(
    ("task", "shots", "expected"), SENT["hand"], ids=[f"{t}-{n}" for t, n, _ in SENT["hand"]]
)
def test_hand_made_rows(task: str, shots: int, expected: Any, from_rows: FromRows) -> None:
    name, category = ("mmlu_pro", task[9:]) if task.startswith("mmlu_pro") else (task, "")
    mode = "gen" if category else "ll"
    adapter = from_rows(name, mode, few_shot_num=shots, shuffle_choices=False)
    subset = category or adapter.subset_list[0]
    ours = sent(adapter, subset)
    if name == "copa":  # whose continuations have two spaces there
        ours = [[[context, f" {text}"] for context, text in row] for row in ours]
        expected = [[[c.replace("  ", " "), t] for c, t in row] for row in expected]
    assert ours == expected
    assert len(expected) > 0


@pytest.mark.parametrize("task", SENT["real"])
def test_real_rows(task: str, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, subset = task.partition("_") if task.startswith(("mmlu_", "bbh_")) else (task, "", "")
    adapter = make(name, "gen" if name == "bbh" else "ll", shuffle_choices=False)
    if name == "mmlu":  # whose questions lose their outer white space there
        read = adapter.record_to_sample
        monkeypatch.setattr(adapter, "record_to_sample", lambda row: read(_stripped(row)))
    ours = sent(adapter, subset or adapter.subset_list[0])
    if name == "bbh":
        # there the reasoning is on a line of its own, which it isn't in one published header
        ours = [f"{prompt}\n".replace("by step. ", "by step.\n") for prompt in ours]
    assert digest(ours) == SENT["real"][task]


def _stripped(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "question": row["question"].strip()}


def test_every_benchmark_with_a_task_is_compared() -> None:
    compared = {task for task, _, _ in SENT["hand"]}
    assert compared >= {name for name, splits in HUB_ROWS.items() if "train" in splits}
