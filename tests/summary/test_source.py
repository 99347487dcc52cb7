from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.summary.source import find_summarizer, make_summarizer
from pytest_evalplug.summary.summarizer import DefaultSummarizer, Summarizer
from pytest_evalplug.summary.variants import CircularSummarizer, EvalScopeSummarizer

GROUP = {"name": "g", "subsets": ["a", "b"], "weights": {"a": 100, "b": 200}}
CONFIG = {"dataset_abbrs": [["g", "weighted_average"], ""], "summary_groups": [GROUP]}
TOML = """
dataset_abbrs = [["g", "weighted_average"], ""]

[[summary_groups]]
name = "g"
subsets = ["a", "b"]
weights = {a = 100, b = 200}
"""
PYTHON = f"summarizer = {CONFIG!r}\n"


class Own(DefaultSummarizer):
    def __init__(self, fail: str = "", **options: Any) -> None:
        super().__init__(**options)
        if fail:
            raise RuntimeError(fail)


def conftest(value: Any) -> Any:
    return SimpleNamespace(__file__="somewhere/conftest.py", summarizer=value)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("s.json", json.dumps(CONFIG)),
        ("s.json", json.dumps({"summarizer": CONFIG})),
        ("s.toml", TOML),
        ("s.py", PYTHON),
    ],
)
def test_a_file(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    found = find_summarizer(str(tmp_path / file), [conftest({})], {})
    assert found is not None
    assert found.to_wire() == {"type": "Summarizer", **CONFIG}


def test_the_first_source_counts(tmp_path: Path) -> None:
    own = Own()
    root, nearer = conftest({"dataset_abbrs": ["root"]}), conftest(own)
    table = {"type": "CircularSummarizer"}
    assert isinstance(find_summarizer("evalscope", [nearer], table), EvalScopeSummarizer)
    assert find_summarizer(None, [root, nearer], table) is own
    assert isinstance(find_summarizer(None, [], table), CircularSummarizer)
    assert find_summarizer(None, [], None) is None


@pytest.mark.parametrize("value", [None, "text", lambda: None, json, int])
def test_a_conftest_may_have_a_summarizer_that_is_no_concern_of_ours(value: Any) -> None:
    assert find_summarizer(None, [conftest(value)], None) is None


def test_a_class_or_its_name() -> None:
    assert type(make_summarizer({"type": "DefaultSummarizer"}, where="")) is Summarizer
    assert type(make_summarizer({"type": Own}, where="")) is Own
    assert type(make_summarizer(Own, where="")) is Own


def test_a_presets_groups_by_its_name() -> None:
    found = make_summarizer({"summary_groups": ["arc", GROUP]}, where="")
    assert [group.name for group in found.groups] == ["arc", "g"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (3, "here: 3 is no summarizer"),
        ({"dataset_abrs": []}, "here: unknown key 'dataset_abrs'. Did you mean 'dataset_abbrs'"),
        ({"type": "Circular"}, "here: type 'Circular' is no summarizer. Did you mean 'Circular.*'"),
        ({"type": dict}, "is no summarizer. Subclass DefaultSummarizer"),
        ({"dataset_abbrs": [3]}, r"here: dataset_abbrs\[0\]: 3 is neither"),
        ({"summary_groups": [{}]}, r"here: summary_groups\[0\]: a group needs a 'name'"),
        ({"summary_groups": ["arx"]}, r"here: summary_groups\[0\]: unknown preset 'arx'.*'arc'"),
        ({"summary_groups": 3}, "here: summary_groups: is a list of groups"),
        ({"type": Own, "fail": "because"}, "here: Own: RuntimeError: because"),
    ],
)
def test_a_wrong_configuration(config: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_summarizer(config, where="here")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("s.json", "{", "can't be read: JSONDecodeError"),
        ("s.json", "[]", r"\[\] is no summarizer"),
        ("s.toml", "a = ", "can't be read: TOMLDecodeError"),
        ("s.toml", "[summarizer]\nx = 1\n", "unknown key 'x'"),
        ("s.py", "1 / 0", "can't be read: ZeroDivisionError: division by zero"),
        ("s.py", "x = 1", "defines no summarizer"),
        ("s.py", "summarizer = 1", "1 is no summarizer"),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, file: str, text: str, message: str) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as caught:
        find_summarizer(str(path), [], None)
    assert str(caught.value).startswith(str(path))


def test_neither_a_file_nor_a_preset() -> None:
    with pytest.raises(ConfigError, match=r"--eval-summarizer: there is no file x/y\.toml"):
        find_summarizer("x/y.toml", [], None)
    for given in ("mlu", "somewhere/mmlu"):
        why = rf"unknown preset '{given}'. Did you mean 'mmlu'.*Or give a f"
        with pytest.raises(ConfigError, match=why):
            find_summarizer(given, [], None)


def test_a_wrong_table_says_where_it_is() -> None:
    with pytest.raises(ConfigError, match=r"\[tool.evalplug.summarizer\]: unknown key 'x'"):
        find_summarizer(None, [], {"x": 1})
    with pytest.raises(ConfigError, match=r"somewhere/conftest.py: summarizer: unknown key 'x'"):
        find_summarizer(None, [conftest({"x": 1})], None)
