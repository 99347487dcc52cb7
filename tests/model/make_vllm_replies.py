"""Record what vLLM says of some prompts: writes vllm_replies.json, which the tests replay.

Run it against the bundled model (``exported_model()`` of ``tests/servers.py`` gives the folder)::

    vllm serve FOLDER --served-model-name smollm2 --dtype float32 --max-model-len 2048
    python -m tests.model.make_vllm_replies http://127.0.0.1:8000/v1 DATA_DIR
"""

from __future__ import annotations

import json
import sys
import urllib.request
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.api_likelihood import likelihood_body
from pytest_evalplug.model.api_trial import TRIAL_TEXT
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import LoglikelihoodQuery
from tests.model.parity_questions import first_questions
from tests.servers import exported_model

FILE = Path(__file__).with_name("vllm_replies.json")
QUESTIONS = 4
"""Of these lm-evaluation-harness's scores are known too (lm_eval_parity.json)."""
BOS = "<|im_start|>"
QUERIES = [
    LoglikelihoodQuery("The capital of France is", (" Paris", " London", " a city")),
    LoglikelihoodQuery("Ends with spaces  ", ("word", "\nword")),
    LoglikelihoodQuery("你好，世界：", ("你好", "😀😀", "再见")),
    LoglikelihoodQuery("", ("The sky is blue.", " It rains")),
]
TEXTS = ["Paris is the capital of France.", "再见，世界 😀", "Word"]

T = TypeVar("T")


def main(url: str, data_dir: str) -> None:
    """Ask vLLM for every prompt, and the HF backend for the scores."""
    queries = [
        *(LoglikelihoodQuery(q.context, q.continuations) for q in questions(Path(data_dir))),
        *QUERIES,
    ]
    prompts = [TRIAL_TEXT, *TEXTS]
    prompts += [f"{q.context or BOS}{text}" for q in queries for text in q.continuations]
    options = HFOptions(model=str(exported_model()), device="cpu", dtype="float32")
    backend = HFBackend("smollm2", options, fingerprint="")
    content = {
        "choices": [
            [astuple(choice)[:3] for choice in _known(r)] for r in backend.loglikelihood(QUERIES)
        ],
        "losses": [astuple(_known(loss))[:2] for loss in backend.sequence_loss(TEXTS)],
        "replies": {prompt: ask(url, prompt) for prompt in dict.fromkeys(prompts)},
    }
    FILE.write_text(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )


def _known(result: T | ModelError) -> T:
    assert not isinstance(result, ModelError), result
    return result


def questions(data_dir: Path) -> list[Any]:
    """Return the questions that are asked."""
    return first_questions(data_dir, QUESTIONS)


def ask(url: str, prompt: str) -> dict[str, Any]:
    """Return a reply without what nobody reads, its numbers short."""
    body = json.dumps(likelihood_body("smollm2", prompt, {})).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(f"{url}/completions", body, headers)) as r:
        reply = json.load(r)
    choice = reply["choices"][0]
    kept = {key: choice[key] for key in ("text", "finish_reason", "logprobs")}
    return {"choices": [_short(kept)], "usage": {"prompt_tokens": reply["usage"]["prompt_tokens"]}}


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_short(entry) for entry in value]
    return round(value, 5) if isinstance(value, float) else value


if __name__ == "__main__":
    main(*sys.argv[1:])
