"""TruthfulQA's MC2 against lm-evaluation-harness (make_mc2.py wrote what it says)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.dataset.letters import label
from pytest_evalplug.evaluation.evaluators.choice_mass import ChoiceMassEvaluator

CASES = json.loads(Path(__file__).with_name("mc2.json").read_text())


def test_mc2() -> None:
    assert len(CASES) > 40
    for case in CASES:
        right = [label(i) for i, good in enumerate(case["labels"]) if good]
        ours = ChoiceMassEvaluator().score_sample(right, case["logprobs"])
        assert ours == pytest.approx(case["mc2"], rel=1e-9)
