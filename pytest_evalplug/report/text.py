"""Model text made fit for a terminal, an XML file and a worker's wire."""

from __future__ import annotations

__all__ = ["clean", "clean_log", "ending", "shorten", "wrong_answer_text"]

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_evalplug.verdicts import Evaluation

SHOWN = 240
"""Characters of a question's or reply's end that a wrong answer's report shows."""


_COMMAND = re.compile(r"^(\s*):(?=:[\w-]+[ :])|#(?=#(?:vso)?\[)", re.MULTILINE)
"""What GitHub and Azure obey where a job prints it: ``::error::`` or ``##[error]``."""
_LEVEL = re.compile(r"\x1b\[[0-9;]{1,8}m([A-Z]{4,8} *)\x1b\[0m")
"""The coloured level of a record, as pytest captures logs."""


def clean(value: Any) -> str:
    r"""Return text in which control characters and lone surrogates are escapes (``\x1b``).

    So are direction marks, what has no width, and the first colon of a command to a CI server
    (``\x3a:error::``). Newlines and tabs stay. Hostile replies can then neither steer a terminal
    nor a CI server, nor break a file.
    """
    text = value if isinstance(value, str) else str(value)
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)
    if "::" in text or "##" in text:
        text = _COMMAND.sub(lambda found: f"{found[1] or ''}{_CODES[found[0][-1]]}", text)
    return text


_CODES = {":": r"\x3a", "#": r"\x23"}


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def clean_log(text: str) -> str:
    r"""Return a log that pytest captured as :func:`clean` does; its levels keep their colours."""
    shown, position = [], 0
    for level in _LEVEL.finditer(text):
        shown += [clean(text[position : level.start()]), level[0]]
        position = level.end()
    return "".join([*shown, clean(text[position:])])


def ending(value: Any, length: int = SHOWN) -> str:
    """Return the end of a text, where answers stand."""
    text = (value if isinstance(value, str) else str(value)).strip(" \n\t")
    shown = clean(text[-length:])
    if len(shown) <= length and len(text) <= length:
        return shown
    return f"… {shown[-length:].lstrip()}"


def shorten(value: Any, length: int) -> str:
    """Return the start of a text; says how much is left out."""
    text = clean(value)
    if len(text) <= length:
        return text
    return f"{text[:length]}… ({len(text) - length} more characters)"


def question_of(prompt: Any) -> str:
    """Return the last message of a prompt, or the prompt itself."""
    if isinstance(prompt, list) and prompt:
        return str(prompt[-1].get("content", ""))
    return str(prompt)


def wrong_answer_text(evaluation: Evaluation) -> str:
    """Return the few lines that a wrong answer's report consists of."""
    record = evaluation.record
    rows = (
        ("question", ending(question_of(record.get("origin_prompt")))),
        ("reply", ending(record["prediction"])),
        ("pred", shorten(evaluation.pred, SHOWN)),
        ("reference", shorten(evaluation.reference, SHOWN)),
    )
    # continuation lines are indented, so that the four labels stand out
    return "\n".join(
        f"{name + ':':<11}{text.replace(chr(10), chr(10) + ' ' * 11)}" for name, text in rows
    )
