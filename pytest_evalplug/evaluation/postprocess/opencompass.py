"""OpenCompass's published rules under its names, equal to their source to the last character.

Source: opencompass 0.5.4, ``utils/text_postprocessors.py``, ``datasets/bbh.py`` and
``datasets/gsm8k.py``, whose behaviour is written down here anew; ``tests/parity`` compares the
two. They stand beside ours (without the prefix) for numbers that must be OpenCompass's: most take
the first match, and some give the reply itself back where they find nothing, which then counts
as an extracted answer. ``None`` is taken for an empty reply.
"""

from __future__ import annotations

__all__ = [
    "oc_bbh_freeform",
    "oc_bbh_mcq",
    "oc_first_capital",
    "oc_first_capital_multi",
    "oc_first_option",
    "oc_general",
    "oc_general_cn",
    "oc_gsm8k",
    "oc_last_capital",
]

import re
from collections.abc import Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.postprocess.none import none
from pytest_evalplug.evaluation.registry import postprocessors


@postprocessors.register("opencompass-general")
def oc_general(text: Any) -> str:
    """Return the words before the first line end, full stop or comma, without articles.

    Source: ``general_postprocess``. All that is neither word character nor white space goes.

    >>> oc_general("It is 3.14, roughly")
    'It is 3'
    """
    head = re.split(r"[\n.,]", none(text), maxsplit=1)[0]
    words = re.sub(r"\b(?:a|an|the)\b", "", re.sub(r"[^\w\s]", "", head), flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", words).strip()


@postprocessors.register("opencompass-general_cn")
def oc_general_cn(text: Any) -> str:
    """Return the whole reply, cut into words by jieba, with a space between any two.

    Source: ``general_cn_postprocess``, which cleans the reply as ``general`` does and then goes
    on with the uncleaned one. Raises ConfigError if jieba isn't installed.

    >>> oc_general_cn("A, B")
    'A ,   B'
    """
    return " ".join(_jieba().cut(none(text)))


def _jieba() -> Any:
    import logging
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pkg_resources, which it asks for on import
            import jieba
    except ImportError:
        raise ConfigError(
            "opencompass-general_cn needs jieba", fix="pip install 'pytest-evalplug[chinese]'"
        ) from None
    jieba.setLogLevel(logging.WARNING)
    return jieba


@postprocessors.register("opencompass-first-capital")
def oc_first_capital(text: Any) -> str:
    """Return the first upper-case character of any script and in any word, else ``""``.

    Source: ``first_capital_postprocess``.

    >>> oc_first_capital("The answer is B")
    'T'
    """
    return next(filter(str.isupper, none(text)), "")


@postprocessors.register("opencompass-last-capital")
def oc_last_capital(text: Any) -> str:
    """Return the last upper-case character of any script and in any word, else ``""``.

    Source: ``last_capital_postprocess``.

    >>> oc_last_capital("The answer is B, of course. OK")
    'K'
    """
    return next(filter(str.isupper, reversed(none(text))), "")


@postprocessors.register("opencompass-first-capital-multi")
def oc_first_capital_multi(text: Any) -> str:
    """Return the first run of the capitals A to D, in any word and unsorted, else ``""``.

    Source: ``first_capital_postprocess_multi``.

    >>> oc_first_capital_multi("Both DA and B")
    'B'
    """
    found = re.search(r"[A-D]+", none(text))
    return found[0] if found else ""


@postprocessors.register("opencompass-bbh-mcq")
def oc_bbh_mcq(text: Any) -> str:
    """Return the first capital in parentheses, else the first capital, else the text looked at.

    Source: ``bbh_mcq_postprocess``. What stands between the first and the second "answer is " is
    looked at, and the whole reply where there is none.

    >>> oc_bbh_mcq("So the answer is (B), or the answer is (C)."), oc_bbh_mcq("no idea")
    ('B', 'no idea')
    """
    parts = none(text).split("answer is ")
    answer = parts[1].strip() if len(parts) > 1 else parts[0]
    found = re.search(r"\(([A-Z])", answer) or re.search(r"([A-Z])", answer)
    return found[1] if found else answer


@postprocessors.register("opencompass-bbh-freeform")
def oc_bbh_freeform(text: Any) -> str:
    """Return the first line after the last "answer is", else of the reply, cleaned.

    Source: ``bbh_freeform_postprocess``. Of that line the first bold part counts, yes, no, true
    and false at its start stand for all of it, and commas become spaces where no two numbers
    stand around one. Takes quadratic time, as the source does, for long runs of white space.

    >>> oc_bbh_freeform("So the answer is **ant, bee**."), oc_bbh_freeform("yes, it is.")
    ('ant bee', 'Yes')
    """
    parts = re.split(r"answer is\s*:?\s*", none(text), flags=re.IGNORECASE)
    answer = parts[-1].strip() if len(parts) > 1 else parts[0]
    answer = answer.split("\n")[0].strip()
    if answer.endswith("."):
        answer = answer[:-1].strip()
    if bold := re.search(r"\*\*(.*?)\*\*", answer):
        answer = bold[1].strip()
    if word := re.match(r"(?:yes|no|true|false)\b", answer, re.IGNORECASE):
        return word[0].capitalize()
    if not re.search(r"\d\s*,\s*\d", answer):
        answer = re.sub(r"\s*,\s*", " ", answer)
    return re.sub(r"\s+", " ", answer).strip()


@postprocessors.register("opencompass-gsm8k")
def oc_gsm8k(text: Any) -> str:
    """Return the last number before the first "Question:", as it is written, else ``"NULL"``.

    Source: ``gsm8k_postprocess``. A thousands separator splits a number.

    >>> oc_gsm8k("So it is 1,200.50."), oc_gsm8k("none")
    ('200.50', 'NULL')
    """
    numbers = re.findall(r"-?\d+\.\d+|-?\d+", none(text).split("Question:")[0])
    return numbers[-1] if numbers else "NULL"


_OPTION = (
    *(rf"答案{x}([{{}}])" for x in (r"是?\s*", r"是?\s*：\s*", r"是?\s*:\s*")),
    *(rf"答案{x}\s*([{{}}])" for x in ("选项应?该?是", "选项应?该?为", "应该?是", "应该?选")),
    r"答案选项为?\s*：\s*([{}])",
    r"答案选项为?\s+\(?\*?\*?([{}])\*?\*?\)?",
    r"答案选项是?\s*:\s*([{}])",
    *(rf"{x}\s*([{{}}])" for x in ("答案为", "答案选", "选择?")),
    # in the source a comma is missing between these two, which makes them one
    r"故选?\s*([{}])" + r"只有选?项?\s?([{}])\s?是?对",
    *(rf"只有选?项?\s?([{{}}])\s?{x}" for x in ("是?错", "不?正确", "错误")),
    *(
        rf"说法{x}\s?([{{}}])"
        for x in ("不?对选?项?的?是", "不?正确选?项?的?是", "错误选?项?的?是")
    ),
    *(rf"([{{}}])\s?{x}" for x in ("是正确的", "是正确答案")),
    r"选项\s?([{}])\s?正确",
    r"所以答\s?([{}])",
    *(rf"{x}\s?([{{}}][.。$]?$)" for x in ("所以", "所有")),
    r"[\s，：:,]([{}])[。，,\.]?$",
    *(rf"[\s，,：:]{x}([{{}}])[。\.]?$" for x in ("[故即]", "因此")),
    *(rf"{x}\s?([{{}}])[。\.]?$" for x in ("[是为。]", "因此", "显然")),
    *(rf"答案{x}\s?(\S+)(?:。|$)" for x in ("是", "应该是", "为")),
    r"(?i)ANSWER\s*:\s*([{}])",
    r"[Tt]he answer is:?\s+\(?([{}])\)?",
    r"[Tt]he answer is:?\s+\(?\*?\*?([{}])\*?\*?\)?",
    *(
        rf"[Tt]he {x}:?\s+\(?([{{}}])\)?"
        for x in ("answer is option", "correct answer is", "correct answer is option")
    ),
    *(
        rf"[Tt]he correct {x} is:?.*?boxed\{{([{{}}])\}}"
        for x in ("answer", "option", "answer option")
    ),
    r"[Tt]he answer to the question is:?\s+\(?([{}])\)?",
    r"^选项\s?([{}])",
    r"^([{}])\s?选?项",
    r"(\s|^)[{}][\s。，,：:\.$]",
    r"1.\s?(.*?)$",
    r"1.\s?([{}])[.。$]?$",
)
_CUSHION = (r"([{}]):", r"([{}])")


@postprocessors.register("opencompass-first-option")
def oc_first_option(text: Any, options: Sequence[str] = "ABCD", *, cushion: bool = True) -> str:
    """Return the first of ``options`` in what the first of many patterns finds, else ``""``.

    Source: ``first_option_postprocess``. The last patterns of all, which ``cushion`` adds, take
    any option's letter anywhere. Takes quadratic time, as the source does, where a reply says
    "The correct answer is" over and over.

    >>> oc_first_option("I rule out A. The answer is B"), oc_first_option("Answers vary")
    ('B', 'A')
    """
    reply, letters = none(text).strip(), "".join(options)
    for pattern in _OPTION + (_CUSHION if cushion else ()):
        found = re.search(pattern.replace("{}", letters), reply, re.DOTALL)
        if found:
            matched = found[1] or found[0]
            for option in options:
                if option in matched:
                    return option
    return ""
