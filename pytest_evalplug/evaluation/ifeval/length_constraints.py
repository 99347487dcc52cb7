"""Instructions ``length_constraints:...``: how many words, sentences, paragraphs."""

from __future__ import annotations

__all__ = ["nth_paragraph_first_word", "number_paragraphs", "number_sentences", "number_words"]

import re
import unicodedata
from functools import lru_cache
from itertools import chain, takewhile

from pytest_evalplug.evaluation.ifeval.common import compare
from pytest_evalplug.evaluation.ifeval.punkt import sentences


def number_words(reply: str, *, num_words: int, relation: str) -> bool:
    """The reply has less than, or at least, ``num_words`` runs of letters, digits and ``_``.

    Vowel signs and other marks belong to the word that they stand in (Unicode's definition of
    a word character, Technical Standard 18, which NLTK follows since it uses ``regex``).
    """
    return compare(sum(1 for _ in _word().finditer(reply)), relation, num_words)


@lru_cache(maxsize=1)
def _word() -> re.Pattern[str]:
    """Return what finds words: Python's own word characters, with marks and without fractions."""
    marks, numbers = ["\u200c\u200d\u24b6-\u24e9\U0001f130-\U0001f149"], []
    marks.append("\U0001f150-\U0001f169\U0001f170-\U0001f189")  # letters in circles and squares
    for char in map(chr, chain(range(0x20000), range(0xE0100, 0xE01F0))):  # no others further on
        category = unicodedata.category(char)
        if category[0] == "M" or category == "Pc":
            marks.append(char)
        elif category == "No":
            numbers.append(char)
    return re.compile(rf"(?:[^\W{''.join(numbers)}]|[{''.join(marks)}])+")


def number_sentences(reply: str, *, num_sentences: int, relation: str) -> bool:
    """The reply has less than, or at least, ``num_sentences`` sentences (:mod:`.punkt`)."""
    return compare(len(sentences(reply)), relation, num_sentences)


def number_paragraphs(reply: str, *, num_paragraphs: int) -> bool:
    """``***`` parts the reply into ``num_paragraphs`` paragraphs.

    Before the first and after the last ``***`` there may be nothing; between two there has to be.
    """
    filled = [bool(part.strip()) for part in reply.split("***")]
    return all(filled[1:-1]) and sum(filled) == num_paragraphs


def nth_paragraph_first_word(
    reply: str, *, num_paragraphs: int, nth_paragraph: int, first_word: str
) -> bool:
    """There are ``num_paragraphs``, and the ``nth_paragraph`` (from 1) begins with a word.

    Paragraphs are parted by two newlines. Empty ones don't count towards the number, but do when
    the n-th is looked up, as in the reference. Case and quotes around the word don't count.
    """
    paragraphs = [paragraph.strip() for paragraph in reply.split("\n\n")]
    count = sum(1 for paragraph in paragraphs if paragraph)
    if count != num_paragraphs or not 1 <= nth_paragraph <= count:
        return False
    paragraph = paragraphs[nth_paragraph - 1]
    return bool(paragraph) and _first_word(paragraph) == first_word.lower()


def _first_word(paragraph: str) -> str:
    word = paragraph.split(maxsplit=1)[0].lstrip("'").lstrip('"')
    return "".join(char.lower() for char in takewhile(lambda char: char not in ".,?!'\"", word))
