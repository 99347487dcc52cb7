"""Cases of what a judge's reply says."""

from __future__ import annotations

__all__ = ["check_judge_verdict"]

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.evaluation.judge.verdict import read_verdict
from pytest_evalplug.evaluation.postprocessor import Postprocessor, apply_steps


def check_judge_verdict(row: Record, steps: tuple[Postprocessor, ...]) -> Finding:
    """Compare the label that a judge settles on."""
    reply, labels = row["reply"], row["labels"]
    got = apply_steps(steps, reply) if steps else read_verdict(reply, labels)
    return Finding.compare(reply, row["expected"], got)
