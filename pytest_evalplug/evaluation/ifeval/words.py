"""Words by the rules of the Penn Treebank tokenizer, as NLTK extends them.

Source: R. MacIntyre's ``tokenizer.sed`` (1995) and ``word_tokenize`` of NLTK 3.10.4, whose words
these are. ``'`` and ``"`` and clitics (``'s``, ``n't``) become words of their own.
"""

from __future__ import annotations

__all__ = ["words"]

import re

from pytest_evalplug.evaluation.ifeval.punkt import sentences

_CLOSING = "])}>\"' \u00bb\u201d\u2019"

_OPENING_QUOTES = [
    (re.compile("[\u00ab\u201c\u2018\u201e]|`+"), r" \g<0> "),
    (re.compile(r'^"', re.MULTILINE), "``"),
    (re.compile("``"), " `` "),
    (re.compile(r"""([ (\[{<])(?:"|'')"""), r"\1 `` "),
    (re.compile(r"(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", re.IGNORECASE), "' "),
]
_MARKS = [
    (re.compile(r"([:,])([^\d])"), r" \1 \2"),
    (re.compile(r"[:,]$", re.MULTILINE), r" \g<0> "),
    (re.compile(r"\.{2,}"), r" \g<0> "),
    (re.compile(r"[;@#$%&\u2012-\u2015?!]"), r" \g<0> "),
    (re.compile(r"([^'])' "), r"\1 ' "),
    (re.compile(r"[*\[\](){}<>]|--"), r" \g<0> "),
]
_CLOSING_QUOTES_AND_CLITICS = [
    (re.compile("[\u00bb\u201d\u2019]"), r" \g<0> "),
    (re.compile("''|\""), " '' "),
    (re.compile(r"\s+"), " "),
    (re.compile(r"([^' ])('[sSmMdD]|') "), r"\1 \2 "),
    (re.compile(r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) "), r"\1 \2 "),
    *(
        (re.compile(pattern, re.IGNORECASE), r" \1 \2 ")
        for pattern in (
            r"\b(can)(not)\b",
            r"\b(d)('ye)\b",
            r"\b(gim)(me)\b",
            r"\b(gon)(na)\b",
            r"\b(got)(ta)\b",
            r"\b(lem)(me)\b",
            r"\b(more)('n)\b",
            r"\b(wan)(na)(?=\s)",
            r" ('t)(is)\b",
            r" ('t)(was)\b",
        )
    ),
]


def words(text: str) -> list[str]:
    """Return the words of all sentences of ``text``. Linear time."""
    # One sentence a line, and so all in one go; inner newlines count like any other white space.
    lines = "\n".join(sentence.replace("\n", "\t") for sentence in sentences(text))
    lines = _apply(_OPENING_QUOTES, lines)
    lines = "\n".join(map(_set_off_full_stop, lines.split("\n")))
    lines = _apply(_MARKS, lines).replace("\n", " \n ")
    return _apply(_CLOSING_QUOTES_AND_CLITICS, f" {lines} ").split()


def _apply(rules: list[tuple[re.Pattern[str], str]], text: str) -> str:
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def _set_off_full_stop(text: str) -> str:
    """Part the last full stop, unless it is one of several, from its word and from what closes."""
    body = text.rstrip()
    head = body.rstrip(_CLOSING)
    if len(head) < 2 or not head.endswith(".") or head[-2] == ".":
        return text
    return f"{head[:-1]} . {body[len(head) :]} "
