"""Tables against OpenCompass's DefaultSummarizer (make_opencompass_summaries.py wrote them).

Where we differ on purpose has tests of its own below; the reference's value stands in each.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.layouts import by_model, circular, plain
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.scores import Scores, read_scores
from pytest_evalplug.summary.summarizer import Summarizer
from pytest_evalplug.summary.table import Table
from pytest_evalplug.summary.variants import CircularSummarizer, MultiFacetedSummarizer

Config = dict[str, Any]

EXPECTED = json.loads(Path(__file__).with_name("opencompass_summaries.json").read_text("utf-8"))
CASES: list[Config] = EXPECTED["cases"]
DIFFERENT: dict[str, Config] = EXPECTED["different"]


def scores_of(case: Config) -> Scores:
    """Return the same results, under the versions that the reference gave them."""
    versions = {name: version for name, version, *_ in case.get("table", ()) if version != "-"}
    results = {
        (model, name): ResultFile(
            model=model, dataset=name, benchmark=name, subset="default", mode=mode,
            version=versions.get(name, "-"), num_samples=10, num_scored=10, metrics=metrics,
        )
        for model, found in case["results"].items()
        for name, mode in case["datasets"].items()
        if (metrics := found.get(name)) and set(metrics) != {"bp"}
    }  # fmt: skip
    return read_scores(case["models"], [DatasetRef(name) for name in case["datasets"]], results)


def table_of(case: Config) -> Table:
    return Summarizer(case["dataset_abbrs"], case["summary_groups"]).tabulate(scores_of(case))


def lines(table: Table) -> list[list[str]]:
    (grid,) = by_model(table.models, table.rows)
    return [list(line) for line in (grid.header, *grid.lines)]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_the_tables_are_equal(case: Config) -> None:
    table = table_of(case)
    ours, theirs = lines(table), case["table"]
    if case["dataset_abbrs"] is None:
        # a group that lacks a subset is shown, empty and with the reason
        groups = {group["name"] for group in case["summary_groups"]}
        empty = [line for line in ours if line[0] in groups and set(line[4:]) == {"-"}]
        assert all(any(note.startswith(f"{name} ") for note in table.notes) for name, *_ in empty)
        ours = [line for line in ours if line not in empty]
    assert ours == theirs


def test_the_circular_table() -> None:
    case = EXPECTED["circular"]
    summarizer = CircularSummarizer(
        case["dataset_abbrs"], case["summary_groups"], case["metric_types"]
    )
    table = summarizer.tabulate(scores_of(case))
    (grid,) = circular(table.models, table.rows)
    assert [list(line) for line in (grid.header, *grid.lines)] == case["table"]


def test_the_multi_faceted_tables() -> None:
    case = EXPECTED["facets"]
    tables = case["tables"]
    facets = [{key: facet[key] for key in ("name", "dataset_abbrs")} for facet in tables]
    summarizer = MultiFacetedSummarizer(facets, case["summary_groups"])
    every = [line for facet in tables for line in facet["table"]]
    table = summarizer.tabulate(scores_of({**case, "table": every}))
    grids = table.layout(table.models, table.rows, plain)
    expected = {facet["name"]: facet["table"] for facet in tables if len(facet["table"]) > 1}
    found = {grid.title: [list(line) for line in (grid.header, *grid.lines)] for grid in grids}
    assert found == expected
    assert list(found) == ["one", "two"]


def test_the_cases_have_everything() -> None:
    groups = [group for case in CASES for group in case["summary_groups"]]
    for key in ("weights", "std", "sum", "harmonic_mean", "transforms", "metric"):
        assert sum(key in group for group in groups) > 10
    assert {len(case["models"]) for case in CASES} == {1, 2, 3}
    text = json.dumps([case["table"] for case in CASES])
    assert all(f'"{mode}"' in text for mode in ("gen", "ppl", "ll", "mixed"))


def test_every_difference_is_explained() -> None:
    assert DIFFERENT.keys() == OURS.keys() | REFUSED.keys()


OURS: dict[str, tuple[list[list[str]], list[list[str]], list[str]]] = {
    # a made-up number, as if the zero were a one
    "harmonic_mean_of_zero": (
        [["g", "-", "harmonic_mean", "gen", "1.98"]],
        [["g", "-", "-", "-", "-"]],
        ["g m: no harmonic_mean, a harmonic mean needs values above 0, a is 0"],
    ),
    # 'metric' is said to name the value; there it also makes a mean of it
    "metric_beside_a_method": (
        [["g", "-", "m", "gen", "60.00"]],
        [["g", "-", "m", "gen", "20.00"]],
        [],
    ),
    # missing, though everything is there
    "group_before_its_parts": (
        [["outer", "-", "-", "-", "-"]],
        [["outer", "-", "naive_average", "gen", "60.00"]],
        [],
    ),
    # not shown, where it should be shown as missing
    "missing_subset": (
        [["a", "a021c7", "accuracy", "gen", "40.00"]],
        [
            ["a", "a021c7", "accuracy", "gen", "40.00"],
            ["g", "-", "naive_average", "-", "-"],
        ],
        ["g m: no naive_average, 1 of 2 subsets have a result; missing: c"],
    ),
    # the score of a dataset, and of groups, is another one when the rate is asked for too
    "extraction_rate": (
        [
            ["a", "a021c7", "extract_rate", "gen", "99.00"],
            ["g", "-", "naive_average", "gen", "99.00"],
        ],
        [["a", "a021c7", "bleu", "gen", "20.00"], ["g", "-", "naive_average", "gen", "20.00"]],
        [],
    ),
}
"""Name -> OpenCompass's rows, ours, and our notes."""


@pytest.mark.parametrize("name", OURS)
def test_what_differs_on_purpose(name: str) -> None:
    theirs, ours, notes = OURS[name]
    table = table_of(DIFFERENT[name])
    assert DIFFERENT[name]["table"][1:] == theirs
    assert lines(table)[1:] == ours
    assert [*table.notes] == notes


REFUSED = {
    # taken as 0
    "weights_without_a_subset": ("40.00", "weights lack 'b'"),
    # the last metric counts alone
    "weights_of_two_metrics": ("90.00", "the weight of 'a' fits several subsets"),
}
"""Name -> OpenCompass's value, and what we say."""


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    value, message = REFUSED[name]
    assert DIFFERENT[name]["table"][1][-1] == value
    with pytest.raises(ConfigError, match=message):
        table_of(DIFFERENT[name])
