from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_evalplug.dataset.loading import DataSource
from pytest_evalplug.errors import DataError

Write = Callable[[str, "str | bytes"], Path]


def row(text: str) -> str:
    return json.dumps({"from": text}) + "\n"


def found(source: DataSource, subset: str | None, split: str, *, shared: bool) -> str | None:
    table = source.local(subset, split, shared=shared)
    return None if table is None else table.records[0]["from"]


@pytest.fixture
def source(tmp_path: Path) -> DataSource:
    return DataSource(benchmark="demo", data_dirs=[tmp_path])


def test_the_order_of_places(source: DataSource, write: Write) -> None:
    expected = None
    for name in ["demo/main.jsonl", "demo/main/test.jsonl", "demo/test.jsonl"]:
        assert found(source, "main", "test", shared=True) == expected
        write(name, row(name))
        expected = name
    assert found(source, "main", "test", shared=True) == expected


def test_one_of_several_subsets_never_takes_the_whole_table(
    source: DataSource, write: Write
) -> None:
    write("demo/test.jsonl", row("whole"))
    assert found(source, "law", "test", shared=False) is None
    write("demo/law.jsonl", row("law"))
    assert found(source, "law", "test", shared=False) == "law"


def test_a_table_of_all_subsets(source: DataSource, write: Write) -> None:
    write("demo/test.csv", "from\nwhole\n")
    assert found(source, None, "test", shared=True) == "whole"


@pytest.mark.parametrize("extension", ["json", "csv", "tsv", "jsonl"])
def test_endings(source: DataSource, write: Write, extension: str) -> None:
    content = row("x") if extension.startswith("json") else "from\nx\n"
    if extension == "json":
        content = f"[{content}]"
    write(f"demo/a.b/test.{extension}", content)
    assert found(source, "a.b", "test", shared=False) == "x"


def test_data_directories_in_order_and_before_the_dataset_id(write: Write, tmp_path: Path) -> None:
    write("two/demo/test.jsonl", row("two"))
    write("own/test.jsonl", row("own"))
    source = DataSource(
        benchmark="demo",
        data_dirs=[tmp_path / "one", tmp_path / "two"],
        dataset_id=str(tmp_path / "own"),
    )
    assert found(source, "default", "test", shared=True) == "two"
    write("one/demo/test.jsonl", row("one"))
    assert found(source, "default", "test", shared=True) == "one"


def test_a_relative_dataset_id_starts_at_the_module(write: Write, tmp_path: Path) -> None:
    write("benchmarks/data/set/test.jsonl", row("folder"))
    write("benchmarks/data/one.csv", "from\nfile\n")
    for dataset_id, expected in [("data/set", "folder"), ("data/one.csv", "file")]:
        source = DataSource(
            benchmark="demo", dataset_id=dataset_id, module_dir=tmp_path / "benchmarks"
        )
        assert source.is_local_id
        assert found(source, "default", "test", shared=True) == expected


def test_or_at_the_current_directory(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("set/test.jsonl", row("cwd"))
    monkeypatch.chdir(tmp_path)
    assert found(DataSource(benchmark="x", dataset_id="set"), "a", "test", shared=True) == "cwd"


def test_a_single_file_is_the_eval_split_only(write: Write) -> None:
    path = write("one.jsonl", row("file"))
    source = DataSource(benchmark="demo", dataset_id=str(path), file_split="validation")
    assert found(source, "default", "validation", shared=True) == "file"
    assert found(source, "default", "train", shared=True) is None


def test_a_single_file_without_a_reader(write: Write) -> None:
    source = DataSource(benchmark="demo", dataset_id=str(write("one.xlsx", "?")))
    with pytest.raises(DataError, match=r"one\.xlsx: no reader for \.xlsx"):
        source.local("default", "test", shared=True)


@pytest.fixture
def quiet_datasets() -> Iterator[None]:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.mark.usefixtures("quiet_datasets")
def test_saved_folders(source: DataSource, tmp_path: Path) -> None:
    from datasets import Dataset, DatasetDict

    split = Dataset.from_list([{"from": "saved", "n": 0}, {"from": "two", "n": None}])
    DatasetDict({"test": split}).save_to_disk(tmp_path / "demo")
    split.save_to_disk(tmp_path / "demo2" / "law" / "test")
    DatasetDict({"test": split}).save_to_disk(tmp_path / "demo2" / "art")
    table = source.local("default", "test", shared=True)
    assert table is not None
    assert table.records == [{"from": "saved", "n": 0}, {"from": "two", "n": None}]
    assert source.local("default", "train", shared=True) is None
    several = DataSource(benchmark="demo2", data_dirs=[tmp_path])
    assert found(several, "law", "test", shared=False) == "saved"
    assert found(several, "art", "test", shared=False) == "saved"


def test_a_broken_saved_folder(source: DataSource, write: Write, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    write("demo/dataset_dict.json", "{")
    with pytest.raises(DataError, match="demo: not readable as a saved dataset"):
        source.local("default", "test", shared=True)


def test_what_is_missing_is_said_in_one_line(source: DataSource, tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        source.remote("law", "test", shared=False)
    assert str(error.value) == (
        f"no data for demo, subset 'law', split 'test': not at {tmp_path}/demo/law/test.jsonl,"
        f" {tmp_path}/demo/law.jsonl; there is no dataset_id. Put a file there, or set --data-dir"
        " (EVALPLUG_DATA_DIR, ini evalplug_data_dir) to the folder that holds it."
    )


@pytest.mark.parametrize(
    ("dataset_id", "message"),
    [
        ("", "no data directory is set; there is no dataset_id"),
        ("./nowhere", "no data directory is set; nor below dataset_id './nowhere'"),
    ],
)
def test_no_place_at_all(dataset_id: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        DataSource(benchmark="demo", dataset_id=dataset_id).remote("a", "test", shared=True)


def test_files_beside_the_data(source: DataSource, write: Write, tmp_path: Path) -> None:
    assert source.find_file("law", "cot.txt", shared=False) is None
    path = write("demo/law/cot.txt", "Q:")
    assert source.find_file("law", "cot.txt", shared=False) == path
    assert source.find_file("art", "cot.txt", shared=False) is None
    common = write("demo/cot.txt", "Q:")
    assert source.find_file("art", "cot.txt", shared=False) is None
    assert source.find_file(None, "cot.txt", shared=True) == common
