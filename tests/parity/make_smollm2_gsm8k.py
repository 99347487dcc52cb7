"""Computes smollm2_gsm8k.json: replies of the bundled model, and lm-evaluation-harness's verdicts.

pytest benchmarks/test_gsm8k.py --model=smollm2 --limit 32
pip install lm_eval==0.4.13
python -m tests.parity.make_smollm2_gsm8k outputs/RUN/predictions/smollm2/*.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import lm_eval
import yaml  # type: ignore[import-untyped]
from lm_eval.api.metrics import exact_match_hf_evaluate
from lm_eval.filters.extraction import RegexFilter


def main(paths: list[Path]) -> None:
    """Write the file: each reply with its row in GSM8K's test split and what each filter finds."""
    config = Path(lm_eval.__file__).with_name("tasks") / "gsm8k/gsm8k.yaml"
    task = yaml.safe_load(config.read_text(encoding="utf-8"))
    (metric,) = task["metric_list"]
    compared = {k: metric[k] for k in ("regexes_to_ignore", "ignore_case", "ignore_punctuation")}
    rows: list[dict[str, Any]] = []
    for path in paths:
        for record in json.loads(path.read_text(encoding="utf-8")).values():
            row = {"index": int(record["index"]), "reply": record["prediction"]}
            for entry in task["filter_list"]:
                options = {k: v for k, v in entry["filter"][0].items() if k != "function"}
                ((found,),) = RegexFilter(**options).apply([[row["reply"]]], [])
                score = exact_match_hf_evaluate([found], [record["gold"]], **compared)
                row[entry["name"]] = [found, bool(score["exact_match"])]
            rows.append(row)
    text = json.dumps(rows, indent=1, ensure_ascii=False)
    Path(__file__).with_name("smollm2_gsm8k.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
