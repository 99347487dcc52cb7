"""The summary section at the end of pytest's output."""

from __future__ import annotations

__all__ = ["show"]

from collections import Counter
from typing import Any

import pytest

from pytest_evalplug.finish import Outcome
from pytest_evalplug.model.usage import Usage
from pytest_evalplug.options import RunConfig
from pytest_evalplug.report.gates import gate_lines
from pytest_evalplug.report.header import short_path
from pytest_evalplug.report.text import clean, ending, question_of, shorten
from pytest_evalplug.summary.usage import usage_text
from pytest_evalplug.types import Detail

PRED = 60
QUESTION = 160
REPLY = 160


def show(
    reporter: pytest.TerminalReporter, config: RunConfig, outcome: Outcome, counts: Counter[str]
) -> None:
    """Print wrong answers, the table, its notes and where everything lies."""
    if any(outcome.wrong.values()):
        reporter.section("wrong answers", sep="-")
        for (dataset, model), wrong in outcome.wrong.items():
            _show_wrong(reporter, dataset, model, wrong, outcome.num_wrong[dataset, model])
    reporter.section("evaluation summary")
    if outcome.table is not None:
        reporter.write_line(outcome.table.text(verbose=reporter.verbosity > 0))
    below = [
        *gate_lines(outcome.gates),
        *map(clean, outcome.notes),
        *count_lines(counts),
        *(clean(line) for line in paid_lines(outcome, counts)),
    ]
    if outcome.table is not None and below:
        reporter.write_line("")
    for line in below:
        reporter.write_line(line)
    what = "predictions" if config.stage == "infer" else "predictions, results and summary"
    reporter.write_line("")
    reporter.write_line(f"{what} in {short_path(outcome.run.path)}")
    if outcome.page is not None:
        reporter.write_line(f"report: {short_path(outcome.page)}")


def count_lines(counts: Counter[str]) -> list[str]:
    """Return what happened to saved predictions and judgements: reused, or not, and why."""
    lines = []
    if counts["reused"]:
        lines.append(
            f"{counts['reused']} saved predictions reused, {counts['asked']} asked of the model"
        )
    if counts["judged"] or counts["judgements reused"]:
        lines.append(
            f"judge: {counts['judged']} questions asked, "
            f"{counts['judgements reused']} saved replies reused"
        )
    if counts["unjudged"]:
        lines.append(f"judge: no verdict on {counts['unjudged']} samples; they count as errors")
    for name, count in counts.items():
        if name.startswith("stale: "):
            lines.append(
                f"{count} saved predictions no longer fit and were asked again: "
                f"changed {name.removeprefix('stale: ')}"
            )
    return lines


def paid_lines(outcome: Outcome, counts: Counter[str]) -> list[str]:
    """Return what this session asked for, where the run has replies of earlier ones too."""
    lines = []
    for one in outcome.table.usage if outcome.table else ():
        asked = Usage.counted(counts, f"judge {one.name}" if one.judge else one.name)
        if asked != one.usage:
            lines.append(f"{one.name}: of these {usage_text(asked, one.price)} in this session")
    return lines


def _show_wrong(
    reporter: pytest.TerminalReporter,
    dataset: str,
    model: str,
    wrong: list[tuple[Detail, dict[str, Any]]],
    total: int,
) -> None:
    if not wrong:
        return
    title = clean(f"{dataset}, {model}").replace("\n", " ")
    reporter.write_line(f"{title}: {len(wrong)} of {total} wrong answers", bold=True)
    for detail, record in wrong:
        pred, reference = shorten(detail.pred, PRED), shorten(detail.answer, PRED)
        reporter.write_line(f"  {detail.sample_id}: pred {pred!r}, reference {reference!r}")
        reporter.write_line(
            f"    question  {_one_line(question_of(record['origin_prompt']), QUESTION)}"
        )
        reporter.write_line(f"    reply     {_one_line(record['prediction'], REPLY)}")


def _one_line(text: Any, length: int) -> str:
    return " ".join(ending(text, length).split())
