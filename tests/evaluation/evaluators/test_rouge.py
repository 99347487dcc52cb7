from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.config import resolve_evaluator
from pytest_evalplug.evaluation.evaluators.rouge import RougeEvaluator, lcs_length, rouge_l, rouge_n

LISTS = st.lists(st.sampled_from("abc"), max_size=70)


def table_lcs(a: list[str], b: list[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


@given(LISTS, LISTS)
def test_the_longest_common_subsequence(a: list[str], b: list[str]) -> None:
    assert lcs_length(a, b) == lcs_length(b, a) == table_lcs(a, b)


@given(LISTS, LISTS, st.integers(1, 3))
def test_bounds_and_symmetry(a: list[str], b: list[str], n: int) -> None:
    for ours, theirs in ((rouge_n(a, b, n), rouge_n(b, a, n)), (rouge_l(a, b), rouge_l(b, a))):
        assert ours.f == theirs.f
        assert (ours.precision, ours.recall) == (theirs.recall, theirs.precision)
        assert all(0 <= value <= 1 for value in ours)


@pytest.mark.parametrize(
    "text",
    [
        "caf\u00e9 au lait",
        "\u4eca\u5929\u5929\u6c14\u5f88\u597d",
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a",
        "\u0906\u091c \u092e\u094c\u0938\u092e \u0905\u091a\u094d\u091b\u093e",
        "\u0627\u0644\u0637\u0642\u0633 \u062c\u0645\u064a\u0644",
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
        "\u03ba\u03b1\u03bb\u03b7\u03bc\u03ad\u03c1\u03b1 \u03ba\u03cc\u03c3\u03bc\u03b5",
        "\u10d2\u10d0\u10db\u10d0\u10e0\u10ef\u10dd\u10d1\u10d0 \u10db\u10e1\u10dd",
        "\u1218\u120d\u12ab\u121d \u1240\u1295",
    ],
)
def test_a_text_of_any_script_equals_itself(text: str) -> None:
    assert set(RougeEvaluator().score_sample(text, text).values()) == {1.0}


def test_near_texts_share_something_in_scripts_without_spaces() -> None:
    thai = RougeEvaluator().score_sample(
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e48\u0e30",
        "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e04\u0e23\u0e31\u0e1a",
    )
    assert thai["rougeL"] > 0.5


def test_each_metric_takes_its_best_reference() -> None:
    references = ["b a d c", "a b x x x x x x"]
    score = RougeEvaluator().score_sample("a b c d", references)
    assert score["rouge1"] == 1
    assert score["rouge2"] == pytest.approx(2 * 1 / (3 + 7))
    assert score["rougeL"] == 0.5


@pytest.mark.parametrize(("pred", "reference"), [("", "x"), (".", "x"), ("x", "\f"), (None, "x")])
def test_without_words_the_score_is_0(pred: str | None, reference: str) -> None:
    assert set(RougeEvaluator().score_sample(pred, reference).values()) == {0.0}


def test_the_published_tokenizer_sees_ascii_only() -> None:
    published = resolve_evaluator({"type": "rouge_l", "tokenizer": "rouge-score"})
    assert published.score_sample("caf\u00e9", "caf") == {"rougeL": 1.0}
    assert published.score_sample("\u4f60\u597d", "\u4f60\u597d") == {"rougeL": 0.0}
    assert resolve_evaluator("rouge_l").score_sample("caf\u00e9", "caf") == {"rougeL": 0.0}


def test_mistakes_are_explained() -> None:
    with pytest.raises(ConfigError, match="no tokenizer 'jieba'"):
        resolve_evaluator({"type": "rouge", "tokenizer": "jieba"})
    with pytest.raises(EvalplugError, match="no reference"):
        RougeEvaluator().score_sample("x", None)


def test_long_texts() -> None:
    pred = " ".join(f"w{i % 997}" for i in range(20_000))
    reference = " ".join(f"w{i % 991}" for i in range(20_000))
    started = time.perf_counter()
    RougeEvaluator().score_sample(pred, reference)
    assert time.perf_counter() - started < 20


def test_the_set_is_in_percent() -> None:
    result = RougeEvaluator().score(["a b", "c"], ["a b", "d"])
    assert (result["rouge1"], result["rouge2"], result["rougeL"]) == (50.0, 50.0, 50.0)
