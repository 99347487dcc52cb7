from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.cli import main
from pytest_evalplug.evaluation.cases import shipped_files

ROW = {
    "id": "1",
    "kind": "plain",
    "why": "It says so.",
    "input": "First 7.\nThen\x1b[2J it is 8",
    "gold": "8",
    "right": True,
    "expected": "8",
}


@pytest.fixture
def cases_file(tmp_path: Path) -> Path:
    return write(tmp_path / "numbers.jsonl", ROW)


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_all_right(cases_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", str(cases_file)]) == 0
    assert capsys.readouterr().out == f"{cases_file}: 1/1 right\n  plain  1/1\n"


def test_a_miss(cases_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cases", "-q", str(cases_file), "--postprocessor", "first-number"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{cases_file}: 0/1 right",
        "  MISS 1 (plain): It says so.",
        "    input:    First 7.",
        r"              Then\x1b[2J it is 8",
        '    expected: {"number": "8", "gold": "8", "right": true}',
        '    got:      {"number": "7", "right": false}',
    ]


def test_several_files_one_of_them_broken(
    cases_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = write(tmp_path / "broken.jsonl", {"id": 1})
    assert main(["cases", str(broken), str(cases_file), str(cases_file)]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"evalplug cases: error: {broken}: no known kind of cases")
    assert err.count("\n") == 1
    assert out.splitlines()[-1] == "2/2 right in 2 files; 1 not checked"


def test_without_files_the_shipped_cases_are_checked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = [path for path in shipped_files() if path.stem in ("number", "option_letter")]
    # by the module's name: after a pytest in this process the package may hold an older one
    monkeypatch.setattr(
        import_module("pytest_evalplug.report.cases"), "shipped_files", lambda: quick
    )
    assert main(["cases", "-q"]) == 0
    out = capsys.readouterr().out
    assert [f"{path}: " in out for path in quick] == [True, True]
    assert "right in 2 files" in out


@pytest.mark.parametrize(
    ("rule", "got"),
    [
        ('after:{"marker": "Then"}', '"number": "'),
        ('textwrap:shorten:{"width": 5, "placeholder": "+"}', '"number": "+"'),
        ("shouting:shout", '"number": "FIRST 7'),
    ],
)
def test_rules(
    cases_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    rule: str,
    got: str,
) -> None:
    (tmp_path / "shouting.py").write_text("def shout(text): return text.upper()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    assert main(["cases", str(cases_file), "--postprocessor", rule]) == 1
    assert got in capsys.readouterr().out


def test_rules_in_a_row(cases_file: Path) -> None:
    rules = ["--postprocessor", 'after:{"marker": "it is"}', "--postprocessor", "first-number"]
    assert main(["cases", str(cases_file), *rules]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--postprocessor", "after:{marker}"],
            "--postprocessor after:{marker}: options are JSON: ",
        ),
        (["--postprocessor", "{}x"], "unknown postprocessor '{}x'"),
        (["--postprocessor", "nowhere:f"], "not importable: ModuleNotFoundError: No module"),
        (["--postprocessor", "math:nothing"], "not importable: AttributeError"),
        (["--postprocessor", "last-numbr"], "unknown postprocessor 'last-numbr'. Did you mean"),
        (["--kind", "letter"], "unknown kind of cases 'letter'. Did you mean 'option_letter'?"),
    ],
)
def test_usage_errors_are_one_line(
    cases_file: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["cases", str(cases_file), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("evalplug cases: error: ")
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["cases", "--nothing"]])
def test_usage_errors_of_the_parser(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: evalplug" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from pytest_evalplug.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as stop: assert stop.code == 0\n"
        "print(sorted({'asyncio', 'datasets', 'pytest', 'sympy', 'torch'} & {*sys.modules}))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert "cases " in out
    assert out.endswith("\n[]\n")


def test_checking_replies_loads_nothing_heavy(cases_file: Path) -> None:
    code = (
        "import sys; from pytest_evalplug.cli import main\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(sorted({'datasets', 'pytest', 'sympy', 'torch'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", code, "cases", str(cases_file)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert out.endswith("\n[]\n")


def test_a_terminal_of_few_letters(tmp_path: Path) -> None:
    row = {**ROW, "input": "\u516b \ud800", "why": "\u516b"}
    path = write(tmp_path / "x.jsonl", row)
    done = subprocess.run(
        [sys.executable, "-m", "pytest_evalplug.cli", "cases", "--kind=number", str(path)],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode in (0, 1)
    assert done.stderr == b""


def test_a_reader_that_stops(tmp_path: Path) -> None:
    path = write(tmp_path / "many.jsonl", *[{**ROW, "expected": "9"}] * 2000)
    with subprocess.Popen(
        [sys.executable, "-m", "pytest_evalplug.cli", "cases", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141
