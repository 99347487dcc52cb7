"""What the replies were like: an answer found, how long, cut off."""

from __future__ import annotations

__all__ = ["extract_rate", "length_stats", "num_replies", "num_truncated", "was_extracted"]

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import fmean, median
from typing import Any

from pytest_evalplug.evaluation.outcome import is_empty
from pytest_evalplug.types import Detail

Record = Mapping[str, Any]


def was_extracted(detail: Detail) -> bool:
    """Tell whether postprocessing found an answer, the Evaluator's own included."""
    return not is_empty((detail.metadata or {}).get("pred", detail.pred))


def extract_rate(details: Sequence[Detail]) -> float | None:
    """Return the percentage of measured samples whose pred is not empty; None without any.

    Empty is what OpenCompass's ``--dump-extract-rate`` counts as a failed extraction: ``''``,
    ``None`` and ``[]``, here also a list of only these; white space alone is a pred.
    """
    found = [was_extracted(detail) for detail in details if detail.error is None]
    return 100 * fmean(found) if found else None


def num_replies(records: Sequence[Record]) -> int:
    """Return how many records have a reply, and not an error."""
    return sum("prediction" in record for record in records)


def num_truncated(records: Sequence[Record]) -> int:
    """Return how many replies were cut off at ``max_tokens`` (``finish_reason`` is length)."""
    return sum(record.get("finish_reason") == "length" for record in records)


def length_stats(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Return n, mean, median, 95th percentile and maximum of the replies' lengths.

    ``characters`` are of the replies as they came (of each candidate, where a reply is a list);
    ``tokens`` are the ``completion_tokens`` of those whose ``usage`` says so. What no reply has
    is missing.
    """
    replies = [record["prediction"] for record in records if "prediction" in record]
    texts = [t for reply in replies for t in (reply if isinstance(reply, list) else [reply])]
    usages = [record.get("usage") or {} for record in records]
    lengths = {
        "characters": [len(str(text)) for text in texts if text is not None],
        "tokens": [u["completion_tokens"] for u in usages if "completion_tokens" in u],
    }
    return {unit: _stats(sorted(found)) for unit, found in lengths.items() if found}


def _stats(ordered: Sequence[int]) -> dict[str, float]:
    return {
        "n": len(ordered),
        "mean": fmean(ordered),
        "median": median(ordered),
        "p95": ordered[ceil(0.95 * len(ordered)) - 1],  # the nearest rank: a length that occurred
        "max": ordered[-1],
    }
