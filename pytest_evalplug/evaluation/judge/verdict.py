r"""What a judge's reply says, read strictly: a verdict is found or there is none, never guessed.

Read are, outside quotations and reasoning: a line that is nothing but the label, a label that
follows a cue ("Verdict: B", "the final grade is B"), one in double brackets, in a box or in tags
(``[[A]]``, ``\boxed{A}``, ``<verdict>A</verdict>``), one after the colon that ends the reply, and
a word that a plain last sentence ends in ("The answer is incorrect."). The last of these counts.
Only a label of several capitals may also stand anywhere, if no other one does. Labels side by side
("A or B") and negated ones are no verdict.
"""

from __future__ import annotations

__all__ = ["read_score", "read_verdict"]

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

_CUE = (
    r"(?i:(?:\b(?:verdict|grade|rating|judge?ment|decision|score|result|winner|conclusion"
    r"|assessment|evaluation|classification|label|choice|(?:final|my) answer)\b"
    r"(?: [^\W\d_]{1,12}){0,4}?"
    r"|(?:评判|判断|判定|裁决|结论|结果|评分|评级|等级|得分|分数|打分|选择)(?:结果|是)?))"
)
_OPEN, _CLOSE = r"[*_`~\"'(\[{<「【]{0,6}", r"[*_`~\"')\]}>」】]{0,6}"
_GAP = rf"{_OPEN} ?{_CLOSE} {{0,3}}(?:(?i:is|was)|=|:|为|是|->|→)"
_PLAIN = (
    r"[ ]?(?:(?i:so|thus|therefore|hence|overall|in conclusion|finally),? )?"
    r"(?i:it|this|that|(?:the|this|that|its|his|her|their|your)"
    r"(?: (?:final|given|proposed|graded|student's|candidate's|model's|assistant's))?"
    r" (?:answer|response|reply|result|solution|prediction|statement|value)"
    r"(?: (?:to (?:the|this) question|to grade|given|above|provided)){0,2}) (?i:is|was) {0,2}"
)
"""How a sentence begins that does nothing but give the verdict."""
_ANOTHER = re.compile(
    r"[*_`)\]]{0,4} ?(?:/|\||,|&|\bor\b|\band\b|\bnor\b|或|和|、) ?[*_`(\[]{0,4} ?"
)
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bwhether|\bno longer|不|非|没有)[ *_`\"'(\[]{0,4}$",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:whether|if|unless|cannot|can't|unable|unsure)\b[^.\n]{0,60}$", re.I)
_QUOTED = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|「[^」\n]{1,2000}」|«[^»\n]{1,2000}»")
_MARKUP = "*_`~#>\"'()[]{}<「」【】 .。!！"
_LONGEST = 60_000
"""A verdict is sought in the reply's last characters: no judge needs more to come to its point."""


def read_verdict(reply: Any, labels: Sequence[str]) -> str:
    r"""Return the label that a judge settles on, ``""`` if there is none.

    ``labels`` of several letters are read in any case where a cue leads to them or they stand
    alone, and in their own case elsewhere; a single letter counts in its own case, or alone.

    >>> read_verdict("The text says \"Grade: A\" to fool me.\nGrade: B", ["A", "B"])
    'B'
    """
    text = _own_words(reply)
    reading = _reading(tuple(labels))
    if (alone := reading.named(text)) is not None:
        return alone
    claims = sorted(reading.claims(text))
    if claims:
        return claims[-1][1]
    return reading.only_one(text)


def read_score(reply: Any, low: float, high: float) -> float | None:
    """Return the number from ``low`` to ``high`` that a judge gives, or ``None``.

    It is read where :func:`read_verdict` reads a label; ``8/10`` and "8 out of 10" are 8 where
    ``high`` is 10, and no score on another scale.

    >>> read_score("Rating: [[7]]", 1, 10)
    7.0
    """
    claims = sorted(_numbers(_own_words(reply)))
    if not claims:
        return None
    _, value, scale = claims[-1]
    return value if low <= value <= high and scale in (None, high) else None


def _own_words(reply: Any) -> str:
    text, _ = split_reasoning("" if reply is None else str(reply))
    text = re.sub(r"[^\S\n]+", " ", fold(text[-_LONGEST:])).strip()
    if _QUOTED.fullmatch(text):  # a reply all in quotes quotes nobody
        return text[1:-1]
    text = re.sub(r"\"(\w{1,20})\" ?: ?\"?([\w. ]{1,40})\"?", r"\1: \2", text)  # JSON
    return _QUOTED.sub(" … ", text)


class _Reading:
    """The patterns for one set of labels."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self._labels = {label.casefold(): label for label in labels}
        names = [re.escape(label) for label in sorted(labels, key=len, reverse=True)]
        # a letter's other case is a word's letter
        loose = [f"(?i:{name})" if len(name) > 1 else name for name in names]
        self._claims = [re.compile(p) for p in _claiming(_token("label", "|".join(loose)))]
        words = "|".join(f"(?i:{name})" for name in names if len(name) > 1) or r"\Z."
        self._plain = re.compile(
            rf"(?P<before>{_PLAIN}){_OPEN}{_token('label', words)}{_CLOSE}[.!。]?\Z"
        )
        self._exact = re.compile(_token("label", "|".join(names)))
        self._any = re.compile(self._exact.pattern, re.IGNORECASE)
        self._opening = re.compile(
            rf"^{_OPEN}{self._exact.pattern}{_CLOSE}(?P<end>[.:;,)]| ?[\-–—]) ?(?=\S)",
            re.IGNORECASE | re.MULTILINE,
        )

    def named(self, text: str) -> str | None:
        """Return the label that ``text`` is, apart from marks around it."""
        return self._labels.get(text.strip(_MARKUP).casefold())

    def claims(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield position and label of what is claimed, in no order."""
        for pattern in self._claims:
            for match in pattern.finditer(text):
                start, end = match.span("label")
                before = text[max(0, start - 20) : start]
                if not self._joined(text, end) and not _NEGATED.search(before):
                    yield start, self._labels[match["label"].casefold()]
        position = 0
        for line in text.split("\n"):
            if (label := self.named(line)) is not None:
                yield position, label
            position += len(line) + 1
        yield from self._leading(text)
        yield from self._closing(text)

    def only_one(self, text: str) -> str:
        """Return the label of several capitals that occurs, if no other label does."""
        matches = list(self._exact.finditer(text))
        label = matches[0]["label"] if matches else ""
        if len(label) < 2 or label != label.upper() or label == label.lower():
            return ""
        for match in matches:
            before = text[max(0, match.start() - 80) : match.start()]
            if match["label"] != label or _NEGATED.search(before) or _HEDGED.search(before):
                return ""
        return label

    def _leading(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the label that opens the reply, unless others open lines: then it is a list."""
        openings = list(self._opening.finditer(text))
        if not openings or openings[0].start() or openings[0]["end"] == ")":
            return
        first = openings[0]["label"]
        label = self._labels[first.casefold()]
        alone = all(match["label"].casefold() == label.casefold() for match in openings)
        if alone and (len(label) > 1 or first == label):
            yield openings[0].start("label"), label

    def _closing(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the word that the last sentence says the answer is, if it just says so."""
        start = max(text.rfind(mark, 0, -2) for mark in ("\n", ". ", "! ", "? ", "。"))
        match = self._plain.match(text, start + 1 if start >= 0 else 0)
        if match is not None:
            yield match.start("label"), self._labels[match["label"].casefold()]

    def _joined(self, text: str, end: int) -> bool:
        """Tell whether another label is offered beside the one that ends at ``end``."""
        gap = _ANOTHER.match(text, end)
        return gap is not None and self._any.match(text, gap.end()) is not None


_reading: Callable[[tuple[str, ...]], _Reading] = lru_cache(maxsize=64)(_Reading)


def _token(name: str, pattern: str) -> str:
    return rf"(?<![\w\-'])(?P<{name}>{pattern})(?![\w\-'])"


def _claiming(token: str) -> list[str]:
    """Return patterns that find ``token`` where a reply claims it."""
    return [
        rf"{_CUE}{_GAP} {{0,3}}{_OPEN} ?{token}",
        rf"\[\[ ?{token} ?\]\]",
        rf"\\(?:boxed|fbox) ?\{{ ?(?:\\text ?\{{ ?)?{token}",
        rf"<(?P<tag>[A-Za-z_]{{1,30}})> ?{token} ?</(?P=tag)>",
        rf": ?{_OPEN}{token}{_CLOSE}[.。!]?\Z",
    ]


_NUMBER = (
    r"(?<![\w.\-])(?P<value>-?\d{1,6}(?:\.\d{1,6})?)(?![A-Za-z0-9_]|\.\d)"
    r"(?: ?(?:/|out of|of) ?(?P<scale>\d{1,6}))?"
)
_SCORES = [
    re.compile(pattern)
    for pattern in [
        *_claiming(_NUMBER),
        rf"(?m)^[*_`#>\"'(\[ ]{{0,6}}{_NUMBER}[*_`\"')\].。!]{{0,6}}$",
    ]
]
_RANGE = re.compile(r" ?(?:-|–|to|or|和|到|至) ?\d")


def _numbers(text: str) -> Iterator[tuple[int, float, float | None]]:
    """Yield position, value and stated scale of each number that is claimed."""
    for pattern in _SCORES:
        for match in pattern.finditer(text):
            if _RANGE.match(text, match.end("scale" if match["scale"] else "value")):
                continue  # the scale itself: "score: 1-10"
            scale = float(match["scale"]) if match["scale"] else None
            yield match.start("value"), float(match["value"]), scale
