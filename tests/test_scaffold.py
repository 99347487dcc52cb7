from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.dataset.catalogue import find, find_all
from pytest_evalplug.errors import ConfigError
from pytest_evalplug.scaffold import copied_files, new_files, write_files


def test_every_shipped_benchmark_can_be_copied(tmp_path: Path) -> None:
    for entry in find_all():
        folder = tmp_path / entry.name
        write_files(copied_files("mine", entry), folder)
        copies = find_all([folder])
        originals = find_all([entry.path])
        assert [copy.cls.__name__ for copy in copies] == [e.cls.__name__ for e in originals]
        names = {e.name: copy.name for e, copy in zip(originals, copies, strict=True)}
        assert names.pop(entry.name) == "mine"
        assert all(name.startswith("mine_") for name in names.values())
        assert len(set(names.values())) == len(names)
        for original, copy in zip(originals, copies, strict=True):
            data = original.meta.data_name or original.name
            assert copy.meta.override({"data_name": data}) == copy.meta
            assert copy.meta.description == original.meta.description


def test_only_names_change() -> None:
    gsm8k = find("gsm8k")
    copied = copied_files("mine", gsm8k)["test_mine.py"]
    changed = copied.replace('"mine",\n    data_name="gsm8k"', '"gsm8k"')
    assert changed.replace('"mine_0shot"', '"gsm8k_0shot"') == gsm8k.path.read_text("utf-8")


@pytest.mark.parametrize(
    ("name", "module", "cls"),
    [
        ("capitals", "test_capitals", "TestCapitals"),
        ("gsm8k_0shot", "test_gsm8k_0shot", "TestGsm8k0shot"),
        ("My-own.set", "test_My_own_set", "TestMyOwnSet"),
        ("3d", "test_3d", "Test3d"),
    ],
)
def test_names(name: str, module: str, cls: str) -> None:
    files = new_files(name, "qa")
    assert list(files) == [f"{module}.py", f"{module}_rules.py", f"data/{name}/test.jsonl"]
    assert f"class {cls}(DefaultDataAdapter):" in files[f"{module}.py"]
    assert f"from {module} import {cls}\n" in files[f"{module}_rules.py"]


def test_nothing_is_written_if_one_is_there(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    with pytest.raises(ConfigError, match="b: is there already"):
        write_files({"a": "x", "b": "y"}, tmp_path)
    assert not (tmp_path / "a").exists()


def test_what_was_written_before_a_failure_is_removed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"can't be written"):
        write_files({"a": "x", "b" * 300: "y"}, tmp_path)
    with pytest.raises(ConfigError, match=r"/a/b: can't be written: .* Choose another folder"):
        write_files({"a": "x", "a/b": "y"}, tmp_path)
    assert not list(tmp_path.iterdir())
