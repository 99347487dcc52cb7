"""Computes lm_eval_postprocess.json with lm-evaluation-harness itself.

pip install lm_eval==0.4.13
python -m tests.parity.make_lm_eval_postprocess DATA_DIR
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

from tests.parity.postprocess_replies import HARD, digest, gsm8k_replies, gsm8k_solutions


def main(data: Path) -> None:
    """Write the file: what the filters find, and how many replies the metric calls right."""
    config = Path(lm_eval.__file__).with_name("tasks") / "gsm8k/gsm8k.yaml"
    task = yaml.safe_load(config.read_text(encoding="utf-8"))
    (metric,) = task["metric_list"]
    compared = {k: metric[k] for k in ("regexes_to_ignore", "ignore_case", "ignore_punctuation")}
    solutions = gsm8k_solutions(data)
    stored: dict[str, Any] = {}
    for entry in task["filter_list"]:
        options = {k: v for k, v in entry["filter"][0].items() if k != "function"}
        regex = RegexFilter(**options)

        def found(texts: list[str], regex: RegexFilter = regex) -> list[str]:
            return [values[0] for values in regex.apply([[text] for text in texts], [])]

        stored[entry["name"]] = {"hard": found(HARD), "replies": {}}
        for name, texts in gsm8k_replies(data).items():
            values = found(texts)
            pairs = zip(values, solutions, strict=True)
            right = [
                float(exact_match_hf_evaluate([value], [gold], **compared)["exact_match"])
                for value, gold in pairs
            ]
            stored[entry["name"]]["replies"][name] = {
                "digest": digest(values),
                "right": digest([str(int(x)) for x in right]),
                "score": sum(right),
            }
    path = Path(__file__).with_name("lm_eval_postprocess.json")
    path.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
