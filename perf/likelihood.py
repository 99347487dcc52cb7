"""Likelihoods of multiple-choice questions: ours beside lm-evaluation-harness, one model folder.

    python -m perf.likelihood [part of a task's name] [--questions N] [--batch N] [--rounds N]

Tasks: BBH subsets with their 3-shot headers, AGIEval with choices scored as text, and as letters.
``EVALPLUG_DATA_DIR`` holds the data. Each round asks ours, with nothing kept from the last, then
the peer. Prints questions/s of each (the median of the rounds), the ratio, and the largest
difference between two log-likelihoods.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.test_agieval import TestAGIEval
from benchmarks.test_bbh import TestBBH
from perf.lm_eval import LmEval, model_folder
from perf.measure import data_dir, show
from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.model.base import LoglikelihoodQuery
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions


def queries(
    adapter: type[DefaultDataAdapter], subset: str, count: int, **meta: Any
) -> list[LoglikelihoodQuery]:
    """Return the first questions of a subset as contexts with their continuations."""
    sheet = adapter.__evalplug_meta__.override(meta)
    options = AdapterOptions(data_dirs=(data_dir(),), eval_mode="ll", limit=count)
    made = adapter(benchmark_meta=sheet, options=options)
    return [made.build_query(sample, subset) for sample in made.samples(subset) if sample.choices]


def tasks(count: int) -> Iterator[tuple[str, list[LoglikelihoodQuery]]]:
    """Yield name and questions of each task."""
    for subset in ("navigate", "date_understanding", "logical_deduction_three_objects"):
        yield f"bbh {subset}", queries(TestBBH, subset, count)
    texts = {"choice_template": " {choice}"}
    yield "agieval sat-math, texts", queries(TestAGIEval, "sat-math", count, **texts)
    yield "agieval sat-math, letters", queries(TestAGIEval, "sat-math", count)


def ask(
    folder: Path, batch: int, questions: Sequence[LoglikelihoodQuery]
) -> tuple[float, list[float]]:
    """Return seconds and log-likelihoods of a new backend of ours, asked as the engine asks."""
    options = HFOptions(model=str(folder), dtype="float32", device="cpu", batch_size=batch)
    backend = HFBackend("ours", options, fingerprint="")
    assert backend._tree is not None  # tried before the clock runs
    start = time.perf_counter()
    scores: list[Any] = []
    for first in range(0, len(questions), batch):
        scores += backend.loglikelihood(questions[first : first + batch])
    seconds = time.perf_counter() - start
    backend.close()
    return seconds, [choice.logprob for question in scores for choice in question]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--questions", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = model_folder()
    peer = LmEval("loglikelihood", folder, options.batch)
    rows = []
    for name, questions in tasks(options.questions):
        if options.part not in name:
            continue
        requests = [[str(q.context), text] for q in questions for text in q.continuations]
        taken = []
        for _ in range(options.rounds):
            own, scores = ask(folder, options.batch, questions)
            found, theirs = peer.ask(requests)
            taken.append((own, found))
        apart = max(abs(a - b) for a, (b, _) in zip(scores, theirs, strict=True))
        rate, peers = (len(questions) / median(seconds) for seconds in zip(*taken, strict=True))
        cells = [f"{rate:.2f}", f"{peers:.2f}", f"{rate / peers:.1f}", f"{apart:.1e}"]
        rows.append([name, len(questions), *cells])
    peer.close()
    show(
        f"Likelihoods, batch {options.batch}, median of {options.rounds}",
        ["task", "questions", "ours, /s", "lm-eval, /s", "ratio", "largest difference"],
        rows,
    )


if __name__ == "__main__":
    main()
