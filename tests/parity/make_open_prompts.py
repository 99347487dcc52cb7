"""Write ``open_prompts.json``: prompts of lm-evaluation-harness for rows of the real data.

    python -m venv lmeval
    lmeval/bin/pip install lm-eval==0.4.13
    HF_HUB_OFFLINE=1 lmeval/bin/python -m tests.parity.make_open_prompts DATA_DIR

Each task reads rows in the hub's columns; shots are the first ones of their split. Stored are
digests of the prompts of ROWS, after what differs on purpose is put as we have it
(DIFFERENCES).
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.parity.postprocess_replies import digest

TARGET = Path(__file__).with_name("open_prompts.json")
ROWS = (0, 1, 150)
LANGUAGES = ("bn", "de", "en", "es", "fr", "sw", "te", "th")
"""Without Russian, whose label lost a space, and Japanese and Chinese, where a colon is another one
and the exemplars' reasoning lacks its first character."""

DIFFERENCES: dict[str, Callable[[str], str]] = {
    # the calculator's annotations in the shots
    "gsm8k": lambda prompt: re.sub("<<.*?>>", "", prompt),
    # a question mark is added to each question, which has one
    "triviaqa": lambda prompt: prompt.replace("??", "?"),
    # the data's line ends in the shots
    "mbpp": lambda prompt: prompt.replace("\r\n", "\n"),
    # the authors' prompt goes on with the answer's label
    "truthfulqa_gen": lambda prompt: f"{prompt}\nA:",
}


def main(data_dir: str) -> None:
    import evaluate  # type: ignore[import-not-found]

    # two tasks load a metric from the hub at import, which prompts don't need
    evaluate.load = lambda *_, **__: _Metric()
    from lm_eval.tasks import TaskManager
    from lm_eval.tasks._yaml_loader import load_yaml

    manager = TaskManager()
    expected = {}
    with tempfile.TemporaryDirectory() as folder:
        for task, shots, splits in _tasks(Path(data_dir)):
            files = {}
            for split, rows in splits.items():
                path = Path(folder, f"{task}_{split}.jsonl")
                path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
                files[split] = str(path)
            config: dict[str, Any] = {"dataset_path": "json", "dataset_name": None}
            config |= {"dataset_kwargs": {"data_files": files, "cache_dir": folder}}
            if shots and task != "mbpp":
                config["fewshot_config"] = {"sampler": "first_n"}
            written = load_yaml(manager.task_index[task].yaml_path, resolve_func=True)
            (loaded,) = manager.load({**written, **config})["tasks"].values()
            docs = list(loaded.eval_docs)
            as_ours = DIFFERENCES.get(task, str)
            prompts = (loaded.fewshot_context(docs[row], num_fewshot=shots) for row in ROWS)
            expected[task] = [digest([as_ours(prompt)]) for prompt in prompts]
    TARGET.write_text(json.dumps(expected, indent=0) + "\n", encoding="utf-8")


class _Metric:
    def compute(self, **_: Any) -> Any:
        return {"pass@1": 0.0}, None


def _tasks(data: Path) -> Iterator[tuple[str, int, dict[str, list[dict[str, Any]]]]]:
    """Yield each task with its shots and its splits, in the hub's columns."""
    yield "gsm8k", 5, {split: _rows(data / f"gsm8k/{split}.jsonl") for split in ("train", "test")}
    exemplars = _rows(data / "mgsm/exemplars.jsonl")
    for language in LANGUAGES:
        shots = [row for row in exemplars if row["lang"] == language]
        train = [{"question": r["q"], "answer": r["a"], "answer_number": 0} for r in shots]
        test = [
            {"question": r["question"], "answer": None, "answer_number": 0}
            for r in _rows(data / f"mgsm/{language}/test.jsonl")
        ]
        yield f"mgsm_native_cot_{language}", 8, {"train": train, "test": test}
    questions = [
        {"question": r["context"][10:-8], "answer": {"aliases": r["aliases"]}}
        for r in _rows(data / "triviaqa/validation.jsonl")
    ]
    yield "triviaqa", 0, {"train": questions[:1], "validation": questions}
    yield "humaneval", 0, {"test": _rows(data / "humaneval/test.jsonl")}
    yield "mbpp", 3, {"test": _rows(data / "mbpp/test.jsonl")}
    yield "truthfulqa_gen", 0, {"validation": _rows(data / "truthfulqa/validation.jsonl")}
    ifeval = [{**row, "kwargs": []} for row in _rows(data / "ifeval/train.jsonl")]
    yield "ifeval", 0, {"train": ifeval}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


if __name__ == "__main__":
    main(*sys.argv[1:])
