"""Write mc2.json: MC2 by lm-evaluation-harness, for made-up likelihoods of real questions.

Run with lm-eval installed: ``python make_mc2.py <data_dir>/truthfulqa/validation.jsonl``.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from lm_eval.tasks.truthfulqa.utils import process_results_mc2


def main() -> None:
    with Path(sys.argv[1]).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    draw = random.Random(0)
    cases = []
    for row in rows[::20]:
        labels = row["mc2_targets"]["labels"]
        size = draw.choice([5, 50, 200])
        logprobs = [round(-draw.uniform(0, size), 4) for _ in labels]
        found = process_results_mc2(row, [(logprob, False) for logprob in logprobs])
        cases.append({"labels": labels, "logprobs": logprobs, "mc2": float(found["acc"])})
    text = ",\n".join(json.dumps(case) for case in cases)
    Path(__file__).with_name("mc2.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    main()
