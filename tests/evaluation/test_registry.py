from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.registry import evaluators, postprocessors
from pytest_evalplug.registry import Registry


def test_built_in_names_are_there() -> None:
    assert {"general", "first-option", "last-option", "first-capital"} <= set(postprocessors)
    assert {"first-number", "last-number", "after", "think", "boxed", "bbh-paper"} <= set(
        postprocessors
    )
    assert {"accuracy", "acc", "exact_match", "number"} <= set(evaluators)


@pytest.mark.parametrize("registry", [postprocessors, evaluators], ids=lambda r: r.kind)
def test_the_table_of_built_in_names_is_right(registry: Registry[Any]) -> None:
    for name in registry:
        entry = registry.get(name)
        assert entry.__module__.startswith("pytest_evalplug.evaluation.")
    assert set(registry) == set(registry._entries)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown postprocessor 'last-numbr'.*'last-number'"):
        postprocessors.get("last-numbr")


def test_a_users_entry_may_not_take_a_built_in_name() -> None:
    with pytest.raises(ConfigError, match="registered twice"):
        postprocessors.register("last-number")(str.strip)
