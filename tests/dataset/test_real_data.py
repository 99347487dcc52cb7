"""Every row of the real data goes through the adapters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.dataset import hub
from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.ids import item_ids
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import Sample

# fmt: off
SUBJECTS = [
    "abstract_algebra", "anatomy", "astronomy", "college_computer_science", "college_mathematics",
    "formal_logic", "high_school_world_history", "moral_disputes", "professional_law",
    "us_foreign_policy", "virology", "world_religions",
]
# fmt: on
QUESTION = (
    "question",
    "query",
    "input",
    "prompt",
    "problem",
    "text",
    "context",
    "continuation",
    "q",
)


class AnyRow(DefaultDataAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        text = next(record[name] for name in QUESTION if record.get(name))
        return Sample(text, json.dumps(record))


class MMLU(MultiChoiceAdapter):
    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        choices = [record[f"choice{n}"] for n in range(4)]
        return Sample(record["question"], "ABCD"[record["answer"]], choices=choices)


def benchmarks(data_dir: Path) -> list[tuple[str, list[str], str]]:
    """Return (name, subsets, split) of everything there."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(data_dir.rglob("*.jsonl")):
        name, *subset = path.relative_to(data_dir).parts[:-1]
        if name != "replies":
            found.setdefault((name, path.stem), []).extend(subset or ["default"])
    return [(name, subsets, split) for (name, split), subsets in found.items()]


def test_all_rows(data_dir: Path) -> None:
    total = 0
    for name, subsets, split in benchmarks(data_dir):
        meta = BenchmarkMeta(
            name=name,
            subset_list=subsets,
            eval_split=split,
            prompt_template="Q: {question} {x} %s\nA:",
        )
        adapter = AnyRow(benchmark_meta=meta, options=AdapterOptions(data_dirs=(data_dir,)))
        names: set[str] = set()
        for subset in subsets:
            samples = adapter.samples(subset)
            for sample in samples:
                prompt = adapter.build_prompt(sample, subset)
                assert prompt == f"Q: {sample.input} {{x}} %s\nA:"
            names.update(item_ids(samples, subset))
            assert samples[-1].index == str(adapter.row_count(subset) - 1)
            total += len(samples)
        assert len(names) == sum(len(adapter.samples(s)) for s in subsets), name
    assert total > 30_000


def test_what_is_missing_of_mmlu_leaves_the_rest(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_why_offline", lambda *_: "HF_HUB_OFFLINE is set")
    meta = BenchmarkMeta(
        name="mmlu",
        dataset_id="evalplug/never-cached",
        subset_list=SUBJECTS,
        few_shot_num=5,
        train_split="dev",
        shuffle_choices=True,
    )
    adapter = MMLU(benchmark_meta=meta, options=AdapterOptions(data_dirs=(data_dir,)))
    sizes, errors = {}, {}
    for subject in SUBJECTS:
        try:
            sizes[subject] = len(adapter.samples(subject))
        except DataError as error:
            errors[subject] = str(error)
    assert sum(sizes.values()) == 1596
    assert list(errors) == ["virology", "world_religions"]
    for subject, message in errors.items():
        assert f"not at {data_dir}/mmlu/{subject}/test.jsonl, " in message
        assert "hub id evalplug/never-cached: HF_HUB_OFFLINE is set" in message
        assert "--data-dir" in message
        assert "\n" not in message


def test_the_five_shots_of_mmlu_are_dev_in_order(data_dir: Path) -> None:
    meta = BenchmarkMeta(name="mmlu", subset_list=SUBJECTS, few_shot_num=5, train_split="dev")
    adapter = MMLU(benchmark_meta=meta, options=AdapterOptions(data_dirs=(data_dir,)))
    path = data_dir / "mmlu" / "anatomy" / "dev.jsonl"
    dev = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    prompt = adapter.build_prompt(adapter.samples("anatomy")[0], "anatomy")
    assert isinstance(prompt, str)
    places = [prompt.index(row["question"]) for row in dev]
    assert places == sorted(places)
    letters = [block[0] for block in prompt.split("ANSWER: ")[1:6]]
    assert letters == ["ABCD"[row["answer"]] for row in dev]


def test_labels_of_mixed_types_are_kept(data_dir: Path) -> None:
    meta = BenchmarkMeta(name="agieval", subset_list=["gaokao-physics", "sat-math"])
    adapter = AnyRow(benchmark_meta=meta, options=AdapterOptions(data_dirs=(data_dir,)))
    labels = [type(record["label"]) for record in adapter.records("gaokao-physics")]
    assert (labels.count(str), labels.count(list)) == (165, 35)
