from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_evalplug.evaluation.evaluators.exact_match import EMEvaluator, normalize_answer


def test_labelled_cases(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = [row for row in cases("text_match") if row["metric"] == "em"]
    scores = [EMEvaluator().score_sample(r["pred"], r["golds"])["exact_match"] for r in rows]
    assert rows
    assert [(r["id"], s) for r, s in zip(rows, scores, strict=True)] == [
        (r["id"], r["expected"]) for r in rows
    ]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Spice-Girls!", "spicegirls"),
        ("-3.50.", "-3.50"),
        ("a", "a"),
        ("\uff30\uff41\uff52\uff49\uff53", "paris"),
        ("", ""),
    ],
)
def test_normalisation(text: str, normal: str) -> None:
    assert normalize_answer(text) == normal


def test_a_wrong_answer_is_wrong() -> None:
    assert EMEvaluator().score_sample("Rome", ["Paris", "Lyon"]) == {
        "exact_match": 0.0,
        "correct": False,
    }
