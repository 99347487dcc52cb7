from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.cli import main
from pytest_evalplug.doctor.check import ok, problem, warn
from pytest_evalplug.doctor.screen import as_text
from tests.servers import OpenAIServer, api_server, error

__all__ = ["api_server"]

SECRET = "hunter2hunter2hunter2"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    (tmp_path / "data" / "gsm8k").mkdir(parents=True)
    return tmp_path


def test_a_screen(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor", "--data-dir", "data"])
    lines = capsys.readouterr().out.splitlines()
    states = [line[:7].rstrip() for line in lines]
    assert status == int("problem" in states)
    for name in ("versions", "cpu", "memory", "work dir", "data dir", "sandbox", "keys"):
        assert any(line[9:].startswith(f"{name} ") for line in lines), name
    assert list(project.iterdir()) == [project / "data"]


def test_a_problem_and_json_without_secrets(
    project: Path, capsys: pytest.CaptureFixture[str], api_server: OpenAIServer
) -> None:
    api_server.script = lambda call: error(401, f"Incorrect API key: {SECRET}")
    (project / "pyproject.toml").write_text(
        "[tool.evalplug.models.served]\nbackend = 'openai'\nmodel = 'm'\n"
        f"base_url = '{api_server.url}'\nheaders = {{ X-Own = '{SECRET[::-1]}' }}\n"
    )
    assert main(["doctor", "--json", "--model", "served", "--judge-model", "nosuch"]) == 1
    out = capsys.readouterr().out
    checks = {check["name"]: check for check in json.loads(out)}
    assert checks["model served"]["state"] == "problem"
    assert "the key was refused" in checks["model served"]["text"]
    assert checks["model nosuch"]["state"] == "problem"
    assert checks["keys"]["text"] == "OPENAI_API_KEY is set (for served)"
    assert SECRET not in out
    assert SECRET[::-1] not in out


def test_the_settings_are_those_of_pytest(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA_DIR", "WORK_DIR"):
        monkeypatch.delenv(f"EVALPLUG_{name}", raising=False)
    (project / "pytest.ini").write_text(
        "[pytest]\nevalplug_data_dir = data\nevalplug_work_dir = runs\n"
    )
    (project / "pyproject.toml").write_text("[tool.evalplug]\nmodles = {}\n")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    monkeypatch.setattr("pytest_evalplug.doctor.surroundings.sandbox", lambda: [])
    assert main(["doctor", "--json"]) == 1
    checks = {check["name"]: check["text"] for check in json.loads(capsys.readouterr().out)}
    assert checks["data dir"].startswith(f"{project / 'data'}: 1 of ")
    assert checks["work dir"].startswith(f"{project / 'runs'} ")
    assert checks["ini file"] == str(project / "pytest.ini")
    assert "'modles'" in checks["[tool.evalplug]"]
    main(["doctor", "--json", "--work-dir", "here"])
    checks = {check["name"]: check["text"] for check in json.loads(capsys.readouterr().out)}
    assert checks["work dir"].startswith(f"{project / 'sub' / 'here'} ")


def test_lines_are_aligned_and_wrapped() -> None:
    checks = [
        ok("a", "fine"),
        warn("longer", "this text is too long for one line of such a width", "mend\x1b[2J it"),
    ]
    assert as_text(checks, width=60, colours=False).splitlines() == [
        "ok       a       fine",
        "warn     longer  this text is too long for one line of such",
        "                 a width",
        r"                 -> mend\x1b[2J it",
        "",
        "2 checks, 1 warning",
    ]
    assert as_text([ok("a", "b")], width=60, colours=True).splitlines() == [
        "\x1b[32mok     \x1b[0m  a  b",
        "",
        "1 check, nothing wrong",
    ]
    assert as_text([problem("a", "b")] * 2, width=60, colours=False).endswith("2 problems")
