"""What a dataset's prompts share, few-shot examples mostly, told from what each has of its own."""

from __future__ import annotations

__all__ = ["Shared", "preview"]

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

WORTHWHILE = 80
"""Characters below which a common beginning is no few-shot header."""


@dataclass(frozen=True)
class Shared:
    """The messages with which prompts begin, then the text with which the next one begins.

    A prompt that is a text begins with ``text``.
    """

    messages: list[Any] = field(default_factory=list)
    text: str = ""

    @classmethod
    def of(cls, prompts: Sequence[Any]) -> Shared:
        """Return what these prompts begin with; nothing of a single one."""
        if len(prompts) < 2:
            return cls()
        if all(isinstance(prompt, str) for prompt in prompts):
            return cls([], _common_text(prompts))
        if not all(isinstance(prompt, list) for prompt in prompts):
            return cls()
        count = 0
        while all(len(p) > count + 1 and p[count] == prompts[0][count] for p in prompts):
            count += 1
        following = [prompt[count] if len(prompt) > count else None for prompt in prompts]
        return cls(prompts[0][:count], _common_text([_content(message) for message in following]))

    def cut(self, prompt: Any) -> tuple[Any, bool]:
        """Return a prompt without what is shared, and whether it had that."""
        if not self.messages and not self.text:
            return prompt, False
        if isinstance(prompt, str):
            fits = not self.messages and prompt.startswith(self.text)
            return (prompt[len(self.text) :], True) if fits else (prompt, False)
        count = len(self.messages)
        if not isinstance(prompt, list) or len(prompt) <= count or prompt[:count] != self.messages:
            return prompt, False
        first, *rest = prompt[count:]
        if not self.text:
            return [first, *rest], True
        content = _content(first)
        if not isinstance(content, str) or not content.startswith(self.text):
            return prompt, False
        return [{**first, "content": content[len(self.text) :]}, *rest], True

    def to_wire(self) -> dict[str, Any]:
        """Return plain types."""
        return {"messages": self.messages, "text": self.text}


def preview(prompt: Any, length: int, *, from_start: bool) -> str:
    """Return some of a prompt on one line: its beginning if that is its own, else its end."""
    text = prompt if isinstance(prompt, str) else _last_content(prompt)
    if from_start or len(text) <= length:
        words = " ".join(text[: 2 * length].split())
        return words[:length] + "…" if len(words) > length or len(text) > 2 * length else words
    return "…" + " ".join(text[-2 * length :].split())[-length:]


def _common_text(texts: Sequence[Any]) -> str:
    """Return whole lines with which all texts begin; the last line of each is its own."""
    if not all(isinstance(text, str) for text in texts):
        return ""
    first, last = min(texts), max(texts)  # what these share, all share
    differing = (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    end = next(differing, min(len(first), len(last)) - 1)
    lines = first[: first.rfind("\n", 0, end) + 1]
    return lines if len(lines) >= WORTHWHILE else ""


def _content(message: Any) -> Any:
    return message.get("content") if isinstance(message, dict) else None


def _last_content(prompt: Any) -> str:
    if prompt is None:
        return ""
    content = _content(prompt[-1]) if isinstance(prompt, list) and prompt else prompt
    return content if isinstance(content, str) else json.dumps(content)
