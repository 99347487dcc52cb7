"""The examples of docs/summaries.md do what it says."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.summary.presets import preset, preset_names
from pytest_evalplug.summary.scores import Scores
from pytest_evalplug.summary.source import make_summarizer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = (Path(__file__).parents[2] / "docs" / "summaries.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(text, names)
    return names


def test_the_table_in_pyproject_toml() -> None:
    (text,) = blocks("toml")
    config = tomllib.loads(text)["tool"]["evalplug"]["summarizer"]
    values = {"gsm8k": {"accuracy": 60.0}, "arc_challenge": {"accuracy": 90.0}}
    table = make_summarizer(config, where="").tabulate(Scores.of({"m": values}))
    assert [row.cells[0] and row.cells[0].value for row in table.rows] == [75.0, None, 60.0, 90.0]


def test_inverse_ifeval_is_the_preset() -> None:
    example, *_ = blocks("python")
    shipped = json.dumps(preset("inverse_ifeval")).replace("inverse_ifeval-", "InverseIFEval_")
    assert json.loads(json.dumps(run(example)["summarizer"])) == json.loads(shipped)


def test_a_summarizer_of_ones_own() -> None:
    config = run(blocks("python")[1])["summarizer"]
    assert type(make_summarizer(config, where="")).__name__ == "WithSpread"


def test_a_few_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    run(blocks("python")[2])
    assert "both       -          naive_average  unknown    75.00" in capsys.readouterr().out


def test_every_preset_is_named() -> None:
    assert set(re.findall(r"^\| `(\w+)` \| [^|]*\|$", TEXT, re.MULTILINE)) >= set(preset_names())


def test_the_json_has_the_keys_that_there_are() -> None:
    (text,) = blocks("json")
    table = make_summarizer({}, where="").tabulate(Scores.of({"m": {"a": {"f1": 1.0}}}))
    wire = json.loads(text)
    ours = table.to_wire()
    assert wire.keys() == ours.keys()
    assert wire["rows"][0].keys() == ours["rows"][0].keys()
    assert wire["rows"][0]["scores"]["gpt-6-astra-response"].keys() == (
        ours["rows"][0]["scores"]["m"].keys()
    )
