from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.meta import BenchmarkMeta, register_benchmark
from pytest_evalplug.dataset.tags import Tags
from pytest_evalplug.errors import ConfigError


def test_lists_become_tuples() -> None:
    meta = BenchmarkMeta(name="x", tags=[Tags.MATH], subset_list=["a", "b"], metric_list=["acc"])
    assert (meta.tags, meta.subset_list, meta.metric_list) == (("Math",), ("a", "b"), ("acc",))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "a/b"}, "name is 'a/b'"),
        ({"name": ""}, "name is ''"),
        ({"name": "../up"}, "name is '../up'"),
        ({"subset_list": "main"}, "subset_list is 'main'. Give a list"),
        ({"subset_list": {"b", "a"}}, "Give a list"),
        ({"subset_list": []}, "subset_list is empty"),
        ({"subset_list": ["a", "b", "a"]}, "holds 'a' twice"),
        ({"subset_list": ["a", ""]}, "Give a list of names"),
        ({"tags": [1]}, "Give a list of names"),
        ({"eval_split": ""}, "eval_split is empty"),
        ({"few_shot_num": -1}, "few_shot_num is -1"),
        ({"few_shot_num": True}, "few_shot_num is True"),
        ({"few_shot_num": "4"}, "few_shot_num is '4'. Expected int"),
        ({"shuffle": 1}, "shuffle is 1. Expected bool"),
        ({"repeats": 0}, "repeats is 0"),
        ({"k": 0}, "k is (0,). Give whole numbers from 1 on"),
        ({"k": [1, True]}, "k is (1, True)"),
        ({"k": "4"}, "k is '4'. Give a list"),
        ({"k": [1, 8], "repeats": 4}, "k is 8, but repeats is 4. Ask more often, or set k too"),
        ({"threshold": 70.0}, "threshold is 70.0"),
        ({"prompt_template": 3}, "prompt_template is 3"),
        ({"eval_cfg": "accuracy"}, "eval_cfg is 'accuracy'"),
        ({"generation": {"max_token": 5}}, "no parameter 'max_token'. Did you mean 'max_tokens'?"),
        ({"generation": {"temperature": "hot"}}, "generation.temperature is 'hot'. It must be a"),
    ],
)
def test_what_cannot_be_meant_is_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as error:
        BenchmarkMeta(**{"name": "demo", **values})
    assert message in str(error.value)
    assert str(error.value).startswith("BenchmarkMeta ")


def test_override_returns_a_checked_copy() -> None:
    meta = BenchmarkMeta(name="gsm8k", few_shot_num=4, generation={"max_tokens": 512, "seed": 1})
    changed = meta.override({"few_shot_num": 0, "subset_list": ["main"]})
    assert (changed.few_shot_num, changed.subset_list, meta.few_shot_num) == (0, ("main",), 4)
    with pytest.raises(ConfigError, match="few_shot_num is -1"):
        meta.override({"few_shot_num": -1})


@pytest.mark.parametrize(("k", "stored"), [(4, (4,)), ([1, 4], (1, 4)), ((), ())])
def test_k_is_a_number_or_several(k: Any, stored: tuple[int, ...]) -> None:
    assert BenchmarkMeta(name="x", k=k).k == stored  # with one reply there is no pass@k
    assert BenchmarkMeta(name="x").override({"k": k, "repeats": 4}).k == stored


def test_override_merges_tables_and_reaches_into_them() -> None:
    meta = BenchmarkMeta(name="x", generation={"max_tokens": 512, "seed": 1})
    changed = meta.override({"generation": {"seed": 2}, "generation.top_p": 0.5})
    assert changed.generation == {"max_tokens": 512, "seed": 2, "top_p": 0.5}


@pytest.mark.parametrize("key", ["few_shot_nums", "name", "few_shot_num.x", "generation.tempratur"])
def test_override_names_what_it_does_not_know(key: str) -> None:
    with pytest.raises(ConfigError, match=r"Known: |Did you mean "):
        BenchmarkMeta(name="x").override({key: 1})


def test_the_nearest_setting_comes_first() -> None:
    with pytest.raises(ConfigError) as error:
        BenchmarkMeta(name="x").override({"few_shots_num": 1})
    assert "benchmark 'x' has no setting 'few_shots_num'" in str(error.value)
    assert "Did you mean 'few_shot_num'?" in str(error.value)


def test_the_decorator_only_attaches_the_metadata() -> None:
    meta = BenchmarkMeta(name="x")

    class Plain(DefaultDataAdapter):
        pass

    assert register_benchmark(meta)(Plain) is Plain
    assert Plain.__evalplug_meta__ is meta
    register_benchmark(meta)(Plain)  # a second time (a reload) is no error
