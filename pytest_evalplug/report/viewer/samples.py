"""One model's dataset for the page: an index of all its samples, and their texts in chunks."""

from __future__ import annotations

__all__ = ["SampleTable"]

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_evalplug.evaluation.outcome import is_number
from pytest_evalplug.report.strict import strict_json
from pytest_evalplug.report.viewer.prompts import Shared, preview
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.replies import was_extracted
from pytest_evalplug.types import Detail

CHUNK_CHARACTERS = 1 << 18
PREVIEW = 160
_COLUMNS = ("ids", "ask", "pred", "answer", "score", "chars", "tokens", "confidence")
_KEPT_ELSEWHERE = frozenset(("index", "sample_id", "subset", "key", "origin_prompt"))

Record = Mapping[str, Any]


class SampleTable:
    """Passes over the records once: :meth:`chunks` first, then :meth:`index`.

    ``records`` maps an index to a prediction record. Without details, as after
    ``--dump-eval-details=false``, the records alone are shown.
    """

    def __init__(self, result: ResultFile, records: Mapping[str, Record]) -> None:
        self._records = records
        self._details = (
            [Detail(index, index, result.subset) for index in records]
            if result.details is None
            else result.details
        )
        first = [records[d.index] for d in self._details[:16] if d.index in records]
        self._shared = Shared.of([r["origin_prompt"] for r in first if "origin_prompt" in r])
        self._starts: list[int] = []
        self._outcomes: list[str] = []
        self._flags: dict[str, list[int]] = {"no_answer": [], "truncated": []}
        self._columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}

    def chunks(self) -> Iterator[str]:
        """Yield the samples' texts: each chunk a JSON list of about 256 K characters."""
        chunk: list[str] = []
        size = 0
        for position, detail in enumerate(self._details):
            try:
                record = self._records[detail.index]
            except KeyError:  # it was never asked
                record = {}
            own, cut = self._shared.cut(record.get("origin_prompt"))
            if not chunk:
                self._starts.append(position)
            text = strict_json(
                {
                    "prompt": own,
                    "cut": cut,
                    "record": {k: v for k, v in record.items() if k not in _KEPT_ELSEWHERE},
                    "detail": detail.to_wire(),
                }
            )
            self._note(position, detail, record)
            self._columns["ask"].append(preview(own, PREVIEW, from_start=cut))
            chunk.append(text)
            size += len(text)
            if size >= CHUNK_CHARACTERS:
                yield f"[{', '.join(chunk)}]"
                chunk, size = [], 0
        if chunk:
            yield f"[{', '.join(chunk)}]"

    def index(self) -> str:
        """Return what the list of samples and its filters need, as JSON of columns."""
        columns = {name: values for name, values in self._columns.items() if any(values)}
        fields = {
            "shared": self._shared.to_wire(),
            "starts": self._starts,
            "outcomes": "".join(self._outcomes),
            **self._flags,
            **columns,
        }
        # one by one: to encode all at once takes several times the memory of the text
        return "{" + ", ".join(f'"{name}": {strict_json(fields[name])}' for name in fields) + "}"

    def _note(self, position: int, detail: Detail, record: Record) -> None:
        """Add a sample to the columns."""
        self._outcomes.append(_outcome(detail))
        if detail.score and not was_extracted(detail):
            self._flags["no_answer"].append(position)
        if record.get("finish_reason") == "length":
            self._flags["truncated"].append(position)
        # of likelihoods, the prediction is a letter that nobody wrote
        length = None if "continuations" in record else _length(record.get("prediction"))
        columns = self._columns
        columns["ids"].append(detail.sample_id)
        columns["pred"].append(_short(detail.pred))
        columns["answer"].append(_short(detail.answer))
        columns["score"].append(_first_score(detail))
        columns["chars"].append(length)
        columns["tokens"].append(_tokens(record.get("usage")))
        columns["confidence"].append(_confidence(record))


def _outcome(detail: Detail) -> str:
    """Return the letter of right, wrong, error, skipped, or no verdict."""
    if (detail.metadata or {}).get("skipped"):
        return "s"
    if detail.error is not None:
        return "e"
    return "n" if detail.correct is None else "r" if detail.correct else "w"


def _first_score(detail: Detail) -> float | None:
    """Return the first metric, unless it says no more than the verdict."""
    value = next(iter(detail.score.values()), None)
    if value is None or (value in (0, 1) and detail.correct is not None):
        return None
    return round(value, 4)


def _length(reply: Any) -> int | None:
    if isinstance(reply, str):
        return len(reply)
    if isinstance(reply, list):
        return sum(len(str(text)) for text in reply)
    return None if reply is None else len(str(reply))


def _tokens(usage: Any) -> int | None:
    count = usage.get("completion_tokens") if isinstance(usage, dict) else None
    return count if isinstance(count, int) else None


def _confidence(record: Record) -> float | None:
    """Return the chosen choice's share of all choices' probability, 0 to 1.

    Of ``ll`` that is the likeliest, of ``ppl`` that with the least loss a token.
    """
    if "continuations" not in record:  # log-probabilities are those of a reply's tokens
        return None
    logprobs = ranks = _numbers(record.get("logprobs"))
    if losses := _numbers(record.get("loss")):
        logprobs = [-loss for loss in losses]
        ranks = [-ppl for ppl in _numbers(record.get("ppl"))]
    if len(logprobs) < 2 or len(ranks) != len(logprobs):
        return None
    top, chosen = max(logprobs), logprobs[ranks.index(max(ranks))]
    share = math.exp(chosen - top) / math.fsum(math.exp(v - top) for v in logprobs)
    return round(share, 4)


def _numbers(value: Any) -> list[float]:
    """Return a list of finite numbers as it is, and an empty one for anything else."""
    found = value if isinstance(value, list) else []
    return found if all(is_number(v) and math.isfinite(v) for v in found) else []


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else strict_json(value)
    return text[:80] + "…" if len(text) > 80 else text
