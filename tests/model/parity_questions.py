"""The questions on which the HF backend is compared with lm-evaluation-harness."""

from __future__ import annotations

__all__ = ["Question", "first_questions"]

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Question:
    """A multiple-choice question: its row, the prompt, the continuations, the right one."""

    index: int
    context: str
    continuations: tuple[str, ...]
    gold: int


def first_questions(data_dir: Path, number: int) -> list[Question]:
    """Return the first questions of AGIEval's sat-math; the choices are scored as texts."""
    path = data_dir / "agieval" / "sat-math" / "test.jsonl"
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(number), strict=False)]
    return [_question(index, row) for index, row in enumerate(rows)]


def _question(index: int, row: dict[str, object]) -> Question:
    options = row["options"]
    assert isinstance(options, list)
    context = (
        f"Q: {row['question']} Answer Choices: {' '.join(options)}\n"
        "A: Among A through D, the answer is"
    )
    choices = tuple(f" {option.partition(')')[2]}" for option in options)
    return Question(index, context, choices, "ABCD".index(str(row["label"])))
