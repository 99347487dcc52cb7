"""The kinds of case files, told by what their rows hold."""

from __future__ import annotations

__all__ = ["KINDS", "Kind", "kind_of", "named_kind"]

from collections.abc import Collection
from dataclasses import dataclass

from pytest_evalplug.errors import DataError, nearest


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of case file, checked by the function ``check_<name>`` of ``module``.

    A checker takes a row and the postprocessor to try (no steps: the shipped rule) and returns
    a Finding; it may be ``async``.
    """

    module: str
    fields: tuple[str, ...]
    """What every row must have."""
    reads_replies: bool = True
    """Whether another postprocessor can be tried."""


KINDS = {
    "option_letter": Kind("replies", ("input", "options", "expected")),
    "number": Kind("replies", ("input", "gold", "right", "expected")),
    "reasoning": Kind("replies", ("input", "expected_text", "truncated")),
    "math_equal": Kind("texts", ("pred", "gold", "right")),
    "text_match": Kind("texts", ("pred", "golds", "metric", "expected")),
    "code_extract": Kind("code", ("input", "entry_point", "call", "expected_repr")),
    "code_verdict": Kind("code", ("program", "test", "expected"), reads_replies=False),
    "judge_verdict": Kind("judge", ("reply", "labels", "expected")),
    "pass_at_k": Kind("repeats", ("n", "c", "k", "expected"), reads_replies=False),
    "journal": Kind("stored", ("bytes_b64", "kept_ids"), reads_replies=False),
    "dataset_rows": Kind("stored", ("file_b64", "format", "expected_rows"), reads_replies=False),
    "summary_group": Kind("groups", ("results", "group", "expected"), reads_replies=False),
    # last, since the rows of others have these too
    "postprocessor": Kind("replies", ("input", "expected")),
}


def kind_of(columns: Collection[str], *, where: str = "") -> str:
    """Return the name of the first kind whose fields are all among ``columns``.

    Raises DataError, with what each kind needs, if there is none.
    """
    for name, kind in KINDS.items():
        if set(kind.fields) <= set(columns):
            return name
    known = (f"{name} ({', '.join(kind.fields)})" for name, kind in KINDS.items())
    raise DataError(
        f"no known kind of cases has the fields {', '.join(columns)}",
        where=where,
        fix=f"Known: {'; '.join(known)}",
    )


def named_kind(name: str, *, where: str = "") -> str:
    """Return ``name``; raises DataError with the near ones if there is no such kind."""
    if name not in KINDS:
        raise DataError(f"unknown kind of cases {name!r}", where=where, fix=nearest(name, KINDS))
    return name
