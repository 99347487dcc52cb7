"""Write ``ifeval.json``: which instructions lm-evaluation-harness's task ``ifeval`` finds followed.

    python -m venv lmeval
    lmeval/bin/pip install lm-eval==0.4.13 langdetect==1.0.9 nltk==3.10.4 immutabledict
    NLTK_DATA=... lmeval/bin/python -m tests.parity.make_ifeval DATA_DIR

NLTK_DATA is a folder with NLTK's data package punkt_tab. A verdict is one character for each
instruction of a row: 0 not followed, 1 only loosely, 2 strictly; ``?`` where the reference draws a
letter at random, since the row's is none. langdetect has the seed 0.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.parity.ifeval_replies import HARD, ROWS, synthetic

TARGET = Path(__file__).with_name("ifeval.json")


def main(data_dir: str) -> None:
    import langdetect

    langdetect.DetectorFactory.seed = 0
    file = Path(data_dir) / "ifeval" / "train.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
    by_key = {row["key"]: row for row in rows}
    replies = [reply for group in HARD.values() for reply in group]
    expected = {
        "packages": {name: version(name) for name in ("lm-eval", "langdetect", "nltk")},
        "hard": {
            name: "".join(_verdict(by_key[key], reply) for reply in replies)
            for name, key in ROWS.items()
        },
        "synthetic": [
            " ".join(_verdict(row, reply) for reply in texts)
            for row, texts in zip(rows, synthetic([r["prompt"] for r in rows]), strict=True)
        ],
    }
    TARGET.write_text(json.dumps(expected, indent=0) + "\n", encoding="utf-8")


def _verdict(row: dict[str, Any], reply: str) -> str:
    from lm_eval.tasks.ifeval.utils import process_results

    result = process_results(row, [reply])
    levels = zip(result["inst_level_strict_acc"], result["inst_level_loose_acc"], strict=True)
    return "".join(
        "?" if not kwargs.get("letter", "a").isalpha() else str(int(strict) + int(loose))
        for (strict, loose), kwargs in zip(levels, row["kwargs"], strict=True)
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
