from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.dataset.dataset_dict import DatasetDict
from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.types import Sample, Score

from .conftest import QA, Make


def rows(number: int, **more: Any) -> list[dict[str, Any]]:
    return [{"q": f"q{n}", "a": f"a{n}", **more} for n in range(number)]


def indices(samples: list[Sample]) -> list[str]:
    return [s.index for s in samples]


def test_subset_selection(make: Make) -> None:
    subset_list = ["law", "art", "math"]
    for wanted, expected in [
        ((), subset_list),
        (("math", "law"), ["law", "math"]),
        (("demo/art", "other/law"), ["art"]),
        (("nothing",), []),
    ]:
        adapter = make(subset_list=subset_list, options={"subsets": wanted})
        assert adapter.subsets() == expected


def test_samples_are_numbered_and_named(make: Make) -> None:
    adapter = make({"test.jsonl": [*rows(2), {"q": "x", "a": "y", "id": "own"}]})
    samples = adapter.samples("default")
    assert [(s.index, s.id) for s in samples] == [("0", "0"), ("1", "1"), ("2", "own")]
    assert samples is adapter.samples("default")
    assert adapter.row_count("default") == 3
    assert adapter.load_dataset() == {"default": samples}


class Odd(QA):
    def sample_filter(self, sample: Sample) -> bool:
        return int(sample.index) % 2 == 1


def test_filter_then_limit_and_the_index_stays_the_row(make: Make) -> None:
    adapter = make({"test.jsonl": rows(10)}, Odd, options={"limit": 3})
    assert indices(adapter.samples("default")) == ["1", "3", "5"]
    assert adapter.row_count("default") == 10
    adapter = make({"test.jsonl": rows(10)}, Odd, options={"limit": 0.5})
    assert indices(adapter.samples("default")) == ["1", "3", "5"]


def test_shuffling_depends_on_nothing_but_the_seed(make: Make) -> None:
    files = {"test.jsonl": rows(20)}
    order = indices(make(files, shuffle=True).samples("default"))
    assert sorted(order, key=int) == [str(n) for n in range(20)]
    assert order != sorted(order, key=int)
    limited = indices(make(files, shuffle=True, options={"limit": 5}).samples("default"))
    assert limited == order[:5]
    filtered = indices(make(files, Odd, shuffle=True).samples("default"))
    assert filtered == [index for index in order if int(index) % 2]
    assert order != indices(make(files, shuffle=True, seed=1).samples("default"))


def test_ids_are_the_same_under_any_limit(make: Make) -> None:
    table = [{"q": f"q{n}", "a": "a", "id": name} for n, name in enumerate(["x", "x", "1", "x"])]
    whole = [s.id for s in make({"test.jsonl": table}).samples("default")]
    assert whole == ["x", "x-1", "1", "x-3"]
    shuffled = make({"test.jsonl": table}, shuffle=True, options={"limit": 2}).samples("default")
    assert [s.id for s in shuffled] == [whole[int(s.index)] for s in shuffled]


def test_rows_with_several_samples(make: Make) -> None:
    class Twice(QA):
        def record_to_sample(self, record: dict[str, Any]) -> list[Sample]:
            return [Sample(record["q"], record["a"]), Sample(record["q"] + "!", record["a"])]

    adapter = make({"test.jsonl": rows(2)}, Twice)
    assert indices(adapter.samples("default")) == ["0", "0.1", "1", "1.1"]
    assert adapter.row_count("default") == 2


def test_records_stand_at_their_index(make: Make) -> None:
    adapter = make({"test.jsonl": rows(6)}, Odd)
    records = adapter.records("default")
    for sample in adapter.samples("default"):
        assert records[int(sample.index)]["q"] == sample.input


@pytest.mark.parametrize("gold", [0, "", False, "0", 0.0])
def test_falsy_gold_arrives(make: Make, gold: Any) -> None:
    adapter = make({"test.jsonl": [{"q": "x", "a": gold}, {"q": "y", "a": "something"}]})
    target = adapter.samples("default")[0].target
    assert (target, type(target)) == (gold, type(gold))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([{"q": "x", "a": ""}, {"q": "y", "a": ""}], "hidden labels: every reference is empty"),
        ([{"q": "x", "a": -1}], "hidden labels: every reference is -1"),
        ([{"q": "x", "a": "1"}, {"q": "y"}], r"test\.jsonl:2: the reference is missing"),
        ([{"q": "x", "a": "B", "label": -1}], "the column 'label' is -1 in every row"),
    ],
)
def test_hidden_labels(make: Make, table: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make({"test.jsonl": table}).samples("default")
    assert len(make(reference_free=True).samples("default")) == len(table)


def test_hidden_labels_are_found_in_the_whole_split(make: Make) -> None:
    table = [{"q": "x", "a": ""}, {"q": "y", "a": "known"}]
    (sample,) = make({"test.jsonl": table}, options={"limit": 1}).samples("default")
    assert sample.target == ""


def test_an_author_who_matches_needs_no_reference(make: Make) -> None:
    class Own(QA):
        def match_score(self, *args: Any) -> Score:
            return Score({"accuracy": 1.0})

    assert make({"test.jsonl": [{"q": "x", "a": ""}]}, Own).samples("default")


def test_a_missing_column(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        make({"test.jsonl": [{"question": "x", "a": "y"}]}).samples("default")
    assert str(error.value).startswith(f"{tmp_path}/demo/test.jsonl:1: no column 'q'. ")


def test_an_empty_split(make: Make, tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        make({"test.jsonl": []}).samples("default")
    assert str(error.value) == (
        f"{tmp_path}/demo/test.jsonl: subset 'default', split 'test' has no samples"
    )


def test_a_filter_that_keeps_nothing(make: Make) -> None:
    with pytest.raises(DataError, match="sample_filter keeps none of the 1 samples of 'default'"):
        make({"test.jsonl": rows(1)}, Odd).samples("default")


def test_a_missing_subset_leaves_the_others(make: Make) -> None:
    adapter = make({"law/test.jsonl": rows(2)}, subset_list=["law", "art"])
    assert len(adapter.samples("law")) == 2
    for _ in range(2):
        with pytest.raises(DataError, match="no data for demo, subset 'art'"):
            adapter.samples("art")


def test_one_table_split_by_key(make: Make) -> None:
    table = [{"q": f"q{n}", "a": "a", "key": key} for n, key in enumerate(["b", "a", "b", "c"])]

    class Split(QA):
        def __init__(self, **kwargs: Any) -> None:
            super().__init__(**kwargs)
            self.reformat_subset = True

    adapter = make({"test.jsonl": table}, Split, subset_list=["a", "b", "x"])
    assert indices(adapter.samples("b")) == ["0", "2"]
    assert indices(adapter.samples("a")) == ["1"]
    assert adapter.row_count("b") == 4
    assert adapter.records("b")[2]["q"] == "q2"
    with pytest.raises(DataError, match=r"belongs to subset 'x'\. Its subsets are: b, a, c"):
        adapter.samples("x")
    limited = make(cls=Split, subset_list=["a", "b"], options={"limit": 1})
    assert {k: indices(v) for k, v in limited.load_dataset().items()} == {"a": ["1"], "b": ["0"]}


def test_load_and_its_parts_may_be_overridden(make: Make) -> None:
    class FromDisk(QA):
        def load_from_disk(self, subset: str | None, split: str) -> list[dict[str, Any]]:
            return [{"q": f"{subset}/{split}", "a": "y"}]

    class FromSubset(QA):
        def load_subset(self, subset: str) -> list[Sample]:
            return [Sample(f"{subset}!", "y"), Sample("two", "y")]

    class FromLoad(QA):
        calls = 0

        def load(self) -> DatasetDict:
            self.calls += 1
            return DatasetDict({"b": [Sample("whole", "y")]})

    assert make(cls=FromDisk, subset_list=["a", "b"]).samples("b")[0].input == "b/test"
    adapter = make(cls=FromSubset)
    assert [(s.input, s.index) for s in adapter.samples("default")] == [
        ("default!", "0"),
        ("two", "1"),
    ]
    assert adapter.row_count("default") == 2
    loaded = make(cls=FromLoad, subset_list=["a", "b"])
    assert loaded.samples("b")[0].input == "whole"
    with pytest.raises(DataError, match=r"^test_demo\.py: subset 'a', split 'test' has no samples"):
        loaded.samples("a")
    assert loaded.calls == 1


def test_shuffled_choices_need_letters(make: Make) -> None:
    with pytest.raises(ConfigError, match="Subclass MultiChoiceAdapter"):
        make({"test.jsonl": rows(1)}, shuffle_choices=True).samples("default")


def test_a_file_beside_the_data(make: Make, write: Callable[[str, str | bytes], Path]) -> None:
    adapter = make(subset_list=["law", "art"])
    path = write("demo/law/header.txt", "Q:")
    assert adapter.find_file("law", "header.txt") == path
    with pytest.raises(DataError, match=r"no file 'header\.txt' beside the data of demo, subset"):
        adapter.find_file("art", "header.txt")


def test_two_benchmarks_share_data(make: Make) -> None:
    make({"test.jsonl": rows(1)})
    assert make(name="demo_0shot", data_name="demo").samples("default")


def test_data_beside_the_module(make: Make) -> None:
    adapter = make(dataset_id="no-such-folder", options={"data_dirs": ()})
    assert adapter._source.module_dir == Path(__file__).parent
