from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.evaluation.postprocess.number import (
    canonical_number,
    first_number,
    last_number,
)


@pytest.mark.parametrize(("name", "right"), [("6b_finetuning", 286), ("6b_verification", 515)])
def test_published_verdicts_of_gsm8k_replies(data_dir: Path, name: str, right: int) -> None:
    text = (data_dir / f"replies/gsm8k/{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\n") if line]
    verdicts = [last_number(r["prediction"]) == last_number(r["reference"]) for r in rows]
    assert verdicts == [r["is_correct"] for r in rows]
    assert sum(verdicts) == right


@pytest.mark.parametrize("name", ["qwen-plus_gsm8k_main", "qwen3-max_gsm8k_main"])
def test_verdicts_of_reviewed_replies(data_dir: Path, name: str) -> None:
    text = (data_dir / f"replies/reviews/{name}.jsonl").read_text(encoding="utf-8")
    for row in (json.loads(line) for line in text.split("\n") if line):
        right = last_number(row["messages"][-1]["content"]) == last_number(row["target"])
        assert float(right) == row["sample_score"]["score"]["value"]["acc"], row["index"]


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("The answer is 18, since 9 * 2 = 18 and 3 more.", "18"),
        ("The answer is not 5.", "5"),
        ("Answer:\n\n**1,200 dollars**", "1200"),
        ("It starts at 5 and ends on the 3rd day.", "5"),
        ("He is 5th.", "5"),
        ("It takes 72 hours (3 days).", "72"),
        ("The tank loses -$5.", "-5"),
        ("from 3-5 cups", "5"),
        ("COVID-19 took 8", "8"),
        ("2\\frac{1}{3}", "7/3"),
        ("CO\u2082 and H2O", ""),
        ("12 m^{2}", "12"),
        ("10^3", "1000"),
        ("\\boxed{1{,}234}", "1234"),
        ("10,\\!080", "10080"),
        ("1.000.000", "1000000"),
        ("version 1.2.3.4", ""),
        ("1,2,3", "3"),
        ("-0", "0"),
        ("007", "7"),
        (".5", "0.5"),
        ("1e400", "1" + "0" * 400),
        ("1e999999999", "1e999999999"),
        ("Infinity", ""),
        ("1. First\n2. Second: 7 pears", "7"),
        ("5/0", "5"),
        ("\u0663\u0664", "34"),
    ],
)
def test_rules(reply: str, number: str) -> None:
    assert last_number(reply) == number


def test_first_number() -> None:
    assert first_number("3 of 5") == "3"
    assert first_number("3 of 5. The answer is 4.") == "4"


def test_canonical_number_is_for_a_single_number() -> None:
    assert canonical_number("$1,000.00") == "1000"
    assert canonical_number("3 or 4") == ""


@given(st.integers(), st.integers(0, 30))
def test_equal_decimals_have_one_form(number: int, places: int) -> None:
    sign, digits = ("-" if number < 0 else ""), str(abs(number)).rjust(places + 1, "0")
    cut = len(digits) - places
    spelled = f"{sign}{digits[:cut]}.{digits[cut:]}" if places else sign + digits
    assert Fraction(last_number(spelled)) == Fraction(number, 10**places)
    assert last_number(spelled) == last_number(spelled + ("000" if places else ".0"))


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    last_number(text)
    first_number(text)
