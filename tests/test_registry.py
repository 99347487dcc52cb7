from __future__ import annotations

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.registry import Registry


def first() -> None: ...


def second() -> None: ...


@pytest.fixture
def registry() -> Registry[object]:
    registry = Registry[object]("colour")
    registry.add("red", first)
    registry.add("green", second)
    return registry


def test_names_keep_their_order(registry: Registry[object]) -> None:
    assert list(registry) == ["red", "green"]
    assert "red" in registry
    assert "blue" not in registry
    assert registry.get("green") is second


def test_an_unknown_name_lists_the_nearest_first(registry: Registry[object]) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.get("gren", where="eval_cfg of quiz")
    assert str(caught.value) == (
        "eval_cfg of quiz: unknown colour 'gren'. Did you mean 'green'? Known: green, red"
    )


def test_a_second_entry_of_one_name_names_both_places(registry: Registry[object]) -> None:
    with pytest.raises(ConfigError, match=r"'red' is registered twice: .*\.first and .*\.second"):
        registry.add("red", second)
    assert registry.get("red") is first


def test_the_same_entry_again_is_no_second(registry: Registry[object]) -> None:
    registry.add("red", first)  # a module that is imported again
    assert list(registry) == ["red", "green"]


def test_a_decorator_registers_several_names() -> None:
    registry = Registry[object]("colour")

    @registry.register("a", "b")
    def third() -> int:
        return 3

    assert third() == 3
    assert registry.get("a") is registry.get("b") is third
