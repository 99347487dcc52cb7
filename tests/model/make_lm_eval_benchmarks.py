"""Write ``lm_eval_benchmarks.json``: what lm-evaluation-harness finds with the bundled model.

    python -m venv lmeval
    lmeval/bin/pip install torch transformers==5.24.0 lm-eval==0.4.13 accelerate
    HF_HUB_OFFLINE=1 lmeval/bin/python -m tests.model.make_lm_eval_benchmarks MODEL_FOLDER DATA_DIR

MODEL_FOLDER is what the fixture ``smollm2_folder`` makes. A row each: its number in the data, the
log-likelihoods of its choices in the order of the data, and the harness's score. The rows are
those with the fewest choices, as the harness reads the whole prompt for each. It has no likelihood
task for BBH, so there its model gets our contexts, with one shot.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchmarks.test_bbh import TestBBH as BigBenchHard
from pytest_evalplug.dataset.adapter import AdapterOptions
from tests.benchmarks.make_lm_eval_choices import real_rows, task_of

TARGET = Path(__file__).with_name("lm_eval_benchmarks.json")
CHOICES = {
    "arc_easy": ("choices", "text", 32),
    "truthfulqa_mc1": ("mc1_targets", "choices", 24),
    "truthfulqa_mc2": ("mc2_targets", "choices", 24),
}
"""Where the choices are, and the number of rows."""
BBH_SUBSET, BBH_NUMBER = "navigate", 24


def main(model: str, data_dir: str) -> None:
    from lm_eval.models.huggingface import HFLM

    lm = HFLM(pretrained=model, dtype="float32", device="cpu", batch_size=8)
    found: dict[str, list[Any]] = {}
    for name, splits, shots in real_rows(Path(data_dir)):
        if name in CHOICES:
            found[name] = _scored(lm, name, splits, shots)
            _write(found)
    found[f"bbh-{BBH_SUBSET}"] = _bbh(lm, Path(data_dir))
    _write(found)


def _write(found: dict[str, list[Any]]) -> None:
    packages = {name: version(name) for name in ("lm-eval", "transformers", "torch")}
    lines = ",\n".join(
        "".join([json.dumps(name), ": [\n", ",\n".join(map(json.dumps, rows)), "\n]"])
        for name, rows in found.items()
    )
    TARGET.write_text(f'{{"packages": {json.dumps(packages)},\n{lines}}}\n', encoding="utf-8")


def _scored(lm: Any, name: str, splits: dict[str, list[dict[str, Any]]], shots: int) -> list[Any]:
    """Score the rows with the fewest choices by the metric ``acc``."""
    ((split, rows),) = splits.items()
    column, texts, number = CHOICES[name]
    by_choices = sorted(range(len(rows)), key=lambda n: len(rows[n][column][texts]))
    kept = sorted(by_choices[:number])
    task = task_of(name, {split: [rows[n] for n in kept]}, shots)
    answers: dict[int, list[Any]] = {}
    docs: dict[int, Any] = {}
    results = lm.loglikelihood(task.instances, disable_tqdm=True)
    for instance, result in zip(task.instances, results, strict=True):
        answers.setdefault(instance.doc_id, []).append(result)
        docs[instance.doc_id] = instance.doc
    return [
        [kept[place], _rounded(own), float(task.process_results(docs[place], own)["acc"])]
        for place, own in sorted(answers.items())
    ]


def _bbh(lm: Any, data_dir: Path) -> list[Any]:
    adapter = BigBenchHard(options=AdapterOptions(data_dirs=(data_dir,), eval_mode="ll"))
    rows = []
    for number, sample in enumerate(adapter.samples(BBH_SUBSET)[:BBH_NUMBER]):
        query = adapter.build_query(sample, BBH_SUBSET, 1)
        asked = [SimpleNamespace(args=(query.context, text)) for text in query.continuations]
        own = lm.loglikelihood(asked, disable_tqdm=True)
        logprobs = [logprob for logprob, _ in own]
        best = query.continuations[logprobs.index(max(logprobs))]
        rows.append([number, _rounded(own), float(best == f" {sample.target}")])
    return rows


def _rounded(answers: list[Any]) -> list[float]:
    return [round(logprob, 5) for logprob, _ in answers]


if __name__ == "__main__":
    main(*sys.argv[1:])
