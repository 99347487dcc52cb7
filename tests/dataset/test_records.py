from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.dataset.records import check_labels, check_references, row_of, to_samples
from pytest_evalplug.dataset.table import Origin, Table
from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.types import Sample

TABLE = Table([{"q": "one", "a": "1"}, {"q": "two", "a": "2"}], "d/test.jsonl", [1, 3])
ORIGIN = Origin("d/test.jsonl", 2, [1, 3])


def targets(*values: Any) -> list[Sample]:
    return [Sample(input="", target=v, index=str(n)) for n, v in enumerate(values)]


def test_each_record_becomes_one_sample_or_several() -> None:
    def convert(record: dict[str, Any]) -> Any:
        made = [Sample(record["q"], record["a"]), Sample(record["q"] + "?", record["a"])]
        return made if record["q"] == "two" else made[0]

    samples = to_samples(TABLE, convert)
    assert [(s.index, s.input) for s in samples] == [("0", "one"), ("1", "two"), ("1.1", "two?")]
    assert [row_of(s) for s in samples] == [0, 1, 1]


def test_a_missing_column_is_named_with_file_and_line() -> None:
    with pytest.raises(DataError) as error:
        to_samples(TABLE, lambda record: Sample(record["q"], record["answer"]))
    assert str(error.value) == "d/test.jsonl:1: no column 'answer'. Known: a, q"


def test_any_other_failure_says_where() -> None:
    with pytest.raises(DataError, match=r"d/test\.jsonl:3: .*failed with ValueError: invalid lit"):
        to_samples(TABLE, lambda r: Sample(r["q"], int(r["a"] if r["a"] == "1" else "x")))


def test_a_key_error_that_is_no_column_is_the_authors() -> None:
    names: dict[str, str] = {}
    with pytest.raises(DataError, match="failed with KeyError: 'a'"):
        to_samples(TABLE, lambda record: Sample(record["q"], names["a"]))


def test_an_authors_own_error_gets_a_place() -> None:
    def convert(record: dict[str, Any]) -> Sample:
        raise ConfigError("no such language", fix="Use en.")

    with pytest.raises(ConfigError) as error:
        to_samples(TABLE, convert)
    assert str(error.value) == "d/test.jsonl:1: no such language. Use en."


@pytest.mark.parametrize("made", [None, {"input": "q"}, [Sample("q", "a"), None]])
def test_only_samples_are_taken(made: Any) -> None:
    with pytest.raises(DataError, match=r"d/test\.jsonl:1: record_to_sample returned"):
        to_samples(TABLE, lambda record: made)


@pytest.mark.parametrize(
    "values",
    [(0, 1), (False, True), ("", "x"), (-1, 1), ("-1", "2"), ([], ["a"]), (0, 0), (False, False)],
)
def test_falsy_references_are_references(values: tuple[Any, ...]) -> None:
    check_references(targets(*values), ORIGIN, needed=True)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((-1, -1), "d/test.jsonl: hidden labels: every reference is -1"),
        (("-1", -1), "every reference is -1"),
        (("", ""), "d/test.jsonl: hidden labels: every reference is empty"),
        (("x", None), "d/test.jsonl:3: the reference is missing"),
        ((None, None), "d/test.jsonl:1: the reference is missing"),
    ],
)
def test_hidden_labels_are_refused(values: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DataError) as error:
        check_references(targets(*values), ORIGIN, needed=True)
    assert message in str(error.value)
    assert "reference_free=True" in str(error.value)


def test_an_author_who_scores_needs_no_reference_but_hidden_ones_stay_refused() -> None:
    check_references(targets("", ""), ORIGIN, needed=False)
    check_references(targets(None, None), ORIGIN, needed=False)
    with pytest.raises(DataError, match="every reference is -1"):
        check_references(targets(-1, -1), ORIGIN, needed=False)


def test_a_label_column_of_minus_ones() -> None:
    with pytest.raises(DataError, match="the column 'label' is -1 in every row"):
        check_labels(Table([{"label": -1}, {"label": "-1"}], "x"))
    check_labels(Table([{"label": -1}, {"label": 0}], "x"))
    check_labels(Table([{"parent": -1, "label": False}, {"parent": -1, "label": None}], "x"))
    check_labels(Table([], "x"))
