"""Write ``bbh_replies.json``: lm-evaluation-harness's verdicts on published replies to BBH.

    python -m venv lmeval
    lmeval/bin/pip install lm-eval==0.4.13
    lmeval/bin/python -m tests.parity.make_bbh_replies DATA_DIR

For each subset a text of 1 (right) and 0, a sign for each row.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(data_dir: str) -> None:
    import lm_eval.tasks
    from lm_eval.api.metrics import exact_match_hf_evaluate
    from lm_eval.filters.extraction import RegexFilter
    from lm_eval.tasks._yaml_loader import load_yaml

    folder = Path(lm_eval.tasks.__path__[0], "bbh/cot_fewshot")
    data = Path(data_dir)
    verdicts: dict[str, str] = {}
    for path in sorted((data / "replies/bbh/cot").glob("*.jsonl")):
        config = load_yaml(folder / f"{path.stem}.yaml")
        (entry,) = config["filter_list"]
        options = {k: v for k, v in entry["filter"][0].items() if k != "function"}
        replies = [[row["prediction"]] for row in _rows(path)]
        found = [each[0] for each in RegexFilter(**options).apply(replies, [{}] * len(replies))]
        targets = [row["target"] for row in _rows(data / f"bbh/{path.stem}/test.jsonl")]
        scores = (
            exact_match_hf_evaluate([pred], [target])["exact_match"]
            for pred, target in zip(found, targets, strict=True)
        )
        verdicts[path.stem] = "".join(str(int(score)) for score in scores)
    text = json.dumps(verdicts, indent=0)
    Path(__file__).with_name("bbh_replies.json").write_text(text + "\n", encoding="utf-8")


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


if __name__ == "__main__":
    main(*sys.argv[1:])
