from __future__ import annotations

import pytest

from pytest_evalplug.cli import main
from pytest_evalplug.dataset.catalogue import find


def test_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "demo_math"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# Demo math\n\nArithmetic word problems")
    assert "\nQuestion: A farmer packs eggs in trays of 12." in out


def test_in_chinese(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "demo_math", "--lang", "zh"]) == 0
    assert "## 运行方法" in capsys.readouterr().out


def test_a_module_behind_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    module = str(find("demo_math").path)
    assert main(["docs", "demo_math", "--lang", "zh", module]) == 0
    assert "## 运行方法" in capsys.readouterr().out


def test_an_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "demo_maths"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(
        "evalplug docs: error: there is no benchmark 'demo_maths'. Did you mean"
    )
