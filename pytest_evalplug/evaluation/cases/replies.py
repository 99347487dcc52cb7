"""Cases of what is read out of a reply."""

from __future__ import annotations

__all__ = ["check_number", "check_option_letter", "check_postprocessor", "check_reasoning"]

from typing import Any

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.evaluation.evaluators.accuracy import NumberEvaluator
from pytest_evalplug.evaluation.postprocess.think import split_reasoning
from pytest_evalplug.evaluation.postprocessor import (
    Postprocessor,
    apply_steps,
    resolve_postprocessor,
)

Steps = tuple[Postprocessor, ...]


def check_postprocessor(row: Record, steps: Steps) -> Finding:
    """Compare the value that the row's own ``postprocessor`` makes, as ``options`` etc. say."""
    steps = steps or resolve_postprocessor(row.get("postprocessor"))
    if not steps:
        raise ConfigError(
            "no postprocessor to check is named",
            fix='Give --postprocessor NAME, or the case a field "postprocessor".',
        )
    context = {key: row[key] for key in ("options", "multi") if row.get(key) is not None}
    got = apply_steps(steps, row["input"], **context)
    return Finding.compare(row["input"], row["expected"], got)


def _extract(steps: Steps, text: str, **context: Any) -> Any:
    """Return what was extracted, ``""`` for nothing: rules may also say ``None`` for that."""
    value = apply_steps(steps, text, **context)
    return "" if value is None else value


def check_option_letter(row: Record, steps: Steps) -> Finding:
    """Compare the letters that a reply chooses."""
    steps = steps or resolve_postprocessor("last-option")
    got = _extract(steps, row["input"], options=row["options"], multi=bool(row.get("multi")))
    return Finding.compare(row["input"], row["expected"], got)


def check_number(row: Record, steps: Steps) -> Finding:
    """Compare the number that a reply arrives at, and the verdict against ``gold``, by value."""
    evaluator = NumberEvaluator()
    steps = steps or resolve_postprocessor("last-number")
    got = _extract(steps, row["input"])

    def equals(reference: str) -> bool:
        return evaluator.score_sample(got, reference)["correct"] is True

    verdict = equals(row["gold"])
    return Finding(
        row["input"],
        {"number": row["expected"], "gold": row["gold"], "right": row["right"]},
        {"number": got, "right": verdict},
        equals(row["expected"]) and verdict is row["right"],
    )


def check_reasoning(row: Record, steps: Steps) -> Finding:
    """Compare a reply without its reasoning, and whether that was cut; white space apart.

    A postprocessor that is tried says nothing of the latter.
    """
    if steps:
        text, truncated = str(_extract(steps, row["input"])), row["truncated"]
    else:
        text, truncated = split_reasoning(row["input"])
    expected = {"text": row["expected_text"].strip(), "truncated": row["truncated"]}
    got = {"text": text.strip(), "truncated": truncated}
    return Finding.compare(row["input"], expected, got)
