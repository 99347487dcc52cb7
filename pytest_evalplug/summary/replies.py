"""What the replies were like: an answer found, how long, cut off."""

from __future__ import annotations

__all__ = ["Replies", "extract_rate", "was_extracted"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean, median
from typing import Any

from pytest_evalplug.evaluation.outcome import is_empty
from pytest_evalplug.model.usage import Usage
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


@dataclass(slots=True)
class Replies:
    """What the prediction records of a dataset say of its replies, in one pass over them."""

    num_replies: int = 0
    """Records that have a reply, and not an error."""
    num_truncated: int = 0
    """Replies cut off at ``max_tokens`` (``finish_reason`` is length)."""
    num_fewer_shots: int = 0
    """Prompts that were too long and were sent with fewer shots."""
    num_imported: int = 0
    """Replies to another tool's prompts, taken over with ``evalplug import``."""
    characters: list[int] = field(default_factory=list)
    """Lengths of the replies as they came, of each candidate where a reply is a list."""
    num_with_usage: int = 0
    """Replies that say how many tokens they took."""
    usage: Usage = field(default_factory=Usage)
    """The sum of these."""
    tokens: list[int] = field(default_factory=list)
    """``completion_tokens`` of those whose ``usage`` says so."""

    @classmethod
    def of(cls, records: Iterable[Record], *, lengths: bool = True) -> Replies:
        """Count; without ``lengths`` the lengths are left out."""
        replies = cls()
        for record in records:
            replies.num_replies += "prediction" in record
            replies.num_truncated += record.get("finish_reason") == "length"
            replies.num_fewer_shots += "dropped_shots" in record
            replies.num_imported += "imported" in record
            if "prediction" in record and (usage := Usage.of(record.get("usage"))):
                replies.num_with_usage += 1
                replies.usage = replies.usage.plus(usage)
            if lengths:
                replies._measure(record)
        return replies

    def _measure(self, record: Record) -> None:
        reply = record.get("prediction")
        texts = reply if isinstance(reply, list) else [reply]
        self.characters += [len(str(text)) for text in texts if text is not None]
        usage = record.get("usage") or {}
        if "completion_tokens" in usage:
            self.tokens.append(usage["completion_tokens"])

    def length_stats(self) -> dict[str, dict[str, float]]:
        """Return n, mean, median, 95th percentile and maximum of ``characters`` and ``tokens``.

        What no reply has is missing.
        """
        lengths = {"characters": self.characters, "tokens": self.tokens}
        return {unit: _stats(sorted(found)) for unit, found in lengths.items() if found}


def _stats(ordered: Sequence[int]) -> dict[str, float]:
    return {
        "n": len(ordered),
        "mean": fmean(ordered),
        "median": median(ordered),
        "p95": ordered[ceil(0.95 * len(ordered)) - 1],  # the nearest rank: a length that occurred
        "max": ordered[-1],
    }
