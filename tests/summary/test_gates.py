"""Gates: read, found in the table, compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.summary.gates import Gate, GateResult, check_gates
from pytest_evalplug.summary.rows import Cell, Row, known_scale
from pytest_evalplug.summary.table import Table


def row(dataset: str, metric: str, *values: float | Cell | None, mean_of: str | None = None) -> Row:
    cells = tuple(Cell(v, 100) if isinstance(v, (int, float)) else v for v in values)
    scale = 100 if mean_of else known_scale(metric)
    return Row(dataset, "v", metric, "gen", cells, scale, mean_of)


TABLE = Table(
    ("m",),
    (
        row("gsm8k", "accuracy", 75.0),
        row("gsm8k", "f1", 80.0),
        row("rating", "rating", 0.8),
        row("wiki", "perplexity", 9.5),
        row("a/b", "accuracy", 60.0),
        row("a>b", "accuracy", 50.0),
        row("half", "accuracy", Cell(90.0, 5, incomplete="partial run, 5 samples")),
        row("none", "-", None),
    ),
    notes=("none m: no metrics, the server is down", "none other: not this"),
    hidden=(row("group", "naive_average", 65.0), row("a", "b", 10.0), row("secret", "sum", None)),
    hidden_notes=("secret m: no sum, 1 of 2 subsets have a result",),
)


def check(text: str, table: Table = TABLE) -> GateResult:
    (result,) = Gate.parse(text).check(table)
    return result


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("gsm8k>=70", "passed"),
        ("gsm8k >= 75", "passed"),
        ("gsm8k>=75.0%", "passed"),
        ("gsm8k>75", "failed"),
        ("gsm8k>=75.001", "failed"),
        ("gsm8k/f1>=80", "passed"),
        ("gsm8k/f1>80", "failed"),
        ("m:gsm8k>=70", "passed"),
        ("rating>=0.7", "passed"),
        ("rating>=0.9", "failed"),
        ("wiki/perplexity<10", "passed"),
        ("wiki<=9.5", "passed"),
        ("wiki<9.5", "failed"),
        ("a>b>=50", "passed"),
        ("group>=65", "passed"),
        ("wiki<=95%", "passed"),
        ("gsm8k>=-1", "passed"),
        ("gsm8k>=7e1", "passed"),
    ],
)
def test_scores_are_compared(text: str, outcome: str) -> None:
    assert check(text).outcome == outcome


def test_a_name_with_a_slash_comes_before_a_metric() -> None:
    assert check("a/b>=50").value == 60
    assert check("a/b/accuracy>=50").value == 60


def test_a_benchmarks_metric_is_the_mean_over_its_subsets() -> None:
    rows = (
        row("mmlu-law", "f1", 5.0),
        row("mmlu-law", "accuracy", 50.0),
        row("mmlu", "naive_average", 60.0, mean_of="accuracy"),
        row("mmlu", "weighted_average", 70.0),
        row("mmlu", "f1_naive_average", 6.0, mean_of="f1"),
    )
    table = Table(("m",), rows)
    for text, value in {
        "mmlu>=1": 60,
        "mmlu/accuracy>=1": 60,
        "mmlu/f1>=1": 6,
        "mmlu/weighted_average>=1": 70,
    }.items():
        assert check(text, table).value == value
        assert check(text, Table(("m",), (), hidden=rows)).value == value
    assert "is percent" in check("mmlu>=0.6", table).message
    assert "mmlu has no metric 'bleu'" in check("mmlu/bleu>=1", table).message


def test_a_result_says_what_was_compared() -> None:
    assert check("gsm8k>=80") == GateResult(
        "gsm8k>=80", "m", "failed", "accuracy is 75.00 (n = 100), >= 80 is required", 75.0, 100
    )


def test_rounding_fails_nobody() -> None:
    table = Table(("m",), (row("d", "accuracy", 100 * 0.57), row("e", "accuracy", 69.9999)))
    assert 100 * 0.57 < 57
    assert check("d>=57", table).outcome == "passed"
    assert check("d>57", table).outcome == "failed"
    assert "is 69.9999 (n" in check("e>=70", table).message


def test_each_model_has_to_reach_it() -> None:
    table = Table(("a", "b"), (row("d", "accuracy", 80.0, 60.0),))
    results = Gate.parse("d>=70").check(table)
    assert [(r.model, r.outcome) for r in results] == [("a", "passed"), ("b", "failed")]
    (only,) = Gate.parse("b:d>=70").check(table)
    assert (only.model, only.outcome) == ("b", "failed")


def test_rows_of_other_versions_are_one_dataset() -> None:
    rows = (row("d", "accuracy", 80.0, None), row("d", "accuracy", None, 60.0))
    results = Gate.parse("d>=50").check(Table(("a", "b"), rows))
    assert [r.value for r in results] == [80, 60]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("half>=50", "accuracy is 90.00 (n = 5), but incomplete: partial run, 5 samples"),
        ("none>=50", "there is no score; none m: no metrics, the server is down"),
        ("gsm8>=50", "the summary has no 'gsm8'; the nearest are: gsm8k"),
        ("gsm8k/acuracy>=50", "gsm8k has no metric 'acuracy'; it has: accuracy, f1"),
        ("zzzz>=50", "the nearest are: gsm8k, rating, wiki, a/b, a>b"),
        ("gsm8k>=0.7", "accuracy is percent, but the gate says >=0.7: write >=70, or >=0.7%"),
        ("group>=0.7", "naive_average is percent, but"),
        ("rating>=70%", "rating is 0.80 (n = 100), which may not be percent: write >=0.7, or >=70"),
        ("secret>=1", "there is no score; secret m: no sum, 1 of 2 subsets have a result"),
    ],
)
def test_what_fails_whatever_the_score(text: str, message: str) -> None:
    result = check(text)
    assert result.outcome == "failed"
    assert message in result.message


@pytest.mark.parametrize(
    "text", ["", "gsm8k", ">=70", "gsm8k>=", "gsm8k>=x", "gsm8k==70", "a>=nan"]
)
def test_what_is_no_gate(text: str) -> None:
    with pytest.raises(ConfigError, match="is no gate"):
        Gate.parse(text)


def test_a_share_of_a_percent_metric_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match=r"write >=70, or >=0\.7%"):
        Gate.parse("mmlu/accuracy>=0.7")
    assert Gate.parse("mmlu/accuracy>=0.7%").limit == 0.7
    assert Gate.parse("mmlu/accuracy>=0").limit == 0


def test_a_gate_twice_is_one() -> None:
    assert len(check_gates(["gsm8k>=1", "gsm8k>=2", "gsm8k>=1"], TABLE)) == 2


@given(
    name=st.text(min_size=1).filter(lambda t: t.strip() == t),
    op=st.sampled_from([">=", ">", "<=", "<"]),
    limit=st.floats(1, 1e6),
)
def test_any_name_is_found_again(name: str, op: str, limit: float) -> None:
    gate = Gate.parse(f"{name}{op}{limit!r}")
    table = Table(("m",), (row(name, "accuracy", limit),))
    assert gate.name + gate.op == name + op
    assert gate.limit == limit
    (result,) = gate.check(table)
    assert result.outcome == ("passed" if gate.op in (">=", "<=") else "failed")


def test_a_name_alone_is_a_score_that_there_is() -> None:
    rows = (row("d", "extract_rate", 10.0), row("d", "bleu", 40.0))
    dashes = Row("d", "-", "-", "-", (None,))
    for table in (Table(("m",), rows), Table(("m",), (dashes,), hidden=rows)):
        (result,) = check_gates(["d>=30"], table)
        assert (result.outcome, result.value) == ("passed", 40.0)
