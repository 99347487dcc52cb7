from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.postprocessor import apply_steps, resolve_postprocessor


def upper(text: str, suffix: str = "") -> str:
    return text.upper() + suffix


@pytest.mark.parametrize("spec", [upper, {"type": upper}, [upper]])
def test_every_form_of_a_spec(spec: Any) -> None:
    assert apply_steps(resolve_postprocessor(spec), "a") == "A"


def test_options_and_order() -> None:
    steps = resolve_postprocessor([{"type": "after", "marker": "####"}, "last-number"])
    assert apply_steps(steps, "3 #### $1,000.0") == "1000"


def test_each_candidate_of_a_list() -> None:
    assert apply_steps(resolve_postprocessor(upper), ["a", "b"]) == ["A", "B"]


def test_context_reaches_those_who_take_it_and_yields_to_the_configuration() -> None:
    assert apply_steps(resolve_postprocessor(upper), "a", suffix="!", options="AB") == "A!"
    assert apply_steps(resolve_postprocessor({"type": upper, "suffix": "?"}), "a", suffix="!") == (
        "A?"
    )


def test_unknown_option() -> None:
    with pytest.raises(
        ConfigError, match=r"here: postprocessor after has no option 'markr'.*'marker'"
    ):
        resolve_postprocessor({"type": "after", "markr": "#"}, where="here")


def test_missing_option() -> None:
    with pytest.raises(ConfigError, match="missing a required argument: 'marker'"):
        resolve_postprocessor("after")


@pytest.mark.parametrize("spec", [7, {}, {"type": None}])
def test_what_is_no_postprocessor(spec: Any) -> None:
    with pytest.raises(ConfigError, match="a postprocessor is"):
        resolve_postprocessor(spec)
