"""Computes smollm2_ifeval.json: replies of the bundled model, and lm-evaluation-harness's verdicts.

pytest benchmarks/test_ifeval.py --model=smollm2 --limit 64 \\
    --eval-set ifeval.generation.max_tokens=256
pip install lm-eval==0.4.13 langdetect==1.0.9 nltk==3.10.4 immutabledict
NLTK_DATA=... python -m tests.parity.make_smollm2_ifeval DATA_DIR RUN/predictions/*/ifeval.json

NLTK_DATA is a folder with NLTK's data package punkt_tab. langdetect has the seed 0. A row that
counts "#" or "!" is left out: the reference counts a random letter there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(data_dir: str, *predictions: str) -> None:
    """Write the file: each reply with its row in IFEval and which instructions are followed."""
    import langdetect
    from lm_eval.tasks.ifeval.utils import process_results

    langdetect.DetectorFactory.seed = 0
    text = Path(data_dir, "ifeval", "train.jsonl").read_text("utf-8")
    tasks = [json.loads(line) for line in text.split("\n") if line]
    rows = []
    for path in predictions:
        for record in json.loads(Path(path).read_text("utf-8")).values():
            index, reply = int(record["index"]), record["prediction"]
            if not all(kwargs.get("letter", "a").isalpha() for kwargs in tasks[index]["kwargs"]):
                continue
            found = process_results(tasks[index], [reply])
            levels = {
                name: [bool(v) for v in found[f"inst_level_{name}_acc"]]
                for name in ("strict", "loose")
            }
            rows.append({"index": index, "reply": reply, **levels})
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    Path(__file__).with_name("smollm2_ifeval.json").write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
