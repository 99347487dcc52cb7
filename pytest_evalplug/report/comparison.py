"""Comparisons as text, markdown and JSON."""

from __future__ import annotations

__all__ = ["as_json", "as_markdown", "as_text"]

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

from tabulate import tabulate

from pytest_evalplug.report.text import clean, shorten
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.summary.comparison import Difference, Pair
from pytest_evalplug.summary.run_comparison import Comparison, Line, Side

_PRED = 60  # characters of a pred in a list of flips
_LEGEND = (
    "old and new: score (n); difference: new - old over the samples that both have scored, "
    "± standard error"
)
_FENCE = "````"  # no line of flips begins with it: names and preds are indented
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*[]|"})
_LEFT = ("dataset", "metric", "test")


def as_text(comparisons: Sequence[Comparison], flips: int) -> str:
    """Return tables for the terminal, with at most ``flips`` flipped samples of each kind."""
    blocks = []
    for found in comparisons:
        blocks.append(f"old: {_side(found.old)}\nnew: {_side(found.new)}")
        blocks.append(_table(found.lines, "simple", lambda text: text))
        blocks += ["\n".join(map(_line, block)) for block in (_notes(found), _flips(found, flips))]
    return "\n\n".join([*filter(None, blocks), _LEGEND]) + "\n"


def as_markdown(comparisons: Sequence[Comparison], flips: int) -> str:
    """Return the same in GitHub's form."""
    blocks = []
    for found in comparisons:
        blocks.append(f"**{_escaped(_side(found.old))}** → **{_escaped(_side(found.new))}**")
        blocks.append(_table(found.lines, "github", _escaped))
        blocks.append("\n".join(f"- {_escaped(note)}" for note in _notes(found)))
        if lines := list(_flips(found, flips)):
            blocks.append("\n".join([_FENCE, *map(_line, lines), _FENCE]))
    return "\n\n".join([*filter(None, blocks), _LEGEND]) + "\n"


def as_json(comparisons: Sequence[Comparison]) -> str:
    """Return all numbers unrounded, and all flipped samples."""
    return dumps([_wire(found) for found in comparisons]) + "\n"


def _table(lines: Sequence[Line], form: str, escape: Callable[[str], str]) -> str:
    if not lines:
        return "nothing to compare"
    rows = [_row(line) for line in lines]
    if len([line for line in lines if line.adjusted_p is not None]) < 2:
        for row in rows:
            del row["p (Holm)"]
    headers = list(rows[0])
    return tabulate(
        [[escape(_line(text)) for text in row.values()] for row in rows],
        headers=headers,
        tablefmt=form,
        disable_numparse=True,
        colalign=["left" if name in _LEFT else "right" for name in headers],
    )


def _row(line: Line) -> dict[str, str]:
    found = line.difference
    flipped = found.test is not None and (found.gained or found.lost or found.test == "McNemar")
    return {
        "dataset": line.dataset,
        "metric": found.metric
        if found.metric == found.old_metric
        else f"{found.old_metric} → {found.metric}",
        "old": f"{found.old:.2f} ({found.old_n})",
        "new": f"{found.new:.2f} ({found.new_n})",
        "difference": _with_error(found),
        "95 % interval": "-"
        if found.interval is None
        else f"{found.interval[0]:+.2f} to {found.interval[1]:+.2f}",
        "p": _p(found.p_value),
        "p (Holm)": _p(line.adjusted_p),
        "test": found.test or "-",
        "wrong → right": str(len(found.gained)) if flipped else "-",
        "right → wrong": str(len(found.lost)) if flipped else "-",
    }


def _with_error(found: Difference) -> str:
    if found.difference is None:
        return "-"
    error = "" if found.stderr is None else f" ± {found.stderr:.2f}"
    return f"{found.difference:+.2f}{error}"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _notes(found: Comparison) -> list[str]:
    notes = list(found.notes)
    if found.num_tests > 1:
        notes.append(
            f"{found.num_tests} tests: one of 20 would be below p = 0.05 by chance alone; "
            "p (Holm) allows for their number"
        )
    return notes


def _flips(found: Comparison, shown: int) -> Iterator[str]:
    """Yield each dataset's flipped samples, a benchmark's as a whole; metrics share verdicts."""
    parts = {part for line in found.lines for part in line.parts}
    of_dataset = {
        line.dataset: line.difference for line in reversed(found.lines) if line.dataset not in parts
    }
    for dataset, difference in reversed(of_dataset.items()):
        for name, pairs in (
            ("wrong → right", difference.gained),
            ("right → wrong", difference.lost),
        ):
            if pairs and shown:
                some = f", {shown} of them" if len(pairs) > shown else ""
                yield f"{dataset}, {name}: {len(pairs)}{some}"
                yield from map(_flip, pairs[:shown])


def _flip(pair: Pair) -> str:
    old, new, answer = (
        shorten(value, _PRED) for value in (pair.old.pred, pair.new.pred, pair.new.answer)
    )
    return f"  {pair.new.sample_id}: {old!r} → {new!r}, reference {answer!r}"


def _wire(found: Comparison) -> dict[str, Any]:
    return {
        "old": {"run": str(found.old.run.path), "model": found.old.model},
        "new": {"run": str(found.new.run.path), "model": found.new.model},
        "datasets": [_line_wire(line) for line in found.lines],
        "notes": list(found.notes),
    }


def _line_wire(line: Line) -> dict[str, Any]:
    numbers = {
        f.name: getattr(line.difference, f.name)
        for f in fields(line.difference)
        if f.name not in ("gained", "lost")
    }
    flips = {
        name: [_flip_wire(pair) for pair in pairs]
        for name, pairs in (("gained", line.difference.gained), ("lost", line.difference.lost))
    }
    return {
        "dataset": line.dataset,
        "parts": list(line.parts),
        **numbers,
        "adjusted_p": line.adjusted_p,
        **flips,
    }


def _flip_wire(pair: Pair) -> dict[str, Any]:
    return {
        "sample_id": pair.new.sample_id,
        "index": pair.new.index,
        "old": pair.old.pred,
        "new": pair.new.pred,
        "answer": pair.new.answer,
    }


def _side(side: Side) -> str:
    return _line(f"{side.run.name} {side.model}")


def _line(text: str) -> str:
    """Return a text on one line, without what steers a terminal."""
    return clean(text).replace("\n", " ").replace("\t", " ")


def _escaped(text: str) -> str:
    """Return a text that markdown shows as it is."""
    return html.escape(_line(text), quote=False).translate(_SPECIAL)
