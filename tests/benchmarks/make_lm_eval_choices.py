"""Write ``lm_eval_choices.json``: what lm-evaluation-harness sends for multiple-choice rows.

    python -m venv lmeval
    lmeval/bin/pip install lm-eval==0.4.13
    lmeval/bin/python -m tests.benchmarks.make_lm_eval_choices DATA_DIR

For the hand-made rows the texts themselves, without shots and with two (MMLU-Pro: five); for the
real data, put into the hub's columns, one digest over all rows of a task.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.benchmarks.hub_rows import HUB_ROWS

TARGET = Path(__file__).with_name("lm_eval_choices.json")
FILES = {
    "arc_easy": "arc/arc_easy.yaml",
    "arc_challenge": "arc/arc_challenge.yaml",
    "boolq": "super_glue/boolq/default.yaml",
    "commonsense_qa": "commonsense_qa/default.yaml",
    "copa": "super_glue/copa/default.yaml",
    "winogrande": "winogrande/default.yaml",
}
"""Where a task's file is not called as the task."""


def main(data_dir: str) -> None:
    hand: dict[str, dict[int, Any]] = {}
    real: dict[str, str] = {}
    for name, splits in HUB_ROWS.items():
        if "train" in splits:
            hand[name] = {shots: _sent(name, splits, shots) for shots in (0, 2)}
        elif name.startswith("truthfulqa"):
            hand[name] = {0: _sent(name, splits, 0)}
    for name in ("mmlu_pro_law", "mmlu_pro_math"):
        hand[name] = {5: _sent(name, HUB_ROWS["mmlu_pro"], 5)}
    for name, splits, shots in real_rows(Path(data_dir)):
        print(name, flush=True)
        real[name] = digest(_sent(name, splits, shots))
    lines = [
        json.dumps([name, shots, sent], ensure_ascii=False)
        for name, each in hand.items()
        for shots, sent in each.items()
    ]
    text = ",\n".join(lines)
    digests = json.dumps(real, indent=1)
    TARGET.write_text(f'{{"hand": [\n{text}\n],\n"real": {digests}}}\n', encoding="utf-8")


def digest(sent: Iterable[Any]) -> str:
    """Return one digest of all that is sent."""
    return hashlib.sha256(json.dumps([*sent]).encode()).hexdigest()


def task_of(name: str, splits: dict[str, list[dict[str, Any]]], shots: int) -> Any:
    """Return a task as the harness configures it, with these rows for its data."""
    import datasets
    import lm_eval.tasks
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.tasks._yaml_loader import load_yaml

    table = datasets.DatasetDict(
        {split: datasets.Dataset.from_list(_columns(name, rows)) for split, rows in splits.items()}
    )
    config = load_yaml(Path(lm_eval.tasks.__path__[0], _file(name)))
    if shots and "fewshot_config" not in config:
        config["fewshot_config"] = {"sampler": "first_n"}
    config["num_fewshot"] = shots
    config.pop("tag", None)
    for key in ("training_split", "validation_split", "test_split"):
        if config.get(key) not in splits:
            config[key] = None
    with patch.object(datasets, "load_dataset", lambda *_, **__: table):
        task = ConfigurableTask(config=config)
    task.build_all_requests()
    return task


def _sent(name: str, splits: dict[str, list[dict[str, Any]]], shots: int) -> list[Any]:
    """Return the requests: of each row the pairs of context and continuation, or the prompt."""
    rows: dict[int, Any] = {}
    for instance in task_of(name, splits, shots).instances:
        if instance.request_type == "generate_until":
            rows[instance.doc_id] = instance.args[0]
        else:
            rows.setdefault(instance.doc_id, []).append(list(instance.args))
    return [rows[row] for row in sorted(rows)]


def _file(name: str) -> str:
    """Return a task's file below the tasks' folder."""
    if name in FILES:
        return FILES[name]
    folders = {"mmlu": "mmlu/default", "truthfulqa": "truthfulqa"}
    if name.startswith("bbh_"):
        return f"bbh/cot_fewshot/{name.removeprefix('bbh_')}.yaml"
    if name in ("mmlu_pro_law", "mmlu_pro_math"):
        return f"mmlu_pro/{name}.yaml"
    return f"{folders.get(name.partition('_')[0], name)}/{name}.yaml"


def _columns(name: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give rows the columns of the copy that a task reads."""
    if name == "boolq":
        return [{**row, "label": int(row["answer"])} for row in rows]
    return rows


def real_rows(data: Path) -> Iterable[tuple[str, dict[str, list[dict[str, Any]]], int]]:
    """Yield each task with its splits in the columns of the hub, and its number of shots."""
    for name in ("arc_easy", "arc_challenge"):
        rows = [
            _letters(question=r["query"].removeprefix("Question: "), row=r)
            for r in _rows(data / f"{name}/test.jsonl")
        ]
        yield name, {"test": rows}, 0
    rows = [
        _letters(question_stem=r["query"], row=r) for r in _rows(data / "openbookqa/test.jsonl")
    ]
    yield "openbookqa", {"test": rows}, 0
    rows = [
        {
            "goal": r["query"].removeprefix("Question: ").removesuffix("\n"),
            "sol1": r["choices"][0],
            "sol2": r["choices"][1],
            "label": r["gold"],
        }
        for r in _rows(data / "piqa/validation.jsonl")
    ]
    yield "piqa", {"validation": rows}, 0
    rows = []
    for r in _rows(data / "boolq/validation.jsonl"):
        passage, _, question = r["query"].removeprefix("Passage: ").rpartition("\nQuestion: ")
        question = question.removesuffix("?")
        rows.append({"passage": passage, "question": question, "answer": bool(r["gold"])})
    yield "boolq", {"validation": rows}, 0
    rows = [
        {
            "sentence": f"{_common(r['context_options'])}_ {r['continuation']}",
            "option1": r["context_options"][0].removeprefix(_common(r["context_options"])),
            "option2": r["context_options"][1].removeprefix(_common(r["context_options"])),
            "answer": str(r["gold"] + 1),
        }
        for r in _rows(data / "winogrande/validation.jsonl")
    ]
    yield "winogrande", {"validation": rows}, 0
    truth = _rows(data / "truthfulqa/validation.jsonl")
    yield "truthfulqa_mc1", {"validation": truth}, 0
    yield "truthfulqa_mc2", {"validation": truth}, 0
    for folder in sorted((data / "mmlu").iterdir()):
        splits = {split: _rows(folder / f"{split}.jsonl") for split in ("dev", "test")}
        for table in splits.values():
            for r in table:
                r["choices"] = [r.pop(f"choice{i}") for i in range(4)]
                r["subject"] = folder.name
        yield f"mmlu_{folder.name}", splits, 5
    for folder in sorted((data / "bbh").iterdir()):
        yield f"bbh_{folder.name}", {"test": _rows(folder / "test.jsonl")}, 3


def _letters(row: dict[str, Any], **columns: str) -> dict[str, Any]:
    letters = [*"ABCDE"[: len(row["choices"])]]
    choices = {"text": row["choices"], "label": letters}
    return {**columns, "choices": choices, "answerKey": letters[row["gold"]]}


def _common(texts: list[str]) -> str:
    """Return the words that both texts begin with."""
    first, second = (text.split(" ") for text in texts)
    count = next(i for i, pair in enumerate(zip(first, second, strict=False)) if len({*pair}) > 1)
    return "".join(f"{word} " for word in first[:count])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


if __name__ == "__main__":
    main(*sys.argv[1:])
