"""What EvalScope's tutorial teaches to write works here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug import ModelOutput, TaskState
from pytest_evalplug.dataset.adapter import AdapterOptions

from .seed_adapters import GSM8KAdapter, MMLUProAdapter


def test_gsm8k_on_the_real_data(data_dir: Path) -> None:
    adapter = GSM8KAdapter(options=AdapterOptions(data_dirs=(data_dir,)))
    assert adapter.subsets() == ["main"]
    samples = adapter.samples("main")
    assert len(samples) == 1319
    assert all("####" not in s.target and s.metadata for s in samples)
    shown = adapter.build_prompt(samples[0], "main")
    assert isinstance(shown, str)
    assert shown.count("ANSWER: $ANSWER") == 2
    assert shown.count("Reasoning:\n") == 5
    assert shown.endswith("\\boxed command.\n\nReasoning:\n")
    for sample in samples:
        prompt = adapter.build_prompt(sample, "main")
        assert isinstance(prompt, str)
        assert prompt.count(str(sample.input)) == 1


def mmlu_pro_row(category: str, number: int) -> dict[str, Any]:
    return {
        "question_id": number,
        "question": f"{category} question {number}?",
        "options": [f"option {n} {{x}}" for n in range(10)],
        "answer": "ABCDEFGHIJ"[number % 10],
        "cot_content": f"A: Let's think. The answer is ({'ABCDEFGHIJ'[number % 10]}).",
        "category": category,
    }


@pytest.fixture
def mmlu_pro(write: Callable[[str, str | bytes], Path], tmp_path: Path) -> MMLUProAdapter:
    for split, number in [("test", 12), ("validation", 5)]:
        rows = [mmlu_pro_row(c, n) for n in range(number) for c in ("Math", "Computer Science")]
        write(f"mmlu_pro/{split}.jsonl", "\n".join(json.dumps(row) for row in rows))
    return MMLUProAdapter(options=AdapterOptions(data_dirs=(tmp_path,), limit=10))


def test_mmlu_pro(mmlu_pro: MMLUProAdapter) -> None:
    samples = mmlu_pro.samples("math")
    assert [s.index for s in samples] == [str(n) for n in range(0, 20, 2)]
    assert [s.target for s in samples] == list("ABCDEFGHIJ")
    prompt = mmlu_pro.build_prompt(samples[7], "math")
    assert isinstance(prompt, str)
    assert "Computer" not in prompt
    assert prompt.count("A: Let's think. ANSWER: ") == 5
    assert "LETTER is one of A, B, C, D, E, F, G, H, I, J. Think" in prompt
    assert prompt.endswith(
        "Math question 7?\nOptions:\n"
        + "".join(f"{letter}. option {n} {{x}}\n" for n, letter in enumerate("ABCDEFGHIJ"))
    )


def test_mmlu_pro_is_scored(mmlu_pro: MMLUProAdapter) -> None:
    sample = mmlu_pro.samples("math")[9]
    for reply, value in [("So.\nANSWER: J", 1.0), ("So.\nANSWER: I", 0.0), ("No idea.", 0.0)]:
        state = TaskState("m", sample, [], ModelOutput(reply), sample_id="9", group_id="9")
        assert list(mmlu_pro.calculate_metrics(state).score.value.values()) == [value]


def test_gsm8k_is_scored(data_dir: Path) -> None:
    adapter = GSM8KAdapter(options=AdapterOptions(data_dirs=(data_dir,), limit=1))
    (sample,) = adapter.samples("main")
    for reply, value in [("16 - 7 = 9, so $18.\nANSWER: 18", 1.0), ("ANSWER: 19", 0.0)]:
        state = TaskState("m", sample, [], ModelOutput(reply), sample_id="0", group_id="0")
        assert list(adapter.calculate_metrics(state).score.value.values()) == [value]
