"""Model text made fit for a terminal, an XML file and a worker's wire."""

from __future__ import annotations

__all__ = ["clean", "encodable", "ending", "shorten", "wrong_answer_text"]

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_evalplug.verdicts import Evaluation

SHOWN = 240
"""Characters of a question's or reply's end that a wrong answer's report shows."""


def clean(value: Any) -> str:
    r"""Return text in which control characters and lone surrogates are escapes (``\x1b``).

    Newlines and tabs stay. Hostile replies can then neither steer a terminal nor break a file.
    """
    text = value if isinstance(value, str) else str(value)
    if text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def encodable(text: str) -> str:
    r"""Return text whose lone surrogates are escapes (``\ud800``); all else stays."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def ending(value: Any, length: int = SHOWN) -> str:
    """Return the end of a text, where answers stand."""
    text = clean(value).strip()
    return text if len(text) <= length else f"… {text[-length:].lstrip()}"


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
