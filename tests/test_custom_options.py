from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.custom_options import find_all, mode_of, rooted
from pytest_evalplug.dataset.custom import CustomData
from pytest_evalplug.errors import ConfigError

NONE = {"custom": None, "custom_type": None, "custom_infer": None, "mode": "gen"}


def data(name: str = "d", **more: Any) -> CustomData:
    return CustomData(name, Path(f"/data/{name}.csv"), more.pop("kind", "mcq"), **more)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "quiz.csv"
    path.write_text("question,answer\nq,a\n")
    return path


def test_paths_start_from_where_they_are_written() -> None:
    assert rooted("a/../b.csv", Path("/base")) == "/base/b.csv"
    assert rooted("n=b.csv", Path("/base")) == "n=/base/b.csv"
    assert rooted("n=/x/b.csv", Path("/base")) == "n=/x/b.csv"
    assert rooted("~/b.csv", Path("/base")) == str(Path.home() / "b.csv")


def copy(file: Path, name: str) -> Path:
    other = file.parent / name
    other.parent.mkdir(exist_ok=True)
    other.write_bytes(file.read_bytes())
    return other


def test_several_files(file: Path, tmp_path: Path) -> None:
    texts = [str(file), f"other={copy(file, 'x.csv')}"]
    found = find_all({**NONE, "custom": texts, "custom_type": "qa"}, tmp_path)
    assert [(d.name, d.kind) for d in found] == [("quiz", "qa"), ("other", "qa")]


def test_two_of_one_name(file: Path, tmp_path: Path) -> None:
    texts = [str(file), str(copy(file, "more/quiz.csv"))]
    with pytest.raises(ConfigError, match=r"would both be the benchmark 'quiz'. Name one of them"):
        find_all({**NONE, "custom": texts}, tmp_path)


def test_data_that_is_given_twice(file: Path, tmp_path: Path) -> None:
    inner = copy(file, "more/quiz.csv")
    for texts in ([file, f"b={file}"], [inner, inner.parent], [inner.parent, f"b={inner}"]):
        with pytest.raises(ConfigError, match="hold the same data"):
            find_all({**NONE, "custom": [*map(str, texts)]}, tmp_path)


def test_the_project_is_no_data(file: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path.parent):
        with pytest.raises(ConfigError, match="holds the whole project"):
            find_all({**NONE, "custom": [str(folder)]}, tmp_path)


@pytest.mark.parametrize("option", ["type", "infer"])
def test_options_without_data(option: str) -> None:
    with pytest.raises(ConfigError, match=f"--eval-custom-{option}: there is no data"):
        find_all({**NONE, f"custom_{option}": "qa" if option == "type" else "gen"}, Path("/"))


@pytest.mark.parametrize(
    ("infer", "mode", "in_files", "expected"),
    [
        (None, None, [None], "gen"),
        ("ppl", None, [None], "ppl"),
        ("ppl", "ppl", [None], "ppl"),
        (None, "ll", ["ppl"], "ll"),
        ("gen", None, ["ppl", None], "gen"),
        (None, None, [None, "ppl"], "ppl"),
        (None, "gen", ["ppl", "gen"], "gen"),
    ],
)
def test_a_run_has_one_mode(
    infer: str | None, mode: str | None, in_files: list[Any], expected: str
) -> None:
    value = {**NONE, "custom_infer": infer, "mode": mode or "gen"}
    custom = [data(str(n), infer=asked) for n, asked in enumerate(in_files)]
    assert mode_of(value, custom, given=mode is not None) == expected


def test_two_modes_are_refused() -> None:
    with pytest.raises(ConfigError, match="--eval-custom-infer=ppl with --eval-mode=gen"):
        mode_of({**NONE, "custom_infer": "ppl"}, [data()], given=True)
    with pytest.raises(ConfigError, match=r"gen in /data/a.csv and ppl in /data/b.csv"):
        mode_of(NONE, [data("a", infer="gen"), data("b", infer="ppl")], given=False)


@pytest.mark.parametrize("mode", ["ppl", "ll"])
def test_free_answers_are_not_compared(mode: str) -> None:
    with pytest.raises(ConfigError, match=r"free answers \(qa\), nothing to compare"):
        mode_of({**NONE, "mode": mode}, [data(kind="qa")], given=True)
