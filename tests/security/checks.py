"""What must hold for any bytes, for the parsers that read what others wrote."""

from __future__ import annotations

__all__ = ["SEEDS", "TARGETS"]

import json
import math
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.judge.verdict import read_score, read_verdict
from pytest_evalplug.evaluation.postprocess.fences import fenced_blocks, outside_fences
from pytest_evalplug.model.api_schema import failure_of, model_ids, parse_output
from pytest_evalplug.model.retry import Failure
from pytest_evalplug.model.transport import Reply
from pytest_evalplug.run.journal import JournalWriter, scan_journal
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.summary.arithmetic import Expression
from pytest_evalplug.types import ModelOutput

_LABELS = (("A", "B", "C"), ("CORRECT", "INCORRECT"), ("1", "2", "3", "4", "5"), ("对", "错"))


def check_journal(data: bytes) -> None:
    """Whatever a journal holds, reading yields objects, and what is appended then is found."""
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(data)
        before = list(scan_journal(path))
        assert all(type(record) is dict for _, record in before)
        with JournalWriter(path) as journal:
            offset = journal.append({"new": "\ud800"})
        *kept, last = scan_journal(path)
        assert [r for _, r in kept][: len(before)] == [r for _, r in before] or _has_nan(before)
        assert last == (offset, {"new": "\ud800"})


def check_api_reply(data: bytes) -> None:
    """Any body becomes an output that can be stored, or a failure in a few words."""
    for status in (200, 400, 429, 500):
        reply = Reply(status, data, {})
        for api in ("chat", "completions"):
            result = parse_output(reply, api) if status == 200 else failure_of(reply)
            if isinstance(result, Failure):
                assert len(result.text) < 500
                assert "\n" not in result.text
                dumps(result.text).encode()
            else:
                _check_output(result)
    assert all(isinstance(name, str) for name in model_ids(Reply(200, data, {})))


def _check_output(output: ModelOutput) -> None:
    assert isinstance(output.completion, str)
    assert output.finish_reason is None or isinstance(output.finish_reason, str)
    assert output.reasoning is None or isinstance(output.reasoning, str)
    assert all(type(count) is int for count in (output.usage or {}).values())
    json.loads(dumps([output.completion, output.message, output.usage, output.logprobs]).encode())


def check_arithmetic(data: bytes) -> None:
    """A formula is refused, has a finite value, or says that it has none; nothing else runs."""
    text = data.decode("utf-8", "surrogateescape" if data[:1] == b"!" else "replace")
    try:
        formula = Expression.parse(text)
    except ConfigError:
        return
    formula.slope()
    for x in (0.0, 1.5, -1e308, 1e-300):
        with suppress(EvalplugError):
            assert math.isfinite(formula(x))


def check_verdict(data: bytes) -> None:
    """A verdict is a label or none; a score lies in its range."""
    text = data.decode("utf-8", "replace")
    for labels in _LABELS:
        assert read_verdict(text, labels) in ("", *labels)
    score = read_score(text, 1, 10)
    assert score is None or 1 <= score <= 10


def check_fences(data: bytes) -> None:
    """Blocks are parts of the text, and what is outside of them too."""
    text = data.decode("utf-8", "replace").replace("\r", "\n")
    for block in fenced_blocks(text):
        assert block.code in text or "\n" in block.code
        assert len(block.code) <= len(text)
    assert len(outside_fences(text)) <= len(text)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "api": check_api_reply,
    "arithmetic": check_arithmetic,
    "fences": check_fences,
    "journal": check_journal,
    "verdict": check_verdict,
}


_OUTPUT = {
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": [{"type": "text", "text": "4"}]},
            "finish_reason": "stop",
            "logprobs": {"tokens": ["a"], "token_logprobs": [-0.5]},
        }
    ],
    "usage": {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 1}},
}
SEEDS: dict[str, list[str]] = {
    "api": [
        json.dumps(_OUTPUT),
        '{"choices": [{"text": "4", "finish_reason": null}], "usage": null}',
        '{"error": {"message": "maximum context length", "code": 429, "type": "x"}}',
        '{"data": [{"id": "small"}], "detail": [{"msg": "no"}]}',
    ],
    "arithmetic": ["round(x * 100, 2)", "-max(x ** 0.5, 1e300) % 3 + log(x, 2)"],
    "fences": ["- ```python\nx = '''\n```\n'''\n```\n~~~\ny\n~~~\n> ```\n"],
    "journal": ['{"index": "0", "prediction": "4"}\n{"x": NaN}\n{"half', "\ufeff{}\n[]\n\u2028"],
    "verdict": [
        "The verdict is: [[A]], not B.",
        "<think>B?</think>**Grade**: CORRECT (8/10)",
        'I say "Grade: A"\n```json\n{"score": 7}\n```\n评分：4',
    ],
}
"""Texts to start from."""


def _has_nan(found: Any) -> bool:
    return "nan" in repr(found)


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
