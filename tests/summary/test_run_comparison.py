from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.paired import mcnemar_p
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.run_comparison import Comparison, Side, compare_sides, pair_sides
from pytest_evalplug.types import Detail
from tests.summary.conftest import result


class Run:
    """A saved run of results in memory."""

    def __init__(self, name: str, *results: ResultFile) -> None:
        self.name = name
        self.path = Path("outputs", name)
        self.results = {(r.model, r.dataset): r for r in results}

    def tables(self) -> list[tuple[str, str]]:
        return list(self.results)

    def result(self, model: str, dataset: str, *, details: bool = True) -> ResultFile | None:
        return self.results.get((model, dataset))

    def records(self, model: str, dataset: str) -> Mapping[str, Mapping[str, Any]]:
        return {}


def measured(pattern: str, model: str = "m", dataset: str = "math", **more: Any) -> ResultFile:
    """Return a result with a detail for each of R (right) and W (wrong)."""
    details = [
        Detail(str(i), f"s{i}", "s", kind, "R", kind == "R") for i, kind in enumerate(pattern)
    ]
    share = 100 * pattern.count("R") / len(pattern)
    return result(
        DatasetRef(dataset), model, share, details=details, num_scored=len(details), **more
    )


def compared(old: ResultFile, new: ResultFile) -> Comparison:
    [(before, after)] = pair_sides([Side(Run("old", old)), Side(Run("new", new))])
    return compare_sides(before, after)


def named(pairs: Sequence[tuple[Side, Side]]) -> list[str]:
    return [f"{o.run.name}:{o.model} {n.run.name}:{n.model}" for o, n in pairs]


TWO = Run("two", measured("R", "c"), measured("R", "d"))
ONE, OTHER = Run("one", measured("R", "a")), Run("other", measured("R", "b"))
BOTH = Run("both", measured("R", "a"), measured("R", "b"), measured("W", "a", "law"))


@pytest.mark.parametrize(
    ("sides", "models", "expected"),
    [
        ([ONE, BOTH], [], ["one:a both:a"]),
        ([ONE, OTHER], [], ["one:a other:b"]),
        ([BOTH, BOTH], [], ["both:a both:a", "both:b both:b"]),
        ([BOTH, ONE, OTHER], [], ["both:a one:a", "both:b other:b"]),
        ([BOTH, BOTH], ["b"], ["both:b both:b"]),
        ([BOTH], ["a", "b"], ["both:a both:b"]),
        ([ONE, BOTH], ["a", "b"], ["one:a both:b"]),
    ],
)
def test_what_is_compared_with_what(
    sides: list[Run], models: list[str], expected: list[str]
) -> None:
    assert named(pair_sides([Side(run) for run in sides], models)) == expected


def test_a_side_may_name_its_model() -> None:
    assert named(pair_sides([Side(BOTH).of("b"), Side(ONE)])) == ["both:b one:a"]
    assert named(pair_sides([Side(BOTH).of("b"), Side(BOTH)], ["a"])) == ["both:b both:a"]


@pytest.mark.parametrize(
    ("sides", "models", "message"),
    [
        ([ONE], [], "there is nothing to compare with"),
        ([ONE], ["a"], "there is nothing to compare with"),
        ([ONE, BOTH], ["b"], r"no results of model 'b'\. Known: a"),
        ([ONE, ONE, ONE], ["a", "a"], "2 models for 3 runs"),
        ([ONE, Run("empty")], [], r"outputs/empty: the run has no results\. Score it first"),
        ([OTHER, TWO], [], "no model in common: b; c, d"),
    ],
)
def test_what_stays_open(sides: list[Run], models: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pair_sides([Side(run) for run in sides], models)


def test_models_without_a_partner_are_named() -> None:
    [(old, new)] = pair_sides([Side(BOTH), Side(Run("more", *ONE.results.values(),
        measured("R", "c")))])  # fmt: skip
    assert (old.model, new.model) == ("a", "a")
    assert compare_sides(old, new).notes[:2] == (
        *("not compared, only in both: b", "not compared, only in more: c"),
    )
    [(old, new)] = pair_sides([Side(BOTH).of("a"), Side(BOTH)])
    assert (old.unpaired, new.unpaired) == ((), ())


def test_lines_and_what_only_one_run_has() -> None:
    more = Run("more", measured("RRW"), measured("R", dataset="law"), measured("R", dataset="x"))
    less = Run("less", measured("RWR"), measured("W", dataset="law"), measured("W", dataset="y"))
    [(old, new)] = pair_sides([Side(more), Side(less)])
    found = compare_sides(old, new)
    assert [(line.dataset, line.difference.metric) for line in found.lines] == [
        ("math", "accuracy"),
        ("law", "accuracy"),
    ]
    assert found.notes == ("only in more: x", "only in less: y")
    assert found.num_tests == 2
    chosen = compare_sides(old, new, {"x": "y"})
    assert [line.dataset for line in chosen.lines] == ["y"]
    with pytest.raises(ConfigError, match=r"no results of m on 'z'\. Known: law, math, x"):
        compare_sides(old, new, {"z": "y"})
    with pytest.raises(ConfigError, match=r"no results of m on 'x'\."):
        compare_sides(old, new, {"x": "x"})


def test_p_values_are_adjusted_for_their_number() -> None:
    strong, weak = mcnemar_p(0, 8), mcnemar_p(0, 3)
    old = Run("old", measured("R" * 8), measured("RRR", dataset="law"))
    new = Run("new", measured("W" * 8), measured("WWW", dataset="law"))
    [(before, after)] = pair_sides([Side(old), Side(new)])
    first, second = compare_sides(before, after).lines
    assert (first.difference.p_value, first.adjusted_p) == (strong, 2 * strong)
    assert (second.difference.p_value, second.adjusted_p) == (weak, weak)


def test_why_runs_may_not_be_comparable() -> None:
    new = measured("RR", version="other", mode="ll", partial=True, repeats=2, num_fewer_shots=1)
    new = replace(new, num_imported=2)
    assert compared(measured("RW"), new).notes == (
        "math: other versions, so other data, prompts or shots: 1d7fe4 and other",
        "math: other modes: gen and ll",
        "math: other numbers of repeats: 1 and 2",
        "math: imported replies (new), to another tool's prompts",
        "math: prompts sent with fewer shots: 0 and 1",
        "math: partial run (new), not the benchmark's score",
    )


def test_samples_that_were_not_compared_are_counted() -> None:
    new = measured("RRRR")
    assert new.details is not None
    new.details[0].error = "down"
    assert compared(measured("RW"), new).notes == (
        "math: 1 samples compared; 2 only in new, 1 not measured in new",
    )


def test_other_references_are_said() -> None:
    old, new = measured("RWR"), measured("RWR")
    assert new.details is not None
    new.details[1].answer = "S"
    assert compared(old, new).notes == (
        "math: 1 samples have other references; are they the same samples?",
    )
    for detail in new.details:  # as another tool names and keeps them
        detail.sample_id, detail.answer = detail.index, "The solution.\n#### R"
    assert compared(old, new).notes == ()
    for detail in new.details:
        detail.answer = "Q"
    assert "3 samples have other references" in compared(old, new).notes[0]


def test_no_metric_in_common() -> None:
    new = replace(measured("R"), metrics={"bleu": 3.0})
    assert compared(measured("R"), new).notes == (
        "math: not compared: there is no metric that both have",
    )


def test_without_details_there_is_nothing_to_pair() -> None:
    [note] = compared(measured("R"), replace(measured("R"), details=None)).notes
    assert note == (
        "math: not compared: new was scored without details. "
        "Score it again: --reuse new --mode eval"
    )


def test_what_other_tools_call_right() -> None:
    new = replace(measured("R"), metrics={"exact_match,strict": 100.0})
    [line] = compared(measured("W"), new).lines
    assert (line.difference.old_metric, line.difference.metric) == (
        "accuracy",
        "exact_match,strict",
    )
    assert (line.difference.difference, line.difference.test) == (100, "McNemar")


def subset(name: str, pattern: str, **more: Any) -> ResultFile:
    found = measured(pattern, dataset=f"law-{name}", subset=name, **more)
    for detail in found.details or ():
        detail.sample_id = f"{name}-{detail.index}"
    return replace(found, benchmark="law")


def law(*results: ResultFile) -> Side:
    return Side(Run("run", *results), "m")


def test_a_benchmark_is_compared_as_a_whole_too() -> None:
    old = law(subset("a", "RWW"), measured("R"), subset("b", "W"))
    new = law(subset("a", "RRR"), measured("R"), subset("b", "W"))
    lines = compare_sides(old, new).lines
    assert [line.dataset for line in lines] == ["law-a", "math", "law-b", "law"]
    whole = lines[-1].difference
    assert lines[-1].parts == ("law-a", "law-b")
    assert (whole.metric, whole.old, whole.new) == ("weighted_average", 25, 75)
    assert (whole.difference, whole.num_pairs, whole.old_n) == (50, 4, 4)
    assert whole.test == "McNemar"  # samples of one number in two subsets have nothing in common
    assert [pair.new.sample_id for pair in whole.gained] == ["a-1", "a-2"]


def test_repeats_are_clusters_in_the_whole_too() -> None:
    old, new = (
        law(*(subset(s, pattern, repeats=2, num_rows=1) for s in "ab")) for pattern in ("WW", "RR")
    )
    whole = compare_sides(old, new).lines[-1].difference
    assert (whole.test, whole.num_pairs, whole.difference) == ("bootstrap", 4, 100)


def test_without_a_mean_there_is_no_whole() -> None:
    results = [replace(subset(s, "R"), metrics={"bleu": 30.0}, details=[]) for s in "ab"]
    lines = compare_sides(law(*results), law(*results)).lines
    assert [line.dataset for line in lines] == ["law-a", "law-b"]
