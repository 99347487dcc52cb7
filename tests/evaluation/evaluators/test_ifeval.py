from __future__ import annotations

import sys
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.config import resolve_evaluator
from pytest_evalplug.evaluation.evaluators.ifeval import IFEvaluator
from pytest_evalplug.types import Sample

COMMA: dict[str, Any] = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
THREE: dict[str, Any] = {
    "instruction_id_list": ["punctuation:no_comma", "startend:quotation", "keywords:existence"],
    "kwargs": [{}, {"keywords": None}, {"keywords": ["tea"], "letter": None}],
}


@pytest.mark.parametrize("name", ["ifeval", "IFEvaluator", "IFEvalEvaluator"])
def test_names(name: str) -> None:
    assert isinstance(resolve_evaluator(name), IFEvaluator)


def test_one_reply() -> None:
    sample = Sample(input="", target="", metadata=THREE)
    assert IFEvaluator().score_sample("“Tea”, please", "", sample) == {
        "prompt_level_strict_acc": 0.0,
        "inst_level_strict_acc": pytest.approx(1 / 3),
        "prompt_level_loose_acc": 0.0,
        "inst_level_loose_acc": pytest.approx(1 / 3),
        "correct": False,
        "instructions": [
            {"instruction": "punctuation:no_comma", "strict": False, "loose": False},
            {"instruction": "startend:quotation", "strict": False, "loose": False},
            {"instruction": "keywords:existence", "strict": True, "loose": True},
        ],
    }
    assert IFEvaluator().score_sample('"Tea"', "", sample)["correct"] is True


def test_the_set_counts_instructions_not_prompts() -> None:
    result = IFEvaluator().score(["none", "Well,\ntea"], test_set=[COMMA, THREE])
    assert result == {
        "prompt_level_strict_acc": 50.0,
        "inst_level_strict_acc": 50.0,  # 2 of 4; the mean over prompts would be 66.7
        "prompt_level_loose_acc": 50.0,
        "inst_level_loose_acc": 75.0,
        "details": result["details"],
    }
    assert [len(detail["instructions"]) for detail in result["details"]] == [1, 3]


def test_references_may_hold_the_instructions() -> None:
    with_references = IFEvaluator().score(["none", '"tea"'], [COMMA, THREE])
    assert with_references == IFEvaluator().score(["none", '"tea"'], None, [COMMA, THREE])
    assert with_references["prompt_level_strict_acc"] == 100
    assert IFEvaluator().score_sample("none", COMMA)["correct"] is True


@pytest.mark.parametrize("reply", [None, "", " \n\t"])
def test_no_reply_follows_nothing(reply: str | None) -> None:
    assert IFEvaluator().score_sample(reply, COMMA)["inst_level_loose_acc"] == 0


def test_repeated_runs() -> None:
    columns = {"predictions": ["a", "a,"], "references": [COMMA, COMMA]}
    result = IFEvaluator().evaluate(1, 2, None, **columns)
    assert result["inst_level_strict_acc (2 runs average)"] == 50


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"instruction_id_list": [], "kwargs": []},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": []},
        {"instruction_id_list": ["punctuation:no_comma"], "kwargs": None},
    ],
)
def test_a_sample_without_instructions_is_an_error(row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="no instructions"):
        IFEvaluator().score_sample("a", row)


@pytest.mark.parametrize(("predictions", "rows"), [([], []), (["a"], [COMMA, COMMA])])
def test_columns_of_one_length(predictions: list[str], rows: list[dict[str, Any]]) -> None:
    with pytest.raises(ConfigError, match="columns of one length"):
        IFEvaluator().score(predictions, rows)


def test_without_langdetect(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_evalplug.evaluation.ifeval import language

    language._factory.cache_clear()
    monkeypatch.setitem(sys.modules, "langdetect", None)
    row = {"instruction_id_list": ["language:response_language"], "kwargs": [{"language": "de"}]}
    with pytest.raises(ConfigError, match=r"pytest-evalplug\[ifeval\]"):
        IFEvaluator().score_sample("Ja", row)
