from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.doctor.check import Check
from pytest_evalplug.doctor.tables import tables

WRONG = """
[tool.evalplug]
modles = {}
gates = ["gsm8k>=", "piqa>=0.7", "> 3"]
summarizer = { datset_abbrs = [] }
[tool.evalplug.models]
loose = "sk-not-shown"
[tool.evalplug.models.a]
backend = "openai"
model = "m"
concurency = 3
timeout = "long"
pred_postprocessor = "nosuch"
[tool.evalplug.models.b]
backend = "hff"
[tool.evalplug.benchmarks.gsm8k]
few_shot_num = "many"
fewshot = 2
[tool.evalplug.benchmarks.mine]
anything = 1
"""


def looked_at(folder: Path, text: str) -> list[Check]:
    file = folder / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return list(tables(file))


def test_every_mistake_is_said(tmp_path: Path) -> None:
    checks = looked_at(tmp_path, WRONG)
    assert {check.state for check in checks} == {"problem"}
    for text in (
        "unknown key 'modles'",
        "models.loose is no table",
        "unknown option 'concurency'",
        "timeout is 'long'",
        "nosuch",
        "backend is 'hff'",
        "few_shot_num is 'many'",
        "no setting 'fewshot'",
        "'gsm8k>=' is no gate",
        "'> 3' is no gate",
        "datset_abbrs",
    ):
        assert sum(text in check.text for check in checks) == 1, text
    assert len(checks) == 11
    assert "not-shown" not in str(checks)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "pyproject.toml: empty"),
        ("[tool.evalplug.models.a]\nbackend='hf'\nmodel='m'", "pyproject.toml: 1 in models"),
    ],
)
def test_nothing_wrong(tmp_path: Path, text: str, said: str) -> None:
    [check] = looked_at(tmp_path, text)
    assert (check.state, check.text) == ("ok", said)


def test_no_file(tmp_path: Path) -> None:
    [check] = tables(tmp_path / "pyproject.toml")
    assert check.state == "ok"
