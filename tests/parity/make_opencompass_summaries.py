"""Computes opencompass_summaries.json with OpenCompass's own DefaultSummarizer.

    pip install opencompass==0.5.4
    python tests/parity/make_opencompass_summaries.py tests/parity/opencompass_summaries.json

Random results and configurations, the same ones each time, and the table that it makes of each;
and apart from them DIFFERENT, where we differ on purpose. Left out is where its tables differ from
run to run: several metrics that subsets without metrics share have no order.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

COUNT = 100
SEED = 20261130
METRICS = ["accuracy", "score", "f1", "exact_match", "rouge1", "bleu", "zeta", "pass@1", "bp"]
MODES = {"gen": "GenInferencer", "ppl": "PPLInferencer", "ll": "LLInferencer"}
TRANSFORMS = ["x * 100", "(x - 1) / 4 * 100", "min(x, 50)", "max((3 - x) / 3, 0) * 100", "-x + 7"]

Config = dict[str, Any]


def _small(groups: list[Config], abbrs: Any = None, **metrics: Config) -> Config:
    return dict(
        models=["m"],
        datasets=dict.fromkeys(metrics, "gen"),
        results=dict(m=metrics),
        summary_groups=groups,
        dataset_abbrs=abbrs,
    )


A, B = dict(accuracy=40.0), dict(accuracy=80.0)
DIFFERENT = dict(
    harmonic_mean_of_zero=_small(
        [dict(name="g", subsets=["a", "b"], harmonic_mean=True)],
        [["g", "harmonic_mean"]],
        a=dict(accuracy=0.0),
        b=B,
    ),
    metric_beside_a_method=_small(
        [dict(name="g", subsets=[["a", "accuracy"], ["b", "accuracy"]], metric="m", std=True)],
        [["g", "m"]],
        a=A,
        b=B,
    ),
    weights_without_a_subset=_small(
        [dict(name="g", subsets=["a", "b"], weights=dict(a=1))],
        [["g", "weighted_average"]],
        a=A,
        b=B,
    ),
    weights_of_two_metrics=_small(
        [dict(name="g", subsets=[["a", "em"], ["a", "f1"]], weights=dict(a=1))],
        [["g", "weighted_average"]],
        a=dict(em=10.0, f1=90.0),
    ),
    group_before_its_parts=_small(
        [
            dict(name="outer", subsets=[["inner", "naive_average"], ["a", "accuracy"]]),
            dict(name="inner", subsets=[["b", "accuracy"]]),
        ],
        [["outer", "naive_average"]],
        a=A,
        b=B,
    ),
    missing_subset=_small([dict(name="g", subsets=["a", "c"])], None, a=A),
    extraction_rate=_small(
        [dict(name="g", subsets=["a"])], ["a", ["g", "naive_average"]],
        a=dict(bleu=20.0, extract_rate=99.0),
    ),
)  # fmt: skip


def make(rng: random.Random) -> Config:
    """Return results and a configuration: what a run of several datasets and models may hold."""
    models = [f"model_{number}" for number in range(rng.randint(1, 3))]
    datasets: Config = {
        f"d{number}": dict(
            mode=rng.choice(list(MODES)), metrics=rng.sample(METRICS, rng.randint(1, 3))
        )
        for number in range(rng.randint(2, 7))
    }
    results = {
        model: {
            name: {metric: round(rng.uniform(0.01, 100), 4) for metric in about["metrics"]}
            for name, about in datasets.items()
            if rng.random() > 0.12
        }
        for model in models
    }
    groups: list[Config] = []
    values = {
        name: [metric for metric in about["metrics"] if metric != "bp"]
        for name, about in datasets.items()
    }
    values = {name: metrics for name, metrics in values.items() if metrics}
    if values:
        for number in range(rng.randint(1, 4)):
            group = make_group(rng, f"g{number}", values)
            groups.append(group)
            if all(isinstance(subset, list) for subset in group["subsets"]):
                values[group["name"]] = [default_metric(group)]
    return dict(
        models=models,
        datasets={name: about["mode"] for name, about in datasets.items()},
        results=results,
        summary_groups=groups,
        dataset_abbrs=make_abbrs(rng, list(datasets), groups) if rng.random() < 0.6 else None,
    )


def make_group(rng: random.Random, name: str, values: dict[str, list[str]]) -> Config:
    """Return a group over datasets and groups that are there already."""
    method = rng.choice(["mean", "weights", "weights", "std", "sum", "harmonic_mean"])
    possible = [n for n in values if method != "harmonic_mean" or n.startswith("d")]
    names = rng.sample(possible, rng.randint(1, min(4, len(possible))))
    if rng.random() < 0.1:
        names.append("absent")
    pairs = [[n, rng.choice(values.get(n, ["accuracy"]))] for n in names]
    group: Config = dict(name=name, subsets=pairs)
    shared = set.intersection(*(set(values.get(n, ())) for n in names))
    if len(shared) < 2 and rng.random() < 0.5:
        group["subsets"] = names
    if method == "weights":
        by_metric = group["subsets"] is pairs and rng.random() < 0.5
        labels = [f"{n}@{m}" for n, m in pairs] if by_metric else names
        group["weights"] = {label: rng.choice([1, 2, 0.5, 100, 37]) for label in labels}
    elif method != "mean":
        group[method] = True
    if rng.random() < 0.3 and method != "harmonic_mean":
        group["transforms"] = {rng.choice(names): rng.choice(TRANSFORMS)}
    if method in ("mean", "weights") and rng.random() < 0.5:
        group["metric"] = rng.choice(["overall", "total_metric"])
    return group


def default_metric(group: Config) -> str:
    """Return what a group's value is called."""
    names = dict(
        std="standard_deviation",
        sum="sum",
        weights="weighted_average",
        harmonic_mean="harmonic_mean",
    )
    method = next((name for key, name in names.items() if key in group), "naive_average")
    return str(group.get("metric", method))


def make_abbrs(rng: random.Random, datasets: list[str], groups: list[Config]) -> list[Any]:
    """Return rows of every kind: pairs, names, separators, names and metrics that aren't there."""
    rows: list[Any] = ["", "All Results", ["absent", "accuracy"], "absent"]
    rows += datasets + [[name, rng.choice(METRICS)] for name in datasets]
    rows += [[group["name"], default_metric(group)] for group in groups]
    rows += [group["name"] for group in groups]
    return rng.sample(rows, rng.randint(3, len(rows)))


CIRCULAR: Config = dict(
    _small(
        [dict(name="g", subsets=["a", "b"])],
        ["a", "g", "absent", "c"],
        a=dict(acc_origin=50.0, perf_circular=20.0),
        b=dict(perf_circular=30.0, acc_origin=60.0),
        c=dict(perf_circular=30.0),
    ),
    metric_types=["perf_circular", "acc_origin"],
)
FACETS: list[Config] = [
    dict(name="one", dataset_abbrs=["", ["a", "accuracy"], "absent", ["b", "f1"]]),
    dict(name="none", dataset_abbrs=["absent", ""]),
    dict(name="two", dataset_abbrs=["g", "b"]),
]


def table_of(config: Config, kind: str = "DefaultSummarizer") -> list[list[str]]:
    """Return OpenCompass's table, header first."""
    config_dict = importlib.import_module("mmengine").ConfigDict
    summarizers = importlib.import_module("opencompass.summarizers")
    with tempfile.TemporaryDirectory() as folder:
        for model, results in config["results"].items():
            for name, metrics in results.items():
                path = Path(folder, "results", model, f"{name}.json")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(metrics))
        cfg = config_dict(
            models=[dict(abbr=model) for model in config["models"]],
            datasets=[
                dict(
                    abbr=name,
                    reader_cfg={},
                    infer_cfg=dict(retriever={}, inferencer=dict(type=MODES[mode])),
                )
                for name, mode in config["datasets"].items()
            ],
            work_dir=folder,
        )
        options = {
            key: config[key]
            for key in ("dataset_abbrs", "summary_groups", "metric_types")
            if key in config
        }
        summarizer = getattr(summarizers, kind)(cfg, **options)
        picked = summarizer._pick_up_results()
        _, *scores = summarizer._calculate_group_metrics(*picked)
        if kind == "CircularSummarizer":
            table: list[list[str]] = summarizer._format_table(*scores)
        else:
            table = summarizer._format_table(
                *scores,
                required_dataset_abbrs=config["dataset_abbrs"],
                skip_all_slash=config.get("skip_all_slash", False),
            )
    return table


def main(path: str) -> None:
    """Write the cases."""
    rng = random.Random(SEED)
    random_cases = [make(rng) for _ in range(COUNT)]
    lines = ",\n".join(json.dumps({**case, "table": table_of(case)}) for case in random_cases)
    different = {name: {**case, "table": table_of(case)} for name, case in DIFFERENT.items()}
    circular = {**CIRCULAR, "table": table_of(CIRCULAR, "CircularSummarizer")}
    faceted = _small([dict(name="g", subsets=["a", "b"])], a=A, b=B)
    facets = [
        {**facet, "table": table_of({**faceted, **facet, "skip_all_slash": True})}
        for facet in FACETS
    ]
    others = dict(different=different, circular=circular, facets={**faceted, "tables": facets})
    text = f'{json.dumps(others)[:-1]},\n"cases": [\n{lines}\n]}}\n'
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
