"""Published postprocessors give what their sources give (the stored values: make_*.py here)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.evaluation.registry import postprocessors
from tests.parity.postprocess_replies import (
    HARD,
    bbh_replies,
    chinese_texts,
    digest,
    gsm8k_replies,
    gsm8k_solutions,
)


def stored(name: str) -> Any:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


OPENCOMPASS = stored("opencompass_postprocess.json")
LM_EVAL = stored("lm_eval_postprocess.json")
SMOLLM2 = stored("smollm2_gsm8k.json")


def opencompass(rule: str, texts: list[str]) -> list[str]:
    options = {"options": "ABCDEFGHIJKLMNOPQR"} if rule == "first-option" else {}
    function = postprocessors.get(f"opencompass-{rule}")
    return [function(text, **options) for text in texts]


@pytest.mark.parametrize("rule", OPENCOMPASS["hard"])
def test_opencompass_on_hard_replies(rule: str) -> None:
    assert opencompass(rule, HARD) == OPENCOMPASS["hard"][rule]


@pytest.mark.parametrize("rule", OPENCOMPASS["replies"])
def test_opencompass_on_real_replies(rule: str, data_dir: Path) -> None:
    replies = {**bbh_replies(data_dir), **gsm8k_replies(data_dir)}
    if rule == "general_cn":  # jieba is slow
        replies = chinese_texts(data_dir)
    found = {name: digest(opencompass(rule, texts)) for name, texts in replies.items()}
    assert found == OPENCOMPASS["replies"][rule]


@pytest.mark.parametrize("name", LM_EVAL)
def test_lm_eval_on_replies_of_the_bundled_model(name: str, data_dir: Path) -> None:
    extract = postprocessors.get(f"lm-eval-gsm8k-{name.partition('-')[0]}")
    compared = postprocessors.get("lm-eval-gsm8k-compared")
    solutions = gsm8k_solutions(data_dir)
    assert len(SMOLLM2) == 64
    for row in SMOLLM2:
        found = extract(row["reply"])
        assert [found, compared(found) == compared(solutions[row["index"]])] == row[name]


@pytest.mark.parametrize("name", LM_EVAL)
def test_lm_eval(name: str, data_dir: Path) -> None:
    extract = postprocessors.get(f"lm-eval-gsm8k-{name.partition('-')[0]}")
    compared = postprocessors.get("lm-eval-gsm8k-compared")
    assert [extract(text) for text in HARD] == LM_EVAL[name]["hard"]
    gold = [compared(solution) for solution in gsm8k_solutions(data_dir)]
    found = {}
    for source, texts in gsm8k_replies(data_dir).items():
        values = [extract(text) for text in texts]
        right = [compared(v) == g for v, g in zip(values, gold, strict=True)]
        verdicts = digest([str(int(x)) for x in right])
        found[source] = {"digest": digest(values), "right": verdicts, "score": sum(right)}
    assert found == LM_EVAL[name]["replies"]
