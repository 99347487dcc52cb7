"""How texts are made comparable: short answers normalised, texts cut into words.

The script decides what a word is, never a language setting: where words are set apart by spaces
they are taken as they stand; Han, Kana and the other scripts without such spaces count character
by character (as in MLQA's evaluation of Chinese, Lewis et al. 2020, arXiv:1910.07475).
"""

from __future__ import annotations

__all__ = ["is_chinese", "normalize_answer", "tokens", "words"]

import re
import unicodedata
from string import punctuation

from pytest_evalplug.evaluation.postprocess.text import fold, nfkc

_ARTICLES = frozenset({"a", "an", "the"})
_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3040-\u30ff\u31f0-\u31ff"
_THAI_LAO_BURMESE_KHMER = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = _HAN + _KANA + _THAI_LAO_BURMESE_KHMER
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_HAN_CHAR = re.compile(f"[{_HAN}]")
_KANA_CHAR = re.compile(f"[{_KANA}]")
_PUNCTUATION = frozenset(punctuation) - frozenset("+<=>")
_SIGN = re.compile(r"[^\w\s]|_")
_SIGN_OR_NUMBER_MARK = re.compile(
    rf"""
    (?P<point> (?<=\d)\.(?=\d) | (?<![\w.])\.(?=\d) )
    | (?P<minus> (?: (?<!\w) | (?<=\de) )[-\u2010-\u2013\u2212](?=[$£€¥₹]?\.?\d) )
    | (?P<plus> (?<![\w+])\+(?=\.?\d) )
    | {_SIGN.pattern}
    """,
    re.VERBOSE,
)


def normalize_answer(text: str) -> str:
    """Return ``text`` in the form in which short answers are compared.

    NFKC, lower case, without punctuation and articles, with single spaces: the rule of SQuAD
    (Rajpurkar et al. 2016, arXiv:1606.05250) for every script. Unlike SQuAD's, a decimal point
    and the minus sign of a number or its exponent stay: without them it would be another number.
    So do the signs ``+ < = >``, which are no punctuation: ``C++`` is not ``C``.
    A step that would leave nothing is not taken: ``the`` stays ``the``, and ``?`` stays ``?``.
    """
    folded = nfkc(fold(text)).lower()
    bare = _SIGN_OR_NUMBER_MARK.sub(_number_mark, folded).split()
    return " ".join([w for w in bare if w not in _ARTICLES] or bare or folded.split())


def _number_mark(match: re.Match[str]) -> str:
    if match["point"]:
        return "."
    if match["minus"]:
        return "-"
    return "" if match["plus"] or _is_punctuation(match[0]) else match[0]


def _is_punctuation(char: str) -> bool:
    return char in _PUNCTUATION or unicodedata.category(char)[0] == "P"


def tokens(normal: str) -> list[str]:
    """Return the words of a normalised answer; in scripts without spaces, its characters.

    >>> tokens("2.5 kg 大米")
    ['2.5', 'kg', '大', '米']
    """
    return _TOKEN.findall(normal)


def words(text: str) -> list[str]:
    """Return the runs of letters, digits and their marks in ``text``, NFKC and in lower case.

    In scripts without spaces each character is a word. On ASCII text these are the tokens of
    rouge-score's default tokenizer.

    >>> words("Café crème, s'il vous plaît!")
    ['café', 'crème', 's', 'il', 'vous', 'plaît']
    """
    return _TOKEN.findall(_SIGN.sub(_vowel_mark, nfkc(fold(text)).lower()))


def _vowel_mark(match: re.Match[str]) -> str:
    # Python's \w leaves out the marks that are written vowels in Hindi, Thai or Arabic
    return match[0] if unicodedata.category(match[0])[0] == "M" else " "


def is_chinese(text: str) -> bool:
    """Tell whether at least half of a text's letters and digits are Han, and none is Kana."""
    if _KANA_CHAR.search(text):
        return False
    return 2 * len(_HAN_CHAR.findall(text)) >= max(1, sum(map(str.isalnum, text)))
