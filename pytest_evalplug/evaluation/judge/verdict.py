r"""What a judge's reply says, read strictly: a verdict is found or there is none, never guessed.

Read are, outside quotations and reasoning: a line that is nothing but the label, a label that
follows a cue ("Verdict: B", "the final grade is B"), one in double brackets, in a box or in tags
(``[[A]]``, ``\boxed{A}``, ``<verdict>A</verdict>``), one after the colon that ends the reply, and
one that a plain last sentence gives ("The answer is incorrect.", "Response B is better."). The
last of these counts. Only a label of several capitals may also stand anywhere, if no other one
does. Labels side by side ("A or B"), negated and doubted ones ("CORRECT?") are no verdict.
"""

from __future__ import annotations

__all__ = ["read_score", "read_verdict"]

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pytest_evalplug.evaluation.postprocess.text import fold
from pytest_evalplug.evaluation.postprocess.think import split_reasoning

_CUE = (
    r"(?i:(?:\b(?:verdict|grade|rating|judge?ment|decision|score|result|winner|conclusion"
    r"|assessment|evaluation|classification|label|choice|preference|vote|overall|correct(?:ness)?"
    r"|(?:final|my) answer|(?:better|best|preferred) (?:answer|response|assistant|one))\b"
    r"(?: (?-i:(?![A-Z]\b))[^\W\d_]{1,12}){0,4}?(?: ?\([^()\n]{1,20}\))?"
    r"|(?:评判|判断|判定|裁决|结论|结果|评分|评级|等级|得分|分数|总分|打分|选择)(?:结果|是)?))"
)
_HAN = "\u3400-\u9fff"
_OPEN, _CLOSE = r"[*_`~\"'(\[{<「【✅❌✔✖]{0,6} ?", r"[*_`~\"')\]}>」】]{0,6}"
_GAP = rf"{_OPEN} ?{_CLOSE} {{0,3}}(?:\b(?i:is|was)(?: an?)?\b|=|:|为|是|->|→|[-–—](?= ))"
_SIDE = (
    r"(?i:(?:the )?(?:assistant|response|answer|model|candidate|option|output) "
    r"|(?:助手|回答|答案|模型|选项) ?)?"
)
_START = r"[ ]?(?i:(?:so|thus|therefore|hence|overall|in conclusion|finally),? )?"
_PLAIN = (
    rf"{_START}(?:{_CUE}{_CLOSE}: ?{_CLOSE} ?)?"
    r"(?i:it|this|that|(?:the|this|that|its|his|her|their|your)"
    r"(?: (?:final|given|proposed|graded|student's|candidate's|model's|assistant's))?"
    r" (?:answer|response|reply|result|solution|prediction|statement|value)"
    r"(?: (?:to (?:the|this) question|to grade|given|above|provided)){0,2})"
    r" (?i:is|was)(?: an?)? {0,2}"
)
"""How a sentence begins that does nothing but give the verdict."""
_PREFERS = (
    rf"{_START}(?:I(?: would|'d|'ll| will)? (?:choose|pick|prefer|select|vote for|go with) "
    rf"|我(?:会)?选择? ?){_SIDE}"
)
_BETTER = rf"{_START}(?i:(?:i (?:think|believe)(?: that)? )?){_SIDE}"
_IS_BETTER = (
    r" ?(?:更好|胜出|获胜|(?<= )(?:wins|is (?:clearly |slightly |much |significantly |the )?"
    r"(?:better|best|stronger|superior|winner)(?: one| answer| response)?))"
)
_ANOTHER = re.compile(
    r"[*_`)\]'\"]{0,4} ?(?:/|\||,|,? ?\b(?:or|and|nor|to|vs\.?|versus)\b|&|或|和|与|到|至|、)"
    rf" ?(?:{_CUE}{_GAP} ?)?[*_`(\['\"]{{0,4}} ?| "
)
_UNSURE = re.compile(
    r"[*_`)\]}\"']{0,4} ?(?:\?|/ ?\w|(?:or|and)(?: {1,2}…|\Z)|(?:is|was) "
    r"(?!(?:\w+ )?(?:better|best|stronger|superior|winner|preferable|preferred|right|correct)\b))"
)
"""What follows a label that isn't claimed: a question, another choice, what is said of it."""
_NEGATED = re.compile(
    r"(?:\bnot|n't|\bnever|\bneither|\bwhether|\bno longer|不|非|没有)[ *_`\"'(\[]{0,4}$",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:whether|if|unless|cannot|can't|unable|unsure)\b[^.\n]{0,60}$", re.I)
_QUOTED = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”|「[^」\n]{1,2000}」|«[^»\n]{1,2000}»")
_MARKED = re.compile(r"(?<!\w)'([^'\n]{1,300})'(?!\w)|(?<!`)`([^`\n]{1,300})`(?!`)")
_LABEL_LINE = re.compile(r"^ ?`(\[\[\w+\]\])`[.。]? ?$", re.MULTILINE)
_CLAIMED_QUOTE = re.compile(
    rf"({_CUE}{_GAP} {{0,3}}[*_]{{0,3}})[\"'`“]([\w\[\]][\w \[\]]{{0,30}})[\"'`”]"
)
_FENCE = re.compile(r"^ ?(?:```|~~~)\w{0,10} ?$", re.MULTILINE)
_BLOCKQUOTE = re.compile(r"^ ?>(?!=).*$", re.MULTILINE)
_FIELD = re.compile(r"([\"'])(\w{1,20})\1 ?: ?([\"']?)([\w. ]{1,40})\3")
_MARKUP = "✅❌✔✖*_`~#>\"'()[]{}<「」【】 .。!！"
_LONGEST = 60_000
"""A verdict is sought in the reply's last characters: no judge needs more to come to its point."""


def read_verdict(reply: Any, labels: Sequence[str]) -> str:
    r"""Return the label that a judge settles on, ``""`` if there is none.

    ``labels`` of several letters are read in any case where a cue leads to them or they stand
    alone, and in their own case elsewhere; a single letter counts in its own case, or alone.

    >>> read_verdict("The text says \"Grade: A\" to fool me.\nGrade: B", ["A", "B"])
    'B'
    """
    reading = _reading(tuple(labels))
    text = reading.unscaled(_own_words(reply))
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
    if _QUOTED.fullmatch(bare := text.strip("[]() ")):  # a reply all in quotes quotes nobody
        return bare[1:-1]
    text = _without_blocks(text)
    text = _LABEL_LINE.sub(r"\1", text)
    text = _CLAIMED_QUOTE.sub(r"\1\2", _FIELD.sub(_as_line, text))
    return _QUOTED.sub(" … ", _MARKED.sub(_without_claims, text))


def _without_blocks(text: str) -> str:
    """Return ``text`` without the blocks that it quotes, unless it is nothing else."""
    parts = _FENCE.split(text)
    parts[1::2] = map(_without_prose, parts[1::2])
    own = _BLOCKQUOTE.sub("", "".join(parts))
    return own if own.strip() else text


def _without_prose(block: str) -> str:
    """Return a fenced block if it is JSON, tags or a single word: the form of a verdict."""
    return block if block.strip()[:1] in ("{", "<") or len(block.split()) == 1 else ""


def _as_line(field: re.Match[str]) -> str:
    """Return a field of JSON as it would stand in a text: ``final_grade`` is a final grade."""
    return re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", field[2]) + f": {field[4]}"


def _without_claims(quote: re.Match[str]) -> str:
    """Return a word that is only marked as it is, and a longer quotation as left out."""
    return quote[0] if (quote[1] or quote[2]).replace(" ", "").isalnum() else " … "


class _Reading:
    """The patterns for one set of labels."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self._labels = {label.casefold(): label for label in labels}
        self._scale = _scale(labels)
        names = [re.escape(label) for label in sorted(labels, key=len, reverse=True)]
        # a letter's other case is a word's letter
        loose = [f"(?i:{name})" if len(name) > 1 else name for name in names]
        token = _token("label", "|".join(loose))
        self._claims = [re.compile(p) for p in _claiming(token)]
        self._loose = re.compile(token)
        self._ending = re.compile(rf": ?{_OPEN}{token}{_CLOSE}[.。!]?$", re.MULTILINE)
        self._are_numbers = all(map(str.isdecimal, labels))
        words = "|".join(f"(?i:{name})" for name in names if len(name) > 1) or r"\Z."
        self._plain = re.compile(
            rf"(?P<before>{_PLAIN}){_OPEN}{_token('label', words)}{_CLOSE}[.!。]?\Z"
        )
        other = rf" (?:than|over) {_SIDE}{_OPEN}{_token('other', '|'.join(loose))}{_CLOSE}"
        self._better = re.compile(
            rf"(?:{_PREFERS}{_OPEN}{token}{_CLOSE}(?:{other})?"
            rf"|{_BETTER}{_OPEN}{token.replace('<label>', '<winner>')}{_CLOSE}{_IS_BETTER}"
            rf"(?:{other.replace('<other>', '<loser>')})?)[.!。]?{_CLOSE}\Z"
        )
        self._exact = re.compile(_token("label", "|".join(names)))
        self._opening = re.compile(
            rf"(?:^|(?<=[,;] )){_OPEN}{self._exact.pattern}{_CLOSE}"
            r"(?P<end>[.:;,)]| ?[\-–—]) {0,2}(?=\S)",
            re.IGNORECASE | re.MULTILINE,
        )

    def unscaled(self, text: str) -> str:
        """Return ``text`` with the label alone where it says ``4/5``."""
        return self._scale.sub("", text) if self._scale else text

    def named(self, text: str) -> str | None:
        """Return the label that ``text`` is, apart from marks around it."""
        bare = text.strip(_MARKUP)
        return self._labels.get(re.sub(r"^[\-•–] ", "", bare).strip(_MARKUP).casefold())

    def claims(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield position and label of what is claimed, in no order."""
        joined = self._joined(text)
        for pattern in self._claims:
            for match in pattern.finditer(text):
                start, end = match.span("label")
                before = text[max(0, start - 20) : start]
                doubted = _NEGATED.search(before) or _UNSURE.match(text, end)
                if start not in joined and not doubted:
                    yield start, self._labels[match["label"].casefold()]
        yield from self._lines(text)
        yield from self._closing(text)
        for claims in (self._leading(text), self._after_colon(text)):
            yield from (claim for claim in claims if claim[0] not in joined)

    def _after_colon(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the word that the reply ends in after a colon, if no line ends in another one."""
        endings = [] if self._are_numbers else list(self._ending.finditer(text))
        labels = {self._labels[match["label"].casefold()] for match in endings}
        if len(labels) == 1 and endings[-1].end() == len(text):
            yield endings[-1].start("label"), labels.pop()

    def _lines(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield the labels that are lines, but for those that stand below one another."""
        position, lines = 0, []
        for line in text.split("\n"):
            if line.strip():
                lines.append((position, self.named(line)))
            position += len(line) + 1
        for i, (position, label) in enumerate(lines):
            beside = {other for _, other in lines[max(0, i - 1) : i + 2]}
            if label is not None and beside <= {label, None}:
                yield position, label

    def only_one(self, text: str) -> str:
        """Return the label of several capitals that occurs, if no other label does."""
        matches = list(self._exact.finditer(text))
        label = matches[0]["label"] if matches else ""
        if len(label) < 2 or label != label.upper() or label == label.lower():
            return ""
        for match in matches:
            before = text[max(0, match.start() - 80) : match.start()]
            doubted = _NEGATED.search(before) or _HEDGED.search(before)
            if match["label"] != label or doubted or _UNSURE.match(text, match.end()):
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
        position = start + 1 if start >= 0 else 0
        for pattern in (self._plain, self._better):
            if (match := pattern.match(text, position)) is not None:
                name = "label" if match["label"] else "winner"
                yield match.start(name), self._labels[match[name].casefold()]

    def _joined(self, text: str) -> set[int]:
        """Return where labels stand that are offered beside another one."""
        joined: set[int] = set()
        for left, right in itertools.pairwise(self._loose.finditer(text)):
            others = left["label"].casefold() != right["label"].casefold()
            if others and _ANOTHER.fullmatch(text, left.end(), right.start()):
                joined |= {left.start(), right.start()}
        return joined


_reading: Callable[[tuple[str, ...]], _Reading] = lru_cache(maxsize=64)(_Reading)


def _scale(labels: Sequence[str]) -> re.Pattern[str] | None:
    """Return what says of which scale a label is (``/5``), where the labels are one."""
    if len(labels) < 3 or not all(map(str.isdecimal, labels)):
        return None
    return re.compile(rf"(?<=\d) ?(?:/|out of) ?{max(map(int, labels))}(?![\w.])")


def _token(name: str, pattern: str) -> str:
    r"""Return a pattern of whole words; next to Chinese, which has no spaces, also without them."""
    word = r"\w" if re.search(f"[{_HAN}]", pattern) else rf"[^\W{_HAN}]"
    return rf"(?<!{word})(?<![\-'])(?<!\d\.)(?P<{name}>{pattern})(?!{word}|[\-'+]|\.\d)"


def _claiming(token: str) -> list[str]:
    """Return patterns that find ``token`` where a reply claims it."""
    return [
        rf"{_CUE}{_GAP} {{0,3}}{_SIDE}{_OPEN} ?{_SIDE}{token}",
        rf"\[\[ ?{token} ?\]\]",
        rf"\\(?:boxed|fbox) ?\{{ ?(?:\\text ?\{{ ?)?{token}",
        rf"<(?P<tag>[A-Za-z_]{{1,30}})> ?{_OPEN}{token}{_CLOSE} ?</(?P=tag)>",
        rf"\A{_OPEN}(?i:answer){_CLOSE}: {_CLOSE} ?{_OPEN}{token}",
    ]


_NUMBER = (
    r"(?<![\w.\-])(?P<value>-?\d{1,6}(?:\.\d{1,6})?)(?![A-Za-z0-9_]|\.\d)"
    r"(?: ?(?:/|out of|of) ?(?P<scale>\d{1,6}))?"
)
_SCORES = [
    re.compile(pattern)
    for pattern in [
        *_claiming(_NUMBER),
        rf": ?{_OPEN}{_NUMBER}{_CLOSE}[.。!]?\Z",
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
