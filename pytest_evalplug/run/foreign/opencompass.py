"""Run folders of OpenCompass (the layout of 0.5): ``predictions/`` and ``results/`` by model."""

from __future__ import annotations

__all__ = ["OpenCompassRun"]

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pytest_evalplug.evaluation.outcome import BINARY, verdict_of
from pytest_evalplug.evaluation.repeats import is_listed
from pytest_evalplug.run.foreign.reading import (
    agrees,
    finite,
    foreign_result,
    read_json,
    unreadable,
)
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.types import ChatMessage, Detail

_RUNS_AVERAGE = re.compile(r" \(\d+ runs average\)$")
_SHARD = re.compile(r"(.+)_(\d+)")
_LABEL = "label: "
_OF_VERDICTS = BINARY | {"score"}
_ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
_PRED = ("pred", "predictions", "prediction")
_ANSWER = ("answer", "answers", "references", "reference", "refr", "gold")


class OpenCompassRun:
    """A run folder of OpenCompass, read only.

    A dataset's index is the row's position in the evaluated split, as OpenCompass counts; repeat r
    of n of row i is i + r * rows. Predictions that were written in shards count as one file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._results = {
            (file.parent.name, file.stem): file
            for file in sorted((path / "results").glob("*/*.json"))
        }
        self._predictions = _prediction_files(path / "predictions", set(self._results))

    def tables(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all results, by name: their order is not kept."""
        return list(self._results)

    def predicted(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all predictions."""
        return list(self._predictions)

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        """Return the result, or None without one. Raises DataError if it is damaged."""
        file = self._results.get((model, dataset))
        if file is None:
            return None
        content = read_json(file)
        entries = content.pop("details", None)
        found, repeats = _details(entries)
        metrics = {_RUNS_AVERAGE.sub("", name): value for name, value in content.items()}
        error = content.get("error")
        means = _means(metrics, found)
        for detail in found:
            if detail.correct is not None:
                detail.score = dict.fromkeys(means, float(detail.correct))
        result = foreign_result(
            model=model,
            dataset=dataset,
            mode=_mode(entries),
            metrics=metrics,
            means=means,
            details=found,
            unlisted=[name for name in metrics if "/" in name or not is_listed(name)],
            repeats=repeats,
            num_rows=len(found) // repeats if repeats > 1 else 0,
            error=None if error is None else str(error),
        )
        # the numbers above need the details all the same
        return result if details and entries is not None else replace(result, details=None)

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        """Return index -> prediction record: ``origin_prompt``, ``prediction``, ``gold``, ..."""
        found: dict[str, dict[str, Any]] = {}
        for file in self._predictions.get((model, dataset), ()):
            start = len(found)
            for index, record in read_json(file).items():
                if not (index.isdecimal() and isinstance(record, dict)):
                    raise unreadable(file, "not an object of records by number")
                found[str(start + int(index))] = _record(str(start + int(index)), record)
        return dict(sorted(found.items(), key=lambda item: int(item[0])))


def _prediction_files(folder: Path, results: set[tuple[str, str]]) -> dict[Any, list[Path]]:
    """Return (model, dataset) -> its files: one, or the shards ``_0``, ``_1``, ... in order."""
    files = {(f.parent.name, f.stem): f for f in sorted(folder.glob("*/*.json"))}
    found: dict[tuple[str, str], list[Path]] = {}
    for (model, name), file in files.items():
        shard = _SHARD.fullmatch(name)
        if shard and (model, name) not in results and (model, f"{shard[1]}_0") in files:
            if (model, shard[1]) not in files:
                found.setdefault((model, shard[1]), []).append(file)
        else:
            found[model, name] = [file]
    for shards in found.values():
        shards.sort(key=lambda file: (len(file.stem), file.stem))
    return found


def _details(entries: Any) -> tuple[list[Detail], int]:
    """Return the details, and how many repeats each entry holds."""
    rows = list(_rows(entries))
    repeats = max(map(_repeats, rows), default=0)
    found = []
    for r in range(repeats or 1):
        for i, row in enumerate(rows):
            one = {k: _of_repeat(v, r, repeats) for k, v in row.items()} if repeats else row
            index = str(i + r * len(rows))
            pred, answer = _first(one, _PRED), _first(one, _ANSWER)
            found.append(Detail(index, index, "", pred, answer, verdict_of(one)))
    return found, repeats or 1


def _rows(entries: Any) -> list[Mapping[str, Any]]:
    """Return a dict for each sample; details are a list, or an object by number."""
    if isinstance(entries, dict):
        numbered = [(int(name), row) for name, row in entries.items() if name.isdecimal()]
        entries = [row for _, row in sorted(numbered, key=lambda item: item[0])]
    rows = entries if isinstance(entries, list) else []
    return [row if isinstance(row, dict) else {} for row in rows]


def _repeats(row: Mapping[str, Any]) -> int:
    """Return how many values the lists of a row hold, one a repeat; 0 if it has no such lists."""
    if "example_abbr" not in row:
        return 0
    return max((len(value) for value in row.values() if isinstance(value, list)), default=0)


def _of_repeat(value: Any, repeat: int, repeats: int) -> Any:
    return value[repeat] if isinstance(value, list) and len(value) == repeats else value


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _means(metrics: Mapping[str, Any], details: Sequence[Detail]) -> dict[str, float]:
    """Return metric -> 100 for each that is the share of right answers, in percent.

    Where no detail has a verdict, being equal to the reference is one, if a metric says so.
    """
    if details and all(detail.correct is None for detail in details):
        equal = [detail.pred == detail.answer for detail in details]
        if not _shares(metrics, equal):
            return {}
        for detail, correct in zip(details, equal, strict=True):
            detail.correct = correct
    return _shares(metrics, [d.correct for d in details if d.correct is not None])


def _shares(metrics: Mapping[str, Any], correct: Sequence[bool]) -> dict[str, float]:
    share = 100 * fmean(correct) if correct else None
    return {
        name: 100.0
        for name in metrics
        if name in _OF_VERDICTS and (value := finite(metrics[name])) is not None
        if share is not None and agrees(value, share, 100)
    }


def _record(index: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a prediction record; perplexities of choices stand in it as in ours."""
    labels = {name: said for name, said in record.items() if name.startswith(_LABEL)}
    kept = {name: value for name, value in record.items() if name not in labels}
    found = {**kept, "index": index, "origin_prompt": _prompt(record.get("origin_prompt"))}
    if labels:
        found["pred_label"] = record.get("prediction")
        found["continuations"] = [name.removeprefix(_LABEL) for name in labels]
        found["ppl"] = [s.get("PPL") if isinstance(s, dict) else None for s in labels.values()]
    return found


def _mode(entries: Any) -> str:
    return "ppl" if isinstance(entries, dict) and entries.get("type") == "PPL" else "gen"


def _prompt(prompt: Any) -> Any:
    """Return a conversation in the OpenAI form, or the text."""
    if not isinstance(prompt, list):
        return prompt
    messages: list[ChatMessage] = []
    for turn in prompt:
        if isinstance(turn, dict) and isinstance(turn.get("prompt"), str):
            role = str(turn.get("role"))
            messages.append({"role": _ROLES.get(role, role.lower()), "content": turn["prompt"]})
    return messages
