"""Output folders of lm-evaluation-harness (0.4): ``results_*.json``, ``samples_<task>_*.jsonl``."""

from __future__ import annotations

__all__ = ["LmEvalRun", "result_files"]

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from pytest_evalplug.dataset.letters import label
from pytest_evalplug.evaluation.outcome import BINARY, scale_of
from pytest_evalplug.run.foreign.reading import (
    agrees,
    finite,
    foreign_result,
    read_json,
    unreadable,
)
from pytest_evalplug.run.lines import LineFile
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.types import Detail

_ABOUT = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
    *("doc_hash", "prompt_hash", "target_hash"),
}
_SHARES = {"acc_norm", "mc1", "mc2"}


def result_files(folder: Path) -> list[Path]:
    """Return the ``results_*.json`` of a folder, or of its models' folders, oldest first."""
    found = [*folder.glob("results_*.json"), *folder.glob("*/results_*.json")]
    return sorted(found, key=lambda file: file.name)


class LmEvalRun:
    """What ``--output_path`` and ``--log_samples`` wrote, read only.

    A dataset is a task, its index the ``doc_id``. Of a task that was evaluated several times the
    latest counts. Metrics that are shares are in percent, as ours are; where a task has several
    filters, their names say whose (``exact_match,strict-match``), and the first has the verdict.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self._files: dict[tuple[str, str], tuple[dict[str, Any], Path]] = {}
        for file in result_files(path):
            content = read_json(file)
            tasks = content.get("configs")
            model = _model(content, file)
            date = file.stem.removeprefix("results_")
            for task in tasks if isinstance(tasks, dict) else ():
                if Path(task).name == task:  # a path would lead elsewhere
                    samples = file.with_name(f"samples_{task}_{date}.jsonl")
                    self._files[model, task] = content, samples

    def tables(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all tasks that have results."""
        return list(self._files)

    def predicted(self) -> list[tuple[str, str]]:
        """Return (model, dataset) of all tasks whose samples were logged."""
        return [key for key, (_, samples) in self._files.items() if samples.is_file()]

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        """Return the result, or None without one. Raises DataError if it is damaged."""
        if (model, dataset) not in self._files:
            return None
        content, samples = self._files[model, dataset]
        found = _details(samples) if samples.is_file() else {}
        metrics = _metrics(content, dataset)
        means = _means(metrics, list(found.values()), _lower_is_better(content, dataset))
        kind = _part(content, "configs", dataset).get("output_type", "")
        result = foreign_result(
            model=model,
            dataset=dataset,
            mode="gen" if kind == "generate_until" else "ll",
            metrics={m: v * means.get(m, 1.0) for m, v in metrics.items()},
            means=means,
            details=list(found.values()),
        )
        return result if details and found else replace(result, details=None)

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        """Return index -> prediction record, each read when it is asked for."""
        found = self._files.get((model, dataset))
        return _Records(found[1]) if found and found[1].is_file() else {}


class _Records(Mapping[str, Mapping[str, Any]]):
    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines = LineFile(file)
        self._offsets: dict[str, int] = {}
        for offset, row in _rows(file):  # of several filters the first one's
            self._offsets.setdefault(str(row["doc_id"]), offset)

    def __getitem__(self, index: str) -> Mapping[str, Any]:
        return _record(json.loads(self._lines.line(self._offsets[index])))

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __len__(self) -> int:
        return len(self._offsets)


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each sample's line and where it begins. Raises DataError for anything else."""
    offset = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    row = json.loads(line)
                    str(int(row["doc_id"]))
                except (ValueError, RecursionError, KeyError, TypeError) as error:
                    raise unreadable(file, f"line {number} is no sample") from error
                yield offset, row
            offset += len(line)


def _details(file: Path) -> dict[str, Detail]:
    """Return index -> detail; its score has ``metric,filter``, of one filter just ``metric``."""
    found: dict[str, Detail] = {}
    filters: dict[str, None] = {}
    for _, row in _rows(file):
        index, name = str(row["doc_id"]), str(row.get("filter", ""))
        filters[name] = None
        numbers = {metric: finite(row[metric]) for metric in row if metric not in _ABOUT}
        values = {metric: value for metric, value in numbers.items() if value is not None}
        detail = found.get(index)
        if detail is None:
            pred, answer = _verdict_of(row)
            found[index] = detail = Detail(index, index, "", pred, answer)
            right = [value for metric, value in values.items() if metric in BINARY]
            detail.correct = right[0] == 1 if right else None
        detail.score |= {f"{metric},{name}": value for metric, value in values.items()}
    if len(filters) == 1:
        for detail in found.values():
            detail.score = {m.rpartition(",")[0]: value for m, value in detail.score.items()}
    return found


def _verdict_of(row: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what was taken for the answer, and the reference."""
    record = _record(row)
    if "pred_label" in record:
        return record["pred_label"], record["gold"]
    return next(iter(_list(row.get("filtered_resps"))), None), row.get("target")


def _record(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample's line as a prediction record; choices among likelihoods as ours have them.

    Its ``doc`` is the row of the data that was asked about.
    """
    asked = _arguments(row.get("arguments"))
    record: dict[str, Any] = {
        "index": str(row["doc_id"]),
        "origin_prompt": _prompt(asked[0][0]) if asked else None,
        "prediction": None,
        "gold": row.get("target"),
        "doc": row.get("doc"),
    }
    replies = [r[0] if isinstance(r, list) and r else r for r in _list(row.get("resps"))]
    if replies and isinstance(replies[0], str):
        record["prediction"] = replies[0]
    elif len(replies) > 1 and all(isinstance(r, list) and r for r in replies):
        logprobs = [_number(reply[0]) for reply in replies]
        best = label(max(range(len(logprobs)), key=logprobs.__getitem__))
        record |= {
            "prediction": best,
            "pred_label": best,
            "gold": _letter(row.get("target"), len(replies)),
            "continuations": [texts[1] if len(texts) > 1 else "" for texts in asked],
            "logprobs": logprobs,
        }
    return record


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _arguments(arguments: Any) -> list[list[Any]]:
    """Return what was asked, once a request: context, then continuation or settings."""
    if isinstance(arguments, dict):  # as it has been written since 0.4.2
        requests = [list(r.values()) for r in arguments.values() if isinstance(r, dict)]
    else:
        requests = [request for request in _list(arguments) if isinstance(request, list)]
    return [request for request in requests if request]


def _prompt(context: Any) -> Any:
    """Return a conversation, which is written as JSON text, or the text."""
    text = context[0] if isinstance(context, list) and context else context
    if isinstance(text, str) and text.startswith('[{"role"'):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _letter(target: Any, choices: int) -> Any:
    """Return the letter of a choice that is given by its number."""
    number = int(target) if str(target).isdecimal() else -1
    return label(number) if 0 <= number < choices else target


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return float("-inf")


def _metrics(content: Mapping[str, Any], task: str) -> dict[str, float]:
    """Return a task's metrics; the filter stands in the name where there are several."""
    found = {}
    for key, value in _part(content, "results", task).items():
        metric, comma, name = key.partition(",")
        if comma and not metric.endswith("_stderr") and (number := finite(value)) is not None:
            found[metric, name] = number
    several = len({name for _, name in found}) > 1
    return {f"{m},{f}" if several else m: value for (m, f), value in found.items()}


def _means(
    metrics: Mapping[str, float], details: list[Detail], lower_is_better: set[str]
) -> dict[str, float]:
    """Return metric -> scale of those that are means over the samples; shares are in percent."""
    found = {}
    for metric, value in metrics.items():
        values = [detail.score[metric] for detail in details if metric in detail.score]
        name = metric.partition(",")[0]
        share = name not in lower_is_better and all(0 <= v <= 1 for v in values)
        if values and agrees(value, fmean(values), 1):
            found[metric] = 100.0 if share else 1.0
        elif not details and (scale_of(name) == 100 or name in _SHARES):
            found[metric] = 100.0
    return found


def _lower_is_better(content: Mapping[str, Any], task: str) -> set[str]:
    higher = _part(content, "higher_is_better", task)
    return {name for name, is_higher in higher.items() if is_higher is False}


def _part(content: Mapping[str, Any], name: str, task: str) -> dict[str, Any]:
    part = content.get(name)
    found = part.get(task) if isinstance(part, dict) else None
    return found if isinstance(found, dict) else {}


def _model(content: Mapping[str, Any], file: Path) -> str:
    """Return the model's name: of a path the last folder."""
    name = content.get("model_name")
    if not isinstance(name, str) or not name:
        return file.parent.name
    return Path(name).name if name.startswith(("/", ".", "~")) else name
