from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.doctor.ini import find_ini, ini_file

OURS = "evalplug_data_dir = x"
TABLE = "[tool.evalplug.models]\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"pytest.ini": f"[pytest]\n{OURS}", "sub/pyproject.toml": TABLE}, "pytest.ini"),
        ({"pytest.ini": "", "sub/tox.ini": "[tox]"}, "pytest.ini"),
        ({"pyproject.toml": TABLE, "sub/pyproject.toml": TABLE}, "sub/pyproject.toml"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "pyproject.toml"),
        ({"pyproject.toml": TABLE, "tox.ini": f"[pytest]\n{OURS}"}, "tox.ini"),
        ({"setup.cfg": f"[tool:pytest]\n{OURS}"}, "setup.cfg"),
        ({"sub/.pytest.toml": "", "pytest.ini": "[pytest]"}, "sub/.pytest.toml"),
        ({"setup.cfg": "[metadata]"}, None),
    ],
    ids=str,
)
def test_the_file_is_the_one_that_pytest_takes(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    found: str | None,
) -> None:
    folder = pytester.mkdir("sub")
    for name, text in files.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    ini = find_ini(folder)
    assert ini.path == (pytester.path / found if found else None)
    config = pytester.parseconfig()
    assert ini.path == config.inipath
    assert ini.options.get("evalplug_data_dir", "") == (config.getini("evalplug_data_dir") or "")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pytest.toml", "[pytest]\nevalplug_data_dir = '%x'"),
        ("pyproject.toml", "[tool.pytest]\nevalplug_data_dir = '%x'"),
        ("pyproject.toml", "[tool.pytest.ini_options]\nevalplug_data_dir = '%x'"),
        ("pytest.ini", "[pytest]\naddopts = -q\nevalplug_data_dir = %x"),
    ],
)
def test_the_options_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert find_ini(tmp_path).options["evalplug_data_dir"] == "%x"


@pytest.mark.parametrize(
    ("name", "text"),
    [("pytest.ini", "loose"), ("pyproject.toml", "="), ("pyproject.toml", "tool = 3")],
)
def test_a_broken_file_is_a_problem(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    [check] = ini_file(find_ini(tmp_path))
    assert check.state == "problem"
    assert str(tmp_path / name) in check.text
