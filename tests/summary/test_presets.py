from __future__ import annotations

import json

import pytest

from benchmarks.test_agieval import EXAMS
from benchmarks.test_bbh import TASKS
from benchmarks.test_ceval import SUBJECTS as CEVAL
from benchmarks.test_cmmlu import SUBJECTS as CMMLU
from benchmarks.test_inverse_ifeval import TestInverseIFEval as InverseIFEval
from benchmarks.test_mmlu import SUBJECTS
from pytest_evalplug.summary.presets import preset, preset_names
from pytest_evalplug.summary.scores import Scores
from pytest_evalplug.summary.source import find_summarizer, make_summarizer
from pytest_evalplug.summary.summarizer import Summarizer
from pytest_evalplug.summary.table import Table

DATASETS = {
    "mmlu": [f"mmlu-{subject}" for subject in SUBJECTS],
    "bbh": [f"bbh-{task}" for task in TASKS],
    "agieval": [f"agieval-{exam}" for exam in EXAMS],
    "arc": ["arc_easy", "arc_challenge"],
    "ceval": [f"ceval-{subject}" for subject in CEVAL],
    "cmmlu": [f"cmmlu-{subject}" for subject in CMMLU],
}
ACROSS = {"ceval-hard": 8, "cmmlu-china-specific": 15}
"""Groups whose subsets are in others too."""


def summarizer_of(name: str) -> Summarizer:
    found = find_summarizer(name, [], None)
    assert found is not None
    return found


def table_of(name: str, datasets: list[str]) -> Table:
    values = {dataset: {"accuracy": float(place)} for place, dataset in enumerate(datasets)}
    return summarizer_of(name).tabulate(Scores.of({"m": values}))


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_used(name: str) -> None:
    assert summarizer_of(name).to_wire()["type"].endswith("Summarizer")


@pytest.mark.parametrize("name", DATASETS)
def test_groups_are_made_of_the_benchmarks_subsets(name: str) -> None:
    groups = [group for group in summarizer_of(name).groups if group.name not in ACROSS]
    leaves = [subset for group in groups for subset, _ in group.subsets]
    inner = {group.name for group in groups}
    assert sorted(leaf for leaf in leaves if leaf not in inner) == sorted(DATASETS[name])


@pytest.mark.parametrize("name", ACROSS)
def test_groups_that_lie_across_the_others(name: str) -> None:
    benchmark = name.partition("-")[0]
    (group,) = (g for g in summarizer_of(benchmark).groups if g.name == name)
    subsets = {subset for subset, _ in group.subsets}
    assert len(subsets) == len(group.subsets) == ACROSS[name]
    assert subsets < {*DATASETS[benchmark]}


@pytest.mark.parametrize("name", DATASETS)
def test_all_rows_but_the_benchmarks_own_have_values(name: str) -> None:
    table = table_of(name, DATASETS[name])
    empty = {row.dataset for row in table.rows if not any(row.cells)}
    assert empty <= {name}
    assert len(table.rows) > len(empty)
    assert table.notes == ()


def test_tasks_of_several_sizes_count_once() -> None:
    table = table_of("bbh", DATASETS["bbh"])
    (cell,) = next(row.cells for row in table.rows if row.dataset == "bbh-algorithmic")
    sizes = [[place for place, task in enumerate(TASKS) if task.startswith(start)]
        for start in ("logical_deduction", "tracking_shuffled")]  # fmt: skip
    single = ["boolean_expressions", "dyck_languages", "geometric_shapes", "navigate",
        "multistep_arithmetic_two", "object_counting", "temporal_sequences", "web_of_lies",
        "word_sorting"]  # fmt: skip
    total = sum(TASKS.index(task) for task in single) + sum(sum(s) / 3 for s in sizes)
    assert cell is not None
    assert cell.value == pytest.approx(total / 11)


@pytest.mark.parametrize("prefix", ["inverse_ifeval-", "InverseIFEval_"])
def test_inverse_ifeval_is_the_documented_example(prefix: str) -> None:
    counts = {"QC": 45, "ITF": 43, "CC": 99, "CCF": 41, "DIA": 93, "II": 77, "MIM": 54, "CA": 54}
    subsets = InverseIFEval.__evalplug_meta__.subset_list
    assert subsets == tuple(f"{lang}_{kind}" for lang in ("zh", "en") for kind in counts)
    names = [prefix + subset for subset in subsets]
    config = json.loads(json.dumps(preset("inverse_ifeval")).replace("inverse_ifeval-", prefix))
    values = {dataset: {"accuracy": float(place)} for place, dataset in enumerate(names)}
    table = make_summarizer(config, where="").tabulate(Scores.of({"m": values}))
    weights = [*counts.values()] * 2
    overall = sum(w * place for place, w in enumerate(weights)) / sum(weights)
    chinese = sum(w * place for place, w in enumerate(weights[:8])) / sum(weights[:8])
    head = [
        (row.dataset, row.metric, row.cells[0] and row.cells[0].value) for row in table.rows[:3]
    ]
    assert head == [
        ("InverseIFEval", "weighted_average", pytest.approx(overall)),
        ("InverseIFEval_zh", "weighted_average", pytest.approx(chinese)),
        ("InverseIFEval_macro", "naive_average", 7.5),
    ]
    assert [row.dataset for row in table.rows[3:]] == names
    assert {row.metric for row in table.rows[3:]} == {"accuracy"}
