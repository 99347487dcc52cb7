"""Write ``lm_eval_language_modelling.json``: LAMBADA and WikiText by lm-evaluation-harness.

    python -m venv lmeval
    lmeval/bin/pip install torch transformers==5.24.0 lm-eval==0.4.13 accelerate
    lmeval/bin/python -m tests.benchmarks.make_lm_eval_language_modelling MODEL_FOLDER DATA_DIR

MODEL_FOLDER is what the fixture ``smollm2_folder`` makes. LAMBADA's first rows, put into the hub's
column, and the hand-made articles, whole and in windows of 64 tokens; the file holds numbers and
digests, nothing of the passages.
"""

from __future__ import annotations

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.benchmarks.articles import ARTICLES

NUMBER = 20
TARGET = Path(__file__).with_name("lm_eval_language_modelling.json")


def main(model: str, data_dir: str) -> None:
    with (Path(data_dir) / "lambada" / "test.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(NUMBER), strict=False)]
    passages = [{"text": f"{row['context']} {row['continuation']}"} for row in rows]
    results = {
        "packages": {name: version(name) for name in ("lm-eval", "transformers", "torch")},
        "lambada": _evaluate(model, "lambada_openai", passages),
        "wikitext": _evaluate(model, "wikitext", ARTICLES),
        "wikitext_64": _evaluate(model, "wikitext", ARTICLES, max_length=64),
    }
    TARGET.write_text(json.dumps(results) + "\n")


def _evaluate(
    model: str, task: str, rows: list[dict[str, str]], max_length: int = 2048
) -> dict[str, Any]:
    import datasets
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM

    rows_of = datasets.Dataset.from_list(rows)
    table = datasets.DatasetDict(dict.fromkeys(("train", "validation", "test"), rows_of))
    lm = HFLM(pretrained=model, dtype="float32", device="cpu", batch_size=4, max_length=max_length)
    with patch.object(datasets, "load_dataset", lambda *_, **__: table):
        found = simple_evaluate(lm, tasks=[task], bootstrap_iters=0, log_samples=True)
    assert found
    samples = sorted(found["samples"][task], key=lambda sample: int(sample["doc_id"]))
    names = ("perplexity", "acc", "word_perplexity", "byte_perplexity", "bits_per_byte")
    metrics = found["results"][task]
    return {
        "metrics": {name: metrics[f"{name},none"] for name in names if f"{name},none" in metrics},
        "asked": digest([sample["arguments"][0] for sample in samples]),
        "replies": [sample["filtered_resps"][0] for sample in samples],
    }


def digest(asked: Any) -> str:
    """Return one digest of all that is asked."""
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


if __name__ == "__main__":
    main(*sys.argv[1:])
