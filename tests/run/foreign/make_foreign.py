"""Write data/: what OpenCompass 0.5.4 and lm-eval 0.4.13 keep of six rows of our demo data.

    python tests/run/foreign/make_foreign.py OPENCOMPASS LM_EVAL MODEL_FOLDER

The first two are the tools' commands (``python -m perf.peers install`` gets them), the last a
Hugging Face model for the likelihoods. Replies come from a server here: right for the even rows.
OpenCompass 0.5.4 calls a method of tokenizers that transformers 5 lacks; it is given one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).parents[3]
DATA = ROOT / "benchmarks" / "data"
ROWS = 6
TOKENIZER = """
from transformers.tokenization_utils_base import PreTrainedTokenizerBase as Base
Base.batch_encode_plus = lambda self, *args, **kwargs: self(*args, **kwargs)
"""
OPENCOMPASS = """
from opencompass.datasets import CustomDataset
from opencompass.models import HuggingFaceBaseModel, OpenAI
from opencompass.openicl.icl_evaluator import AccEvaluator, AccwithDetailsEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer, PPLInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.partitioners import NaivePartitioner, NumWorkerPartitioner
from opencompass.runners import LocalRunner
from opencompass.tasks import OpenICLEvalTask, OpenICLInferTask
from opencompass.utils.text_postprocessors import last_option_postprocess

ask = dict(role="HUMAN", prompt="{question}\\nAnswer with a number.")
gen = dict(
    prompt_template=dict(type=PromptTemplate, template=dict(round=[ask])),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer, max_out_len=64),
)
reader = dict(input_columns=["question"], output_column="answer")
math = dict(type=CustomDataset, path="math.jsonl", reader_cfg=reader, infer_cfg=gen)
details = dict(evaluator=dict(type=AccwithDetailsEvaluator))
ppl = dict(
    prompt_template=dict(
        type=PromptTemplate, template={o: "{question} {%s}" % o for o in "ABCD"}
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=PPLInferencer),
)
chat = dict(
    abbr="chat", type=OpenAI, path="chat", openai_api_base="URL/chat/completions",
    tokenizer_path="WORDS", max_workers=4, query_per_second=100, batch_size=8, max_out_len=64,
    meta_template=dict(round=[
        dict(role="HUMAN", api_role="HUMAN"), dict(role="BOT", api_role="BOT", generate=True)
    ]),
)
small = dict(
    abbr="small", type=HuggingFaceBaseModel, path="MODEL", model_kwargs=dict(device_map="cpu"),
    batch_size=8, max_out_len=8, run_cfg=dict(num_gpus=0),
)
models = [chat, small]
asked = [
    dict(math, abbr="with_details", eval_cfg=details),
    dict(math, abbr="equal", eval_cfg=dict(evaluator=dict(type=AccEvaluator))),
    dict(math, abbr="repeated", n=2, k=[1, 2], eval_cfg=details),
]
chosen = [dict(
    abbr="chosen", type=CustomDataset, path="choices.jsonl", infer_cfg=ppl,
    reader_cfg=dict(input_columns=["question", "A", "B", "C", "D"], output_column="answer"),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator)),
)]
datasets = asked + chosen
model_dataset_combinations = [
    dict(models=[chat], datasets=asked), dict(models=[small], datasets=chosen)
]
infer = dict(
    partitioner=dict(type=NumWorkerPartitioner, num_worker=2, num_split=2, min_task_size=8),
    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=OpenICLInferTask)),
)
eval = dict(
    partitioner=dict(type=NaivePartitioner, n=1),
    runner=dict(type=LocalRunner, max_num_workers=1,
                task=dict(type=OpenICLEvalTask, dump_details=True)),
)
"""
ASKED = """
task: asked
dataset_path: json
dataset_kwargs: {data_files: {test: math.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "{{question}}\\nAnswer with a number."
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 64}
filter_list:
- {name: strict, filter: [{function: regex, regex_pattern: "^(\\\\d+)$"}, {function: take_first}]}
- {name: flexible, filter: [{function: regex, regex_pattern: "(\\\\d+)"}, {function: take_first}]}
metric_list: [{metric: exact_match}]
"""
CHOSEN = """
task: chosen
dataset_path: json
dataset_kwargs: {data_files: {test: choices.jsonl}}
output_type: multiple_choice
test_split: test
doc_to_text: "{{question}}"
doc_to_choice: "{{[A, B, C, D]}}"
doc_to_target: "{{'ABCD'.index(answer)}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
"""


class Server(BaseHTTPRequestHandler):
    """Answers chat completions: rows with an even number right, one of the others in words."""

    answers: dict[str, str]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = str(body["messages"][-1]["content"])
        text = next(reply for question, reply in self.answers.items() if question in prompt)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        content = json.dumps({"choices": [choice], "model": "chat", "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def rows(name: str) -> list[dict[str, str]]:
    lines = (DATA / name / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:ROWS]]


def write_inputs(folder: Path) -> None:
    math = [{"question": row["question"], "answer": row["answer"]} for row in rows("demo_math")]
    choices = [
        {"question": row["question"], "answer": row["answer"]}
        | dict(zip("ABCD", row["choices"], strict=True))
        for row in rows("demo_knowledge")
    ]
    for name, found in (("math", math), ("choices", choices)):
        text = "".join(json.dumps(row) + "\n" for row in found)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    replies = [
        row["answer"] if i % 2 == 0 else f"It is {i}" if i % 3 else str(i)
        for i, row in enumerate(math)
    ]
    Server.answers = {row["question"]: reply for row, reply in zip(math, replies, strict=True)}


def main() -> None:
    opencompass, lm_eval, model = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        words = ROOT / "perf" / "configs" / "words"
        config = OPENCOMPASS.replace("URL", url).replace("MODEL", model)
        (folder / "config.py").write_text(config.replace("WORDS", str(words)))
        (folder / "asked.yaml").write_text(ASKED)
        (folder / "chosen.yaml").write_text(CHOSEN)
        (folder / "sitecustomize.py").write_text(TOKENIZER)
        env = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}
        env["HF_DATASETS_CACHE"] = str(folder / "cache")
        patched = {**env, "PYTHONPATH": str(folder)}
        command = [opencompass, "config.py", "--work-dir", "oc", "--debug"]
        subprocess.run(command, cwd=folder, env=patched, check=True)
        common = [lm_eval, "run", "--include_path", ".", "--log_samples", "--output_path", "lm"]
        server_args = f"model=chat,base_url={url}/chat/completions,tokenized_requests=False"
        chat = ["--model", "local-chat-completions", "--model_args", server_args]
        chat += ["--apply_chat_template", "--tasks", "asked"]
        local = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32"]
        local += ["--device", "cpu", "--tasks", "chosen"]
        for words_of in (chat, local):
            subprocess.run([*common, *words_of], cwd=folder, env=env, check=True)
        keep(folder)


def keep(folder: Path) -> None:
    """Copy what a reader may read, without what says where it was made."""
    data = Path(__file__).with_name("data")
    shutil.rmtree(data, ignore_errors=True)
    [run] = (folder / "oc").glob("2*")
    for part in ("predictions", "results"):
        shutil.copytree(run / part, data / "opencompass" / "20261130_120000" / part)
    for file in (folder / "lm").glob("*/*"):
        model = "chat" if file.parent.name == "chat" else "small"
        target = (
            data
            / "lm_eval"
            / model
            / re.sub(r"\d{4}-.*?(?=\.json)", "2026-11-30T12-00-00.0", file.name)
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8").replace(str(folder), ".")
        text = text.replace(sys.argv[3], "/models/small")
        if file.name.startswith("results"):
            content = json.loads(text)
            kept = ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples")
            content = {name: content[name] for name in kept} | {
                "model_name": "chat" if model == "chat" else f"/models/{model}"
            }
            text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
