from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.cases import files
from pytest_evalplug.evaluation.evaluators import math
from pytest_evalplug.evaluation.evaluators.math import MathEvaluator, math_equal

NEXT_BUT_EQUAL = {("5", "x=5")}
"""Neighbours in MATH-500 that are equal, looked at by hand."""


def misses(rows: list[dict[str, Any]]) -> list[str]:
    evaluator = MathEvaluator()
    wrong = []
    for row in rows:
        start = time.monotonic()
        result = evaluator.score_sample(row["pred"], row["gold"])
        if result["correct"] is not row["right"]:
            wrong.append(f"{row['id']}: {row['pred'][:80]!r} for {row['gold']!r}: {result}")
        if time.monotonic() - start > row["max_seconds"] + 5:  # generous: cores are shared
            wrong.append(f"{row['id']}: too slow")
    return wrong


def test_all_labelled_cases_are_right(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    assert misses(cases("math_equal")) == []


def test_all_shipped_cases_are_right() -> None:
    path = Path(files.__file__).parent / "math_equal.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(rows) > 300
    assert misses([row for row in rows if "sum" not in row["pred"]]) == []


def math500(data_dir: Path) -> list[str]:
    with (data_dir / "math500" / "test.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["answer"] for line in lines]


def gsm8k(data_dir: Path) -> list[str]:
    with (data_dir / "gsm8k" / "test.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["answer"].rpartition("####")[2].strip() for line in lines]


@pytest.mark.parametrize("read", [math500, gsm8k])
def test_references_equal_themselves(data_dir: Path, read: Callable[[Path], list[str]]) -> None:
    evaluator = MathEvaluator()
    replies = (
        "{}",
        r"So it is \boxed{{{}}}.",
        r"\boxed{{\boxed{{{}}}}}",
        "The answer is ${}$.",
        r"Hence \[ {} \]",
    )
    unequal = [
        (reply, answer)
        for answer in dict.fromkeys(read(data_dir))
        for reply in replies
        if not evaluator.score_sample(reply.format(answer), answer)["correct"]
    ]
    assert unequal == []


@pytest.mark.parametrize("read", [math500, gsm8k])
def test_references_differ_from_their_neighbours(
    data_dir: Path, read: Callable[[Path], list[str]]
) -> None:
    evaluator = MathEvaluator()
    answers = read(data_dir)
    pairs = {(a, b) for a, b in pairwise(answers) if a != b}
    by: Counter[str] = Counter()
    equal = set()
    for a, b in pairs:
        result = evaluator.score_sample(rf"\boxed{{{a}}}", b)
        by[result["method"]] += 1
        if result["correct"]:
            equal.add((a, b))
    assert equal <= NEXT_BUT_EQUAL
    assert by["text"] + by["number"] > 0.75 * len(pairs)  # decided without the child process


def test_any_reference_of_a_list_will_do() -> None:
    evaluator = MathEvaluator()
    assert evaluator.score_sample("0.5", ["2", r"\frac12"])["correct"]
    assert not evaluator.score_sample("0.5", ["2", "3"])["correct"]


@pytest.mark.parametrize("prediction", [None, "", "  \n", r"\boxed{}", "<think>\\boxed{1}"])
def test_no_answer_is_wrong(prediction: str | None) -> None:
    result = MathEvaluator().score_sample(prediction, "1")
    assert result == {"accuracy": 0.0, "correct": False, "method": "text"}


@pytest.mark.parametrize("reference", [None, [], [None]])
def test_no_reference_is_an_error(reference: Any) -> None:
    with pytest.raises(ConfigError, match="no reference"):
        MathEvaluator().score_sample("1", reference)


@pytest.mark.parametrize(
    ("prediction", "method"),
    [("0.50", "number"), (r"\frac{1}{2}", "text"), (r"\sin 30^\circ", "symbolic")],
)
def test_the_method_says_what_decided(prediction: str, method: str) -> None:
    result = MathEvaluator().score_sample(prediction, r"\frac{1}{2}")
    assert result == {"accuracy": 1.0, "correct": True, "method": method}


def test_what_takes_too_long_is_wrong_and_the_next_answer_is_not() -> None:
    evaluator = MathEvaluator(timeout=1.0)
    late = evaluator.score_sample(r"\boxed{\sum_{k=1}^{10^9} k^{k}}", "1")
    assert late == {"accuracy": 0.0, "correct": False, "method": "timeout"}
    assert evaluator.score_sample(r"\sqrt{8}", r"2\sqrt{2}")["correct"]


def test_without_the_extra_construction_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(math, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pytest-evalplug\[math\]"):
        MathEvaluator()
    with pytest.raises(ConfigError, match=r"pytest-evalplug\[math\]"):
        math_equal("1", "1")


def test_a_time_limit_is_positive() -> None:
    with pytest.raises(ConfigError, match="positive"):
        MathEvaluator(timeout=0)


def test_whole_sets_are_scored_in_percent() -> None:
    result = MathEvaluator().score(["0.5", "2"], [r"\frac12", "3"])
    assert result["accuracy"] == 50.0
    assert [row["correct"] for row in result["details"]] == [True, False]


def test_threads_share_one_process() -> None:
    answers = [(rf"\sqrt{{{n * n * 2}}}", rf"{n}\sqrt{{2}}") for n in range(2, 42)]
    with ThreadPoolExecutor(8) as threads:
        right = list(threads.map(lambda pair: math_equal(*pair), answers))
        wrong = list(threads.map(lambda pair: math_equal(pair[0], pair[1] + "+1"), answers))
    assert all(right)
    assert not any(wrong)


def test_plain_comparisons_start_no_process_and_load_no_sympy() -> None:
    program = (
        "import sys\n"
        "from pytest_evalplug.evaluation.evaluators.math import math_equal\n"
        "from pytest_evalplug.evaluation.mathematics.algebra import ChildAlgebra\n"
        "assert math_equal('0.5', r'\\frac12') and not math_equal('3', '4')\n"
        "assert ChildAlgebra._worker is None and 'sympy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_processes_side_by_side_leave_nothing_behind() -> None:
    program = (
        "from pytest_evalplug.evaluation.evaluators.math import math_equal\n"
        "from pytest_evalplug.evaluation.mathematics.algebra import ChildAlgebra\n"
        "assert math_equal(r'\\sqrt{8}', r'2\\sqrt{2}')\n"
        "print(ChildAlgebra._worker.process.pid)\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    pids = [int(process.communicate()[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


HOSTILE = {
    "power tower": r"\boxed{9^{9^{9^{9}}}}",
    "python power": "2**(10**9)",
    "huge product": r"\boxed{10^{9999} \cdot 10^{9999} \cdot 10^{9999}}",
    "factorials": r"\boxed{((((9!)!)!)!)!}",
    "huge sine": r"\boxed{\sin(10^{10^{5}})}",
    "huge binomial": r"\boxed{\binom{10^9}{5\cdot 10^8}}",
    "tiny": r"\boxed{10^{-10^{10}}}",
    "scientific": "1e1000000000",
    "long number": rf"\boxed{{{'7' * 100_000}}}",
    "long sum": rf"\boxed{{{'x+' * 400}x}}",
    "nested fractions": r"\boxed{" + r"\frac{1}{" * 3_000 + "1" + "}" * 3_001,
    "braces": "{" * 1_000_000,
    "boxes": r"\boxed{" * 150_000,
    "texts": r"\text{" * 150_000,
    "dollars": "$" * 1_000_000,
    "brackets": r"\[" * 500_000,
    "bold": "**a" * 300_000,
    "cues": "the answer is " * 70_000,
    "integrals": r"\boxed{" + r"\int " * 400 + "x}",
    "signs": r"\boxed{" + "-" * 900 + "2}",
    "roots": r"\boxed{" + r"\sqrt" * 900 + "2}",
    "powers": r"\boxed{" + "2^" * 490 + "2}",
    "factorial signs": r"\boxed{5" + "!" * 900 + "}",
    "list": r"\boxed{" + "1," * 490 + "1}",
    "set of roots": r"\boxed{\{" + ",".join(rf"\sqrt{{{n}}}" for n in range(50)) + r"\}}",
    "plus-minus": r"\boxed{" + r"\pm 1," * 300 + "2}",
    "equation chain": r"\boxed{" + "=x" * 450 + "}",
    "comma groups": r"\boxed{1" + ",000" * 2_000 + "}",
    "marks": "x" + "\u0301" * 300_000,
}


@pytest.mark.parametrize("pred", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_answers_are_wrong_in_time(pred: str) -> None:
    start = time.monotonic()
    assert not math_equal(pred, "1", timeout=1.0)
    assert not math_equal(pred, r"\sqrt{3}", timeout=1.0)
    assert time.monotonic() - start < 20  # generous: cores are shared


quick = settings(max_examples=50, deadline=None)
NUMBERS = st.fractions(max_denominator=1000)


@quick
@given(NUMBERS)
def test_a_fraction_equals_itself_in_every_form(number: Any) -> None:
    p, q = number.numerator, number.denominator
    forms = [f"{p}/{q}", rf"\frac{{{p}}}{{{q}}}", rf"\dfrac{{{-p}}}{{{-q}}}", rf"{p} \div {q}"]
    assert all(math_equal(form, forms[0]) for form in forms)
    assert not math_equal(forms[1], f"{p + 1}/{q}")


@quick
@given(st.integers(-(10**9), 10**9), st.integers(0, 9))
def test_finite_decimals_equal_their_fractions(digits: int, places: int) -> None:
    sign, size = "-" * (digits < 0), str(abs(digits)).rjust(places + 1, "0")
    decimal = f"{sign}{size[: len(size) - places]}.{size[len(size) - places :]}".rstrip(".")
    assert math_equal(decimal, rf"\frac{{{digits}}}{{{10**places}}}")
    assert math_equal(rf"\boxed{{{digits}}}", f"{decimal}" if not places else f"{digits}.0")


@quick
@given(NUMBERS, NUMBERS)
def test_equality_of_numbers_is_symmetric_and_exact(a: Any, b: Any) -> None:
    assert math_equal(str(a), str(b)) == math_equal(str(b), str(a)) == (a == b)


@quick
@given(st.text(alphabet="0123456789xyei+-*/^_()[],.!|=<> ", max_size=30).filter(str.strip))
def test_every_formula_equals_itself(text: str) -> None:
    boxed = rf"\boxed{{{text}}}"
    assert math_equal(boxed, text) or not text.strip(" .,;")


@quick
@given(st.text(alphabet="0123456789xyei+-*/^_{}()[],.!|\\$% \n", max_size=30))
def test_no_formula_raises(text: str) -> None:
    assert math_equal(text, r"\sqrt{2}", timeout=2.0) in (True, False)


@quick
@given(st.text(max_size=60))
def test_no_reply_raises(text: str) -> None:
    math_equal(text, r"\frac12")
