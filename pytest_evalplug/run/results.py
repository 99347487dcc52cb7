"""The results file: one model's metrics and details on one dataset."""

from __future__ import annotations

__all__ = ["EXTRACT_RATE", "ResultFile", "dataset_name", "shared_dataset"]

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TextIO

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.outcome import is_number
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import dumps, write_atomic
from pytest_evalplug.types import Detail

EXTRACT_RATE = "extract_rate"
"""The metric that speaks of the replies, not of how good they are."""
_RESERVED = ("details", "run")
_BEFORE_DETAILS = ',\n"details": ['


def dataset_name(benchmark: str, subset: str, *, several: bool) -> str:
    """Return what a benchmark's subset is called in files and tables.

    The benchmark's name if it has one subset, else ``<benchmark>-<subset>``.
    """
    return f"{benchmark}-{subset}" if several else benchmark


def shared_dataset(
    benchmark: str, subsets: Sequence[str], others: Mapping[str, Sequence[str]]
) -> ConfigError | None:
    """Return what is wrong if a dataset of ``benchmark`` is called like another benchmark's.

    ``others`` maps each other benchmark to all its subsets: subset ``b-c`` of ``a`` and subset
    ``c`` of ``a-b`` would share their files and their row.
    """
    own = set(_dataset_names(benchmark, subsets))
    for other, theirs in others.items():
        if other == benchmark or not (shared := own.intersection(_dataset_names(other, theirs))):
            continue
        return ConfigError(
            f"benchmarks {benchmark!r} and {other!r} both have a dataset {min(shared)!r}",
            where=f"BenchmarkMeta {benchmark!r}",
            fix="Rename one of the benchmarks, or its subset",
        )
    return None


def _dataset_names(benchmark: str, subsets: Sequence[str]) -> Iterator[str]:
    return (dataset_name(benchmark, s, several=len(subsets) > 1) for s in subsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFile:
    """``results/<model>/<dataset>.json``.

    ``metrics``, ``stderr``, ``intervals`` (95 %, low and high) and ``if_errors_wrong`` are on the
    metric's own scale (percent for accuracy). ``num_samples`` is the sum of scored, errors and
    skipped; ``num_correct`` is None where the metric has no verdict. ``shard`` is which part of a
    split run this is, as in ``1/3``.

    ``unlisted`` metrics are in no table. Of samples asked ``repeats`` times, ``num_distinct`` are
    different, and ``metric_samples`` says over how many of them pass@k and the like are, for each
    of ``k``; repeat r of row i has the index i + r * ``num_rows``. Of ``num_replies``,
    ``num_truncated`` were cut at ``max_tokens``; ``num_fewer_shots`` prompts were too long as they
    were; ``num_imported`` replies are to another tool's prompts; ``res_length`` has statistics of
    the replies' lengths. ``other`` is what an Evaluator returned beside numbers; ``error`` says why
    there are no metrics.
    """

    model: str
    dataset: str
    benchmark: str
    subset: str
    version: str
    mode: str
    num_samples: int
    num_scored: int
    num_errors: int = 0
    num_skipped: int = 0
    num_correct: int | None = None
    partial: bool = False
    shard: str | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    stderr: dict[str, float] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    if_errors_wrong: dict[str, float] = field(default_factory=dict)
    unlisted: list[str] = field(default_factory=list)
    repeats: int = 1
    k: list[int] = field(default_factory=list)
    num_distinct: int = 0
    num_rows: int = 0
    metric_samples: dict[str, int] = field(default_factory=dict)
    num_replies: int = 0
    num_truncated: int = 0
    num_fewer_shots: int = 0
    num_imported: int = 0
    num_with_usage: int = 0
    usage: dict[str, int] = field(default_factory=dict)
    res_length: dict[str, dict[str, float]] | None = None
    error: str | None = None
    other: dict[str, Any] = field(default_factory=dict)
    details: list[Detail] | None = None

    @property
    def scores(self) -> dict[str, float]:
        """The metrics that say how good the replies are."""
        return {name: value for name, value in self.metrics.items() if name != EXTRACT_RATE}

    def samples_of(self, metric: str) -> int:
        """Return over how many samples a metric is."""
        return self.metric_samples.get(metric, self.num_scored)

    def write(self, run: RunDirectory) -> Path:
        """Write the file and return its path; ConfigError if a metric has a reserved name."""
        for name in _RESERVED:
            if name in self.metrics or name in self.other:
                raise ConfigError(
                    f"a metric may not be called {name!r}",
                    where=self.dataset,
                    fix="Rename it in the Evaluator",
                )
        path = run.result_file(self.model, self.dataset)
        write_atomic(path, self._text())
        return path

    @classmethod
    def read(
        cls, run: RunDirectory, model: str, dataset: str, *, details: bool = True
    ) -> ResultFile | None:
        """Return the saved result, or None if there is none; DataError if it is damaged."""
        return cls.load(run.result_file(model, dataset), details=details)

    @classmethod
    def load(cls, path: Path, *, details: bool = True) -> ResultFile | None:
        """Read a results file by its path, as :meth:`read` does."""
        try:
            with path.open(encoding="utf-8") as file:
                content, found = _parse(file, details)
            about = content.pop("run")
            known = {f.name: about[f.name] for f in fields(cls) if f.name in about}
            intervals = {m: (low, high) for m, (low, high) in known.pop("intervals", {}).items()}
            metrics = {name: value for name, value in content.items() if is_number(value)}
            other = {name: value for name, value in content.items() if name not in metrics}
            return cls(**known, intervals=intervals, metrics=metrics, other=other, details=found)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise DataError(
                f"the results file can't be read: {error}",
                where=str(path),
                fix="Score again with --reuse --mode eval",
            ) from error

    def _text(self) -> Iterator[str]:
        written = ("metrics", "other", "details")
        about = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in written}
        yield "{\n"
        for name, value in {**self.other, **self.metrics}.items():
            yield f"{dumps(name)}: {dumps(value)},\n"
        yield f'"run": {dumps(about)}'
        if self.details is not None:
            yield _BEFORE_DETAILS
            yield from _lines(self.details)
            yield "\n]"
        yield "\n}\n"


def _lines(details: list[Detail]) -> Iterator[str]:
    separator = "\n"
    for detail in details:
        yield separator + dumps(detail.to_wire())
        separator = ",\n"


def _parse(file: TextIO, with_details: bool) -> tuple[dict[str, Any], list[Detail] | None]:
    """Return what a file says beside its details, and these, read line by line if we wrote it."""
    head: list[str] = []
    for line in file:
        if line.rstrip("\n") == _BEFORE_DETAILS.lstrip(",\n"):
            content = json.loads("".join(head).rstrip(",\n") + "}")
            if not with_details:
                return content, None
            if (found := _read_lines(file)) is not None:
                return content, found
            break
        head.append(line)
    file.seek(0)
    content = json.loads(file.read())
    saved = content.pop("details", None)
    if saved is None or not with_details:
        return content, None
    return content, [Detail.from_wire(wire) for wire in saved]


def _read_lines(file: TextIO) -> list[Detail] | None:
    """Return the details that :func:`_lines` wrote; None if the rest of the file is not so."""
    details: list[Detail] = []
    scores: dict[str, dict[str, float]] = {}
    last = False
    for line in file:
        if line == "]\n":
            return details if (last or not details) and file.read() == "}\n" else None
        if last:  # a comma is missing
            return None
        last = not line.endswith(",\n")
        try:
            detail = Detail.from_wire(json.loads(line.rstrip(",\n")))
        except ValueError:
            return None
        # of a hundred thousand samples most have one of a few scores
        detail.score = scores.setdefault(repr(detail.score), detail.score)
        if type(detail.subset) is str:
            detail.subset = sys.intern(detail.subset)
        details.append(detail)
    return None
