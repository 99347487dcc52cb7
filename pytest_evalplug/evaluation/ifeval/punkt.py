"""Sentences by the Punkt algorithm, with NLTK's English model.

Kiss and Strunk 2006, "Unsupervised Multilingual Sentence Boundary Detection", Computational
Linguistics 32:485-525. The sentences are those of NLTK 3.10.4's ``PunktTokenizer("english")``,
whose model lies beside this module, since NLTK has to download its own.
"""

from __future__ import annotations

__all__ = ["sentences"]

import re
import string
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

# A word ends before these; a full stop only before white space or one of them.
_END = r"[)\";}\]*:@'({\[\u2018\u2019\u201c\u201d\xab\xbb?!]"
_RUN = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_CANDIDATE = re.compile(rf"[.?!](?={_END}|\s+(?P<next>\S+))")
_TOKEN = re.compile(
    rf"{_RUN}|(?![(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_END}|{_RUN}|,(?=$|\s|{_END}|{_RUN}))|\S"
)
_CLOSERS = re.compile(r"[\"')\]}\u2018\u2019\u201c\u201d\xab\xbb]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*")
_INITIAL = re.compile(r"[^\W\d]\.")
_SECTION = re.compile(r"^\[(\w+)\]\n((?:.+\n)*)", re.MULTILINE)


class _Model(NamedTuple):
    """What Punkt learned of a language; words are in lower case."""

    abbreviations: frozenset[str]
    starters: frozenset[str]
    """Words that often begin a sentence."""
    collocations: frozenset[str]
    """``a|b``: the full stop of ``a`` in front of ``b`` ends no sentence."""
    lower_first: frozenset[str]
    """Seen in lower case at the start of sentences, and never capitalised."""
    capital_inside: frozenset[str]
    """Seen in lower case, and capitalised within sentences."""
    lower: frozenset[str]
    """Seen in lower case, and never capitalised within sentences."""


@lru_cache(maxsize=1)
def _model() -> _Model:
    text = files(__package__).joinpath("punkt_english.txt").read_text(encoding="utf-8")
    sections = {
        name: frozenset(word.replace("_", " ") for word in words.split())
        for name, words in _SECTION.findall(text)
    }
    return _Model(**sections)


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text``, without the white space between them. Linear time."""
    found: list[str] = []
    shift = 0
    spans = list(_slices(text))
    for (start, end), after in zip(spans, [*spans[1:], None], strict=True):
        start += shift
        closers = _CLOSERS.match(text, *after) if after else None
        if closers and after:  # quotes and brackets belong to the sentence that they close
            found.append(text[start : after[0] + len(closers.group().rstrip())])
            shift = closers.end() - after[0]
        else:
            shift = 0
            if start < end:
                found.append(text[start:end])
    return found


def _slices(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    known: dict[str, bool] = {}  # texts of very many sentences repeat themselves
    for match, context in _candidates(text):
        if context not in known:
            known[context] = _holds_a_break(context)
        if known[context]:
            yield start, match.end()
            start = match.end() if match["next"] is None else match.start("next")
    yield start, len(text.rstrip())


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Return the possible ends of sentences, each with its word and what follows.

    Of several in one word (``what?!``) only the last counts.
    """
    last: re.Match[str] | None = None
    begin = 0  # of the word that ends at `last`
    for match in _CANDIDATE.finditer(text):
        space = _last_space(text, last.start() if last else 0, match.start())
        word = space + 1 if space else begin
        if last and last.start() <= word:
            yield last, _context(text, begin, last)
        begin, last = word, match
    if last:
        yield last, _context(text, begin, last)


def _last_space(text: str, start: int, end: int) -> int:
    """Return the place of the last ASCII white space in between, 0 if none follows ``start``."""
    for i in range(end - 1, start, -1):
        if text[i] in string.whitespace:
            return i
    return 0


def _context(text: str, begin: int, match: re.Match[str]) -> str:
    end = match.end() + 1 if match["next"] is None else match.end("next")
    return text[begin:end]


def _holds_a_break(context: str) -> bool:
    tokens = [token for line in context.split("\n") for token in _TOKEN.findall(line)]
    return any(_ends_sentence(token, after) for token, after in pairwise(tokens))


def _ends_sentence(token: str, after: str) -> bool:
    """Tell whether a sentence ends between two tokens (sections 3 and 4 of the paper)."""
    model = _model()
    by_type = _looks_final(token)
    if not token.endswith("."):
        return by_type
    kind, next_kind = _type(token), _type(after)
    if len(kind) > 1:
        kind = kind.removesuffix(".")
    if len(next_kind) > 1 and _looks_final(after):
        next_kind = next_kind.removesuffix(".")
    if f"{kind}|{next_kind}" in model.collocations:
        return False
    starts = _starts_sentence(after, next_kind)
    capital = after[0].isupper()
    initial = _INITIAL.fullmatch(token) is not None
    if not initial and not by_type and (starts or (capital and next_kind in model.starters)):
        return True
    if initial or kind == "##number##":
        if starts is False:
            return False
        known = next_kind in model.lower or next_kind in model.capital_inside
        if starts is None and initial and capital and not known:
            return False
    return by_type


def _looks_final(token: str) -> bool:
    """Tell whether a token ends a sentence as far as itself can tell."""
    if token in (".", "?", "!"):
        return True
    if not token.endswith(".") or token.endswith(".."):
        return False
    word = token[:-1].lower()
    abbreviations = _model().abbreviations
    return word not in abbreviations and word.rpartition("-")[2] not in abbreviations


def _type(token: str) -> str:
    lower = token.lower()
    return "##number##" if _NUMBER.fullmatch(lower) else lower


def _starts_sentence(token: str, kind: str) -> bool | None:
    """Tell from its letter case whether a token begins a sentence; ``None`` if it can't tell."""
    model = _model()
    if token in tuple(";:,.!?"):
        return False
    if token[0].isupper() and kind in model.lower:
        return True
    if token[0].islower() and kind not in model.lower_first:
        return False
    return None
