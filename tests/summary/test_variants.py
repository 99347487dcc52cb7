from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.scores import Scores
from pytest_evalplug.summary.variants import (
    CircularSummarizer,
    EvalScopeSummarizer,
    MultiFacetedSummarizer,
)

from .conftest import Save

CIRCULAR = {"acc_origin": 50.0, "perf_circular": 20.0, "more_1_circular": 70.0}
LAW, ART = (DatasetRef("mmlu", subset, ("law", "art")) for subset in ("law", "art"))


def test_a_column_for_each_metric_of_circular_evaluation() -> None:
    scores = Scores.of({"m": {"quiz": CIRCULAR, "gsm8k": {"accuracy": 3.0}}, "n": {}})
    table = CircularSummarizer(summary_groups=[{"name": "g", "subsets": ["quiz"]}]).tabulate(scores)
    assert table.csv() == (
        "dataset,version,mode,m,-,n,-\n"
        "-,-,-,acc_origin,perf_circular,acc_origin,perf_circular\n"
        "quiz,-,unknown,50.00,20.00,-,-\n"
        "g,-,unknown,50.00,20.00,-,-\n"
    )
    assert ("gsm8k", "accuracy") in [(row.dataset, row.metric) for row in table.hidden]


def test_circular_rows_asked_for() -> None:
    scores = Scores.of({"m": {"quiz": CIRCULAR, "gsm8k": {"accuracy": 3.0}}})
    summarizer = CircularSummarizer(["gsm8k", "quiz", ""], metric_types=["more_1_circular"])
    assert summarizer.tabulate(scores).csv().splitlines()[1:] == [
        *("-,-,-,more_1_circular", "gsm8k,-,-,-", "quiz,-,unknown,70.00", ",-,-,-")
    ]


def test_a_column_that_a_group_has_no_value_for_says_why() -> None:
    scores = Scores.of({"m": {"quiz": {**CIRCULAR, "perf_circular": 0.0}}})
    group = {"name": "g", "subsets": ["quiz"], "harmonic_mean": True}
    table = CircularSummarizer(["quiz", "g"], [group]).tabulate(scores)
    assert table.csv().splitlines()[-1] == "g,-,unknown,50.00,-"
    why = "a harmonic mean needs values above 0, quiz is 0"
    assert table.notes == (f"g m: no perf_circular, {why}",)


def test_without_circular_metrics_a_note_says_so() -> None:
    for names in (None, ["gsm8k"]):
        table = CircularSummarizer(names).tabulate(Scores.of({"m": {"gsm8k": {"accuracy": 3.0}}}))
        why = "there is no acc_origin, perf_circular: the Evaluator 'circular' has them"
        assert table.notes == (why,)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"metric_types": "acc_origin"}, "metric_types: is a list of metrics"),
        ({"metric_types": []}, "metric_types: is a list of metrics"),
        ({"dataset_abbrs": [["a", "f1"]]}, "dataset_abbrs: has a pair; .*'metric_types'"),
    ],
)
def test_circular_mistakes(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CircularSummarizer(**config)


def test_several_tables_of_one_run(run: RunDirectory, save: Save) -> None:
    a, b = DatasetRef("a"), DatasetRef("b")
    save(a, "m", 60.0)
    save(b, "m", 90.0)
    facets = [
        {"name": "all/of it", "dataset_abbrs": ["g", "", "a", ["b", "f1"]]},
        {"name": "nothing", "dataset_abbrs": ["x"]},
        {"name": "b", "dataset_abbrs": ["b", "g"]},
    ]
    summarizer = MultiFacetedSummarizer(facets, [{"name": "g", "subsets": ["a", "b"]}])
    table = summarizer.on(run, ["m"], [a, b]).summarize(time_str="20260908_141530")
    assert [(row.dataset, row.metric) for row in table.rows] == [
        *(("g", "accuracy"), ("a", "accuracy"), ("b", "accuracy"))
    ]
    titles = [line for line in table.text().splitlines() if "  " not in line]
    assert titles == ["all/of it", "", "b"]
    folder = run.summary / "summary_20260908_141530"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert len(texts) == 2
    assert texts["b.csv"].splitlines()[1:] == [
        *("b,1d7fe4,accuracy,gen,90.00", "g,-,accuracy,gen,75.00")
    ]
    assert (run.summary / "summary_20260908_141530.json").is_file()


@pytest.mark.parametrize(
    ("facets", "message"),
    [
        ("x", "dataset_abbrs_list: is a list of tables"),
        ([{"name": "x"}], r"dataset_abbrs_list\[0\]: is a dict of 'name' and 'dataset_abbrs'"),
        ([{"name": 3, "dataset_abbrs": []}], r"dataset_abbrs_list\[0\]: 3 is no name"),
        ([{"name": "x", "dataset_abbrs": []}] * 2, r"\[1\]: 'x' is no name, or another table"),
        ([{"name": "x", "dataset_abbrs": [3]}], r"dataset_abbrs_list\[0\]\[0\]: 3 is neither"),
    ],
)
def test_mistakes_in_several_tables(facets: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MultiFacetedSummarizer(facets)


def test_the_table_of_evalscope(run: RunDirectory, save: Save) -> None:
    save(LAW, "m", 60.0)
    save(ART, "m", metrics={"accuracy": 90.0, "brier": 0.25}, num_scored=30)
    save(DatasetRef("gsm8k"), "n", 100 / 3)
    groups = [{"name": "society", "subsets": ["mmlu-law"]}]
    summarizer = EvalScopeSummarizer([["mmlu", "naive_average"], "mmlu-law", "mmlu-art",
        ["mmlu-art", "brier"], "gsm8k", ["society", "naive_average"]], groups)  # fmt: skip
    table = summarizer.on(run, ["m", "n"], [LAW, ART, DatasetRef("gsm8k")]).table()
    assert table.csv() == (
        "Model,Dataset,Metric,Subset,Num,Score,Cat.0\n"
        "m,mmlu,naive_average,OVERALL,40,0.7500,-\n"
        "m,mmlu,accuracy,law,10,0.6000,society\n"
        "m,mmlu,accuracy,art,30,0.9000,default\n"
        "m,mmlu,brier,art,30,0.2500,default\n"
        "m,gsm8k,accuracy,default,-,-,default\n"
        "m,society,naive_average,OVERALL,10,0.6000,-\n"
        "n,mmlu,naive_average,OVERALL,-,-,-\n"
        "n,mmlu,accuracy,law,-,-,society\n"
        "n,mmlu,accuracy,art,-,-,default\n"
        "n,mmlu,brier,art,-,-,default\n"
        "n,gsm8k,accuracy,default,10,0.3333,default\n"
        "n,society,naive_average,OVERALL,-,-,-\n"
    )
