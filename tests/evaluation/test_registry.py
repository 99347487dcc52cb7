from __future__ import annotations

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.registry import evaluators, postprocessors


def test_built_in_names_are_there() -> None:
    assert {"general", "first-option", "last-option", "first-capital"} <= set(postprocessors)
    assert {"first-number", "last-number", "after", "think", "boxed", "bbh-paper"} <= set(
        postprocessors
    )
    assert {"accuracy", "acc", "exact_match", "number"} <= set(evaluators)


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown postprocessor 'last-numbr'.*'last-number'"):
        postprocessors.get("last-numbr")


def test_a_users_entry_may_not_take_a_built_in_name() -> None:
    with pytest.raises(ConfigError, match="registered twice"):
        postprocessors.register("last-number")(str.strip)
