"""Real texts to compare metrics on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def _rows(path: Path, count: int | None = None) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines][:count]


@pytest.fixture(scope="session")
def summaries(data_dir: Path) -> list[dict[str, Any]]:
    """Pairs ``hyp`` and ``ref``, some with the ``scores`` that were published with them."""
    return [row for path in sorted((data_dir / "replies/rouge").iterdir()) for row in _rows(path)]


@pytest.fixture(scope="session")
def text_pairs(data_dir: Path, summaries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """200 real replies, each with its reference."""
    replies = _rows(data_dir / "replies/gsm8k/6b_finetuning.jsonl", 200 - len(summaries))
    pairs = [(row["hyp"], row["ref"]) for row in summaries]
    return pairs + [(row["prediction"], row["reference"]) for row in replies]


@pytest.fixture(scope="session")
def chinese_pairs(data_dir: Path) -> list[tuple[str, str]]:
    """Pairs of neighbouring Chinese questions."""
    texts = [row["question"] for row in _rows(data_dir / "mgsm/zh/test.jsonl", 60)]
    return list(zip(texts[::2], texts[1::2], strict=True))
