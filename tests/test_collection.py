from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug import (
    BenchmarkMeta,
    DefaultDataAdapter,
    Sample,
)
from pytest_evalplug.collection import Benchmark, Placeholder, authors_error
from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.inference.case import Case
from pytest_evalplug.marks import tag_mark
from pytest_evalplug.options import RunConfig


class Quiz(DefaultDataAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        return Sample(input=record["q"], target="x", choices=record.get("choices"))


META = BenchmarkMeta(name="quiz", subset_list=["a", "b"], repeats=2)


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    folder = tmp_path / "quiz"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"q": "1"}\n{"q": "2"}\n')
    return RunConfig(data_dirs=(tmp_path,))


def build(config: RunConfig, cls: type[DefaultDataAdapter] = Quiz) -> Benchmark:
    return Benchmark.build(cls, META, __file__, config)


def test_cases_of_a_benchmark_with_a_missing_subset(config: RunConfig) -> None:
    pairs = list(zip(*build(config).cases(config), strict=True))
    assert [name for name, _ in pairs] == ["a-0-r0", "a-0-r1", "a-1-r0", "a-1-r1", "b-missing"]
    first, last = pairs[1][1], pairs[-1][1]
    assert isinstance(first, Case)
    assert (first.index, first.repeat, first.dataset) == ("2", 1, "quiz-a")
    assert isinstance(last, Placeholder)
    assert isinstance(last.error, DataError)


def test_test_functions_share_the_cases(config: RunConfig) -> None:
    benchmark = build(config)
    assert benchmark.cases(config) is benchmark.cases(config)


def test_the_version_says_what_changed_the_prompt(config: RunConfig) -> None:
    overrides: list[dict[str, Any]] = [
        {}, {"prompt_template": "{question}!"}, {"eval_cfg": {}}, {"repeats": 1}
    ]  # fmt: skip
    versions = {
        build(RunConfig(data_dirs=config.data_dirs, overrides={"quiz": override})).version("a")
        for override in overrides
    }
    assert len(versions) == 2
    assert all(len(version) == 6 for version in versions)


def test_an_author_s_exception_says_where(config: RunConfig) -> None:
    class Broken(Quiz):
        def __init__(self, **kwargs: Any) -> None:
            raise ZeroDivisionError("oh")

    benchmark = build(config, Broken)
    assert isinstance(benchmark.error, ConfigError)
    line = Broken.__init__.__code__.co_firstlineno + 1
    assert str(benchmark.error) == f"{__file__}:{line}, in __init__: ZeroDivisionError: oh"
    ((name,), (case,)) = benchmark.cases(config)
    assert name == "error"
    assert isinstance(case, Placeholder)


def test_our_own_errors_stay_as_they_are() -> None:
    error = DataError("x")
    assert authors_error(error, "f") is error


@pytest.mark.parametrize(
    ("tag", "mark"),
    [("Math", "tag_math"), ("Multiple Choice", "tag_multiple_choice"), ("a-b.c", "tag_a_b_c")],
)
def test_tag_mark(tag: str, mark: str) -> None:
    assert tag_mark(tag) == mark
