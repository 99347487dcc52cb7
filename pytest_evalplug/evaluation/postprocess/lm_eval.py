"""The published rules of lm-evaluation-harness for GSM8K, equal to their source.

Source: lm-eval 0.4.13, ``tasks/gsm8k/gsm8k.yaml`` (task version 3.0), its filters "strict-match"
and "flexible-extract" and its metric's normalization; ``tests/parity`` compares the two.
"""

from __future__ import annotations

__all__ = ["lm_eval_gsm8k_compared", "lm_eval_gsm8k_flexible", "lm_eval_gsm8k_strict"]

import re
from typing import Any

from pytest_evalplug.evaluation.postprocess.none import none
from pytest_evalplug.evaluation.registry import postprocessors

_FALLBACK = "[invalid]"


@postprocessors.register("lm-eval-gsm8k-strict")
def lm_eval_gsm8k_strict(text: Any) -> str:
    """Return what looks like a number after the first ``#### ``, else ``"[invalid]"``.

    >>> lm_eval_gsm8k_strict("#### 1,200."), lm_eval_gsm8k_strict("It is 5.")
    ('1,200.', '[invalid]')
    """
    found = re.search(r"#### (-?[0-9.,]+)", none(text))
    return found[1] if found else _FALLBACK


@postprocessors.register("lm-eval-gsm8k-flexible")
def lm_eval_gsm8k_flexible(text: Any) -> str:
    """Return the last run of digits, points, commas and dollar signs, else ``"[invalid]"``.

    >>> lm_eval_gsm8k_flexible("It costs $1,200."), lm_eval_gsm8k_flexible("Well...")
    ('$1,200.', '...')
    """
    found = re.findall(r"-?[$0-9.,]{2,}|-?[0-9]+", none(text))
    return found[-1] if found else _FALLBACK


@postprocessors.register("lm-eval-gsm8k-compared")
def lm_eval_gsm8k_compared(text: Any) -> str:
    r"""Return what the task's exact_match compares, made of a filtered reply or of a reference.

    Commas, dollar signs, all up to the last ``#### `` and one full stop at the end go, and case.

    >>> lm_eval_gsm8k_compared("2 * 600 = 1200\n#### 1,200"), lm_eval_gsm8k_compared("$1,200.")
    ('1200', '1200')
    """
    bare = re.sub(r"[,$]", "", none(text)).rpartition("#### ")[2]
    return re.sub(r"\.$", "", bare).lower()
