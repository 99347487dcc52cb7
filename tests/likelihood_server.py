"""Replies of servers that score prompts, well or badly; for the scripted server of ``servers.py``.

The model is a toy that knows words it has seen before.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from aiohttp import web

from tests.servers import Action, Call, Script, payload


class Token(NamedTuple):
    """A token's text, its log-probability, and the highest one in its place."""

    text: str
    logprob: float | None
    best: float | None


Model: TypeAlias = Callable[[str], list[Token]]
Reply: TypeAlias = dict[str, Any]


def toy_tokens(prompt: str) -> list[Token]:
    """Split words, their space before them; what was there before is likely, ``://`` one token."""
    texts = re.findall(r"://| ?\w+|\s|[^\w\s]", prompt)
    return [
        Token(text, -0.5 if text in texts[:i] else -3.0 - len(text), -0.5)
        if i
        else Token(text, None, None)
        for i, text in enumerate(texts)
    ]


def echoed(model: Model) -> Callable[[Call], Reply]:
    """Answer as vLLM does: prompt and one more token, character offsets, the best token on top."""

    def answer(call: Call) -> Reply:
        prompt = call.body["prompt"]
        tokens = [*model(prompt), Token(" and", -1.25, -1.25)]
        texts = [token.text for token in tokens]
        top = [_top(token) for token in tokens]
        offsets = list(itertools.accumulate(map(len, texts), initial=0))[:-1]
        logprobs = {
            "tokens": texts,
            "token_logprobs": [token.logprob for token in tokens],
            "top_logprobs": top,
            "text_offset": offsets,
        }
        usage = {"prompt_tokens": len(tokens) - 1, "completion_tokens": 1}
        choice = {"text": f"{prompt} and", "finish_reason": "length", "logprobs": logprobs}
        return {"choices": [choice], "usage": usage}

    return answer


def _top(token: Token) -> dict[str, float] | None:
    if token.best is None or token.logprob is None:
        return None
    return {token.text: token.logprob, **({} if token.best == token.logprob else {"x": token.best})}


def scoring(
    model: Model, change: Callable[[Reply], Reply | Action] = lambda reply: reply
) -> Script:
    """Return a script for the server: echo and log-probabilities, then ``change`` of the reply."""
    answer = echoed(model)

    def script(call: Call) -> Action:
        async def act(request: web.Request, call: Call) -> web.StreamResponse:
            reply = change(answer(call))
            return await (payload(reply) if isinstance(reply, dict) else reply)(request, call)

        return act

    return script


def logprobs_of(reply: Reply) -> dict[str, Any]:
    """Return the part of a reply that variants change."""
    found: dict[str, Any] = reply["choices"][0]["logprobs"]
    return found


def with_column(name: str, change: Callable[[list[Any]], Any]) -> Callable[[Reply], Reply]:
    """Change one column: ``tokens``, ``token_logprobs``, ``top_logprobs`` or ``text_offset``."""

    def changed(reply: Reply) -> Reply:
        columns = logprobs_of(reply)
        columns[name] = change(columns[name])
        return reply

    return changed


def with_bos(text: str = "<s>") -> Callable[[Reply], Reply]:
    """Begin with a BOS token that the prompt does not have."""

    def changed(reply: Reply) -> Reply:
        columns = logprobs_of(reply)
        columns["tokens"].insert(0, text)
        # what was first is now predicted, from the BOS token
        columns["token_logprobs"][:1] = [None, -2.5]
        columns["top_logprobs"][:1] = [None, {"x": -1.5}]
        columns["text_offset"] = [0, *(o + len(text) for o in columns["text_offset"])]
        reply["usage"]["prompt_tokens"] += 1
        return reply

    return changed


def without_logprobs(reply: Reply) -> Reply:
    """Echo only."""
    reply["choices"][0]["logprobs"] = None
    return reply


def without_echo(reply: Reply) -> Reply:
    """Ignore echo and logprobs, as ``transformers serve`` does."""
    reply["choices"][0].update(text=" and", logprobs=None)
    return reply


def of_the_reply(reply: Reply) -> Reply:
    """Score what was written only."""
    reply["choices"][0]["text"] = " and"
    for values in logprobs_of(reply).values():
        del values[:-1]
    return reply


def as_in_chats(reply: Reply) -> Reply:
    """Score what was written only, in the form of chats, as llama.cpp's server does."""
    content = [{"token": " and", "logprob": -1.25, "top_logprobs": []}]
    reply["choices"][0].update(text=" and", logprobs={"content": content})
    return reply


def of_the_end(reply: Reply) -> Reply:
    """Score the last six tokens of the prompt only."""
    for values in logprobs_of(reply).values():
        del values[:-7]
    reply["usage"]["prompt_tokens"] = 6
    return reply
