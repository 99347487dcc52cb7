"""Log-probabilities of a prompt's tokens, as ``/v1/completions`` echoes them: pure functions.

The request is OpenAI's old form, ``echo`` with ``logprobs=1``, which vLLM, SGLang and
llama-cpp-python answer. One token is written and thrown away: not every server takes
``max_tokens=0`` for none (to llama-cpp-python it means no limit; vLLM makes it 1 itself).

``text_offset`` is not read. It is counted from the tokens' texts, by some servers in bytes, by
others with the length of a BOS token that the prompt does not have, and SGLang sends -1. The texts
themselves say the same, and where they don't, that can be seen.
"""

from __future__ import annotations

__all__ = ["Echo", "likelihood_body", "read_echo", "split_at"]

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_evalplug.errors import ModelError
from pytest_evalplug.types import ModelOutput

_REPLY_ONLY = "gives log-probabilities of the reply only, not of the prompt"


def likelihood_body(model: str, prompt: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body that asks how likely a prompt's tokens are; ``extra`` has the last word.

    No template and no stop text goes with it: what is scored is the prompt as it stands.
    """
    asked = {"echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0.0}
    return {"model": model, "prompt": prompt, **asked, **extra}


@dataclass(frozen=True, slots=True)
class Echo:
    """A prompt's tokens as the server split it, its BOS token included.

    ``logprobs`` (nats) and ``best``, the highest of any token in that place, are None where the
    server sends null: for the first token, which nothing predicts.
    """

    texts: list[str]
    logprobs: list[float | None]
    best: list[float | None]
    starts: list[int]
    """Where the last tokens begin in the prompt, in characters; those of the others are unknown."""
    special: int
    """How many tokens at the start are not of the prompt: 1 if the server adds a BOS token."""
    usage: Mapping[str, int] | None

    def sum(self, first: int) -> tuple[float, bool]:
        """Return the log-probability of the tokens from ``first`` on, and whether all are the best.

        Equal values are a tie, and either of them the best. Raises ModelError for a value that is
        missing or no log-probability.
        """
        values = [
            _checked(value, text)
            for value, text in zip(self.logprobs[first:], self.texts[first:], strict=True)
        ]
        greedy = all(
            best is not None and value >= best
            for value, best in zip(values, self.best[first:], strict=True)
        )
        return math.fsum(values), greedy


def _checked(value: float | None, text: str) -> float:
    if value is None:
        raise ModelError(f"the server gives no log-probability of the token {text!r}")
    if not -math.inf < value <= 1e-3:  # a rounded sum of exponentials can exceed 1 by that much
        raise ModelError(f"the server gives {value} as log-probability of the token {text!r}")
    return value


def read_echo(output: ModelOutput, prompt: str) -> Echo | str:
    """Return the prompt's tokens in a reply, or what the server did instead."""
    found = output.logprobs if isinstance(output.logprobs, dict) else {}
    tokens, logprobs, top = _columns(found)
    if not tokens:
        if found.get("content"):  # the form of chats, which llama.cpp's server has here too
            return _REPLY_ONLY
        if output.completion.startswith(prompt):
            return "echoes the prompt without log-probabilities"
        return "ignores echo and logprobs"
    if not any(top):
        return "gives no top_logprobs, so that nobody knows which tokens greedy decoding takes"
    if not len(tokens) == len(logprobs) == len(top):
        return "gives tokens, token_logprobs and top_logprobs of different lengths"
    count = _count(output, len(tokens))
    if count < max(1, min(2, len(prompt.split()))):
        return _REPLY_ONLY
    texts = [str(token) for token in tokens[:count]]
    starts = _starts(texts, prompt)
    return Echo(
        texts,
        [_number(value) for value in logprobs[:count]],
        [_highest(entry) for entry in top[:count]],
        starts,
        _special(texts, starts, prompt),
        output.usage,
    )


def _columns(found: Mapping[str, Any]) -> list[list[Any]]:
    columns = [found.get(name) for name in ("tokens", "token_logprobs", "top_logprobs")]
    return [column if isinstance(column, list) else [] for column in columns]


def _number(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _highest(entry: Any) -> float | None:
    values = map(_number, entry.values()) if isinstance(entry, dict) else ()
    return max((value for value in values if value is not None), default=None)


def _count(output: ModelOutput, total: int) -> int:
    """Return how many of all tokens are the prompt's; one was written unless usage knows better."""
    count = (output.usage or {}).get("prompt_tokens", total - 1)
    return count if 0 < count <= total else total - 1


def _starts(texts: list[str], prompt: str) -> list[int]:
    """Return where the tokens begin, from the end back to the first whose text does not fit.

    That is a BOS token, one that lost its space, or one that holds a part of a character.
    """
    starts = [len(prompt)]
    for text in reversed(texts):
        if not prompt.endswith(text, 0, starts[-1]):
            break
        starts.append(starts[-1] - len(text))
    return starts[:0:-1]


def _special(texts: list[str], starts: list[int], prompt: str) -> int:
    first = texts[0].lstrip()
    if starts[:1] == [0]:
        return len(texts) - len(starts) or int(not first)
    coded = "\N{REPLACEMENT CHARACTER}" in first or first.startswith(("bytes:", "token_id:"))
    return int(not (coded or prompt.lstrip().startswith(first or "\0")))


def split_at(echo: Echo, boundary: int) -> int | None:
    """Return the first token that reaches beyond character ``boundary`` of the prompt.

    One that lies across is the continuation's. None where the texts don't say.
    """
    if boundary == 0:
        return echo.special
    starts = echo.starts
    if not starts or starts[0] > boundary:
        return None
    across = bisect_right(starts[1:], boundary)
    return len(echo.texts) - len(starts) + min(across, bisect_left(starts, boundary))
