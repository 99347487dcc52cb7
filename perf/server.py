"""An OpenAI-compatible server that knows GSM8K, for measuring clients.

    python -m perf.server [milliseconds a reply takes]

It prints its port. About four of five replies are right, the same ones for whoever asks: a reply
is the solution of the question that stands last in the prompt, or that with another result. The
protocol is written by hand on asyncio, so that what is measured is the client: one request costs
the server a tenth of what it costs ``aiohttp.web``.

    GET /times     {"requests", "first", "last"}: when, since the last call, the first request
                   came in and the last reply went out (seconds of the monotonic clock)
    GET /bodies    the bodies of those requests, one a line
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from perf.measure import gsm8k

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_KEY = 6  # so many words of a question's beginning tell it from the others


class Replies:
    """The reply to each question, found by the question's words."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        self._known: dict[str, tuple[list[str], str]] = {}
        for number, row in enumerate(rows):
            solution, _, result = row["answer"].partition("\n#### ")
            if number % 5 == 4:
                result = str(int(result.replace(",", "")) + 1)
            solution = re.sub(r"<<[^<>]*>>", "", solution)
            text = f"{solution}\nThe answer is \\boxed{{{result}}}.\n#### {result}"
            words = row["question"].split()
            self._known[" ".join(words[:_KEY])] = words, text

    def find(self, prompt: str) -> str:
        """Return the reply to the last known question in ``prompt``."""
        words = prompt.split()
        for start in range(len(words) - 1, -1, -1):
            question, text = self._known.get(" ".join(words[start : start + _KEY]), ([], ""))
            # One question may begin with what is the middle of another.
            if question and question == words[start : start + len(question)]:
                return text
        return "I don't know."

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the completion, or chat completion, for a request's body."""
        chat = "messages" in body
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        if isinstance(prompt, list):  # of one prompt, or of a message's parts
            prompt = "".join(part["text"] if chat else part for part in prompt)
        text = self.find(prompt)
        choice = {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        return {
            "id": "x",
            "object": "chat.completion" if chat else "text_completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "finish_reason": "stop", **choice}],
            "usage": {"prompt_tokens": 240, "completion_tokens": 90, "total_tokens": 330},
        }


@dataclass
class Record:
    """What came in since the last look."""

    first: float = 0.0
    last: float = 0.0
    bodies: list[bytes] = field(default_factory=list)

    def take_times(self) -> bytes:
        """Return the times as JSON and begin anew."""
        times = {"requests": len(self.bodies), "first": self.first, "last": self.last}
        self.first, self.bodies = 0.0, []
        return json.dumps(times).encode()


class Connection(asyncio.Protocol):
    """One client's connection: requests one after another, each with a body of stated length."""

    def __init__(self, replies: Replies, record: Record, seconds: float) -> None:
        self._replies = replies
        self._record = record
        self._seconds = seconds
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a whole request is there."""
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = int(found[1]) if (found := _LENGTH.search(head)) else 0
        if len(rest) >= length:
            self._buffer = rest[length:]
            self._take(head.split(b" ", 2), rest[:length])

    def _take(self, line: list[bytes], body: bytes) -> None:
        method, path, _ = line
        if method == b"GET":
            known: dict[bytes, Callable[[], bytes]] = {
                b"/times": self._record.take_times,
                b"/bodies": lambda: b"\n".join(self._record.bodies),
            }
            return self._send(known.get(path, lambda: b'{"data": []}')())
        self._record.first = self._record.first or time.monotonic()
        self._record.bodies.append(body)
        reply = json.dumps(self._replies.answer(json.loads(body))).encode()
        if self._seconds:
            asyncio.get_running_loop().call_later(self._seconds, self._reply, reply)
        else:
            self._reply(reply)

    def _reply(self, reply: bytes) -> None:
        self._record.last = time.monotonic()
        self._send(reply)

    def _send(self, content: bytes) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        self._transport.write(f"{head}{len(content)}\r\n\r\n".encode() + content)


async def serve(milliseconds: float) -> None:
    replies, record = Replies(gsm8k()), Record()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(replies, record, milliseconds / 1000), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
