"""Turn a table's records into Samples, with errors that name the file and the line."""

from __future__ import annotations

__all__ = ["check_labels", "check_references", "row_of", "to_samples"]

from collections.abc import Callable, Sequence
from typing import Any

from pytest_evalplug.dataset.table import Origin, Record, Table
from pytest_evalplug.errors import DataError, EvalplugError, nearest, one_line
from pytest_evalplug.types import Sample

_LABEL_COLUMNS = ("label", "labels", "answer", "answerKey", "gold", "target", "correct")


def to_samples(table: Table, convert: Callable[[Record], Any]) -> list[Sample]:
    """Return the Samples of all records, each with its ``index``.

    ``convert`` is ``record_to_sample``: one Sample or a list of them. Raises DataError for a
    column that is not there and for a failing ``convert``.
    """
    samples: list[Sample] = []
    origin = table.origin
    for row, record in enumerate(table.records):
        try:
            made = convert(record)
        except EvalplugError as error:
            error.where = error.where or origin.where(row)
            raise
        except Exception as error:
            raise _explain(error, record, origin.where(row)) from error
        for part, sample in enumerate(made if isinstance(made, (list, tuple)) else (made,)):
            if not isinstance(sample, Sample):
                raise DataError(
                    f"record_to_sample returned {type(sample).__name__}",
                    where=origin.where(row),
                    fix="Return a Sample or a list of Samples.",
                )
            sample.index = f"{row}.{part}" if part else str(row)
            samples.append(sample)
    return samples


def _explain(error: Exception, record: Record, where: str) -> DataError:
    missing = error.args[0] if isinstance(error, KeyError) else None
    if isinstance(missing, str) and missing not in record:
        return DataError(f"no column {missing!r}", where=where, fix=nearest(missing, record))
    return DataError(
        f"record_to_sample failed with {one_line(error)}",
        where=where,
        fix="Check the record on that line, or record_to_sample.",
    )


def row_of(sample: Sample) -> int:
    """Return the row that a Sample comes from."""
    return int(sample.index.partition(".")[0])


def check_labels(table: Table) -> None:
    """Refuse a table with a label column that is -1 throughout, as hidden test labels are.

    The references alone would not tell: ``choices[-1]`` passes for an answer.
    """
    for column in _LABEL_COLUMNS:
        if table.records and all(_is_minus_one(r.get(column)) for r in table.records):
            raise _hidden(table.source, f"the column {column!r} is -1 in every row")


def check_references(samples: Sequence[Sample], origin: Origin, *, needed: bool) -> None:
    """Refuse Samples without references: scores against them would mean nothing.

    That is: one of them is ``None``, or *all* of them are empty or ``-1``. A single ``0``, ``-1``,
    ``False`` or ``''`` is a reference like any other. Not ``needed`` (the author's own method
    scores) leaves only the last.
    """
    if all(_is_minus_one(s.target) for s in samples):
        raise _hidden(origin.source, "every reference is -1")
    if not needed:
        return
    for sample in samples:
        if sample.target is None:
            raise DataError(
                "the reference is missing (target is None)",
                where=origin.where(row_of(sample)),
                fix="Set reference_free=True if the benchmark needs none.",
            )
    if all(s.target in ("", []) for s in samples):
        raise _hidden(origin.source, "every reference is empty")


def _is_minus_one(value: object) -> bool:
    return (type(value) is int and value == -1) or value == "-1"


def _hidden(where: str, what: str) -> DataError:
    return DataError(
        f"hidden labels: {what}",
        where=where,
        fix="Evaluate a split with published answers (eval_split), or set reference_free=True.",
    )
