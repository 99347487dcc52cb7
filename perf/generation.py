"""Text generation: ours beside lm-evaluation-harness, one model folder, greedy, float32, CPU.

    python -m perf.generation [--prompts N] [--tokens N] [--batch N] [--shots N ...] [--rounds N]

GSM8K with its four shots and without any, as the benchmark builds them, with its stop string.
``EVALPLUG_DATA_DIR`` holds the data. Each round asks ours, with nothing kept from the last, then
the peer. Prints prompts/s of each (the
median of the rounds), the ratio, and how many replies are equal.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.test_gsm8k import META, TestGSM8K
from perf.lm_eval import LmEval, model_folder
from perf.measure import data_dir, show
from pytest_evalplug.dataset.adapter import AdapterOptions
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import ModelOutput

STOP = META.generation["stop"]


def prompts(shots: int, count: int) -> list[str]:
    """Return the first prompts of GSM8K."""
    options = AdapterOptions(data_dirs=(data_dir(),), eval_mode="gen", limit=count)
    made = TestGSM8K(benchmark_meta=META.override({}), options=options)
    return [str(made.build_prompt(s, "main", shots)) for s in made.samples("main")]


def ask(folder: Path, batch: int, tokens: int, texts: list[str]) -> tuple[float, list[str]]:
    """Return seconds and replies of a new backend of ours, asked as the engine asks."""
    options = HFOptions(
        model=str(folder), dtype="float32", device="cpu", batch_size=batch, chat_template=False
    )
    params = GenerationParams(max_tokens=tokens, stop=tuple(STOP))
    backend = HFBackend("ours", options, fingerprint="")
    assert backend._decoder is not None  # tried before the clock runs
    start = time.perf_counter()
    outputs: list[Any] = []
    for first in range(0, len(texts), batch):
        outputs += backend.generate(texts[first : first + batch], params)
    seconds = time.perf_counter() - start
    backend.close()
    assert all(isinstance(output, ModelOutput) for output in outputs), outputs
    return seconds, [output.completion for output in outputs]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--shots", type=int, nargs="*", default=[META.few_shot_num, 0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder, count = model_folder(), options.prompts
    peer = LmEval("generate_until", folder, options.batch)
    asked = {"until": list(STOP), "max_gen_toks": options.tokens, "do_sample": False}
    rows = []
    for shots in options.shots:
        texts = prompts(shots, count)
        taken = []
        for _ in range(options.rounds):
            own, replies = ask(folder, options.batch, options.tokens, texts)
            found, theirs = peer.ask([[text, asked] for text in texts])
            taken.append((own, found))
        rate, peers = (count / median(seconds) for seconds in zip(*taken, strict=True))
        equal = sum(a == b for a, b in zip(replies, theirs, strict=True))
        cells = [f"{rate:.2f}", f"{peers:.2f}", f"{rate / peers:.2f}", f"{equal} of {count}"]
        rows.append([f"gsm8k, {shots} shots", *cells])
    peer.close()
    show(
        f"Generation, {count} prompts x {options.tokens} tokens, batch {options.batch}, "
        f"median of {options.rounds}",
        ["task", "ours, prompts/s", "lm-eval, prompts/s", "ratio", "equal replies"],
        rows,
    )


if __name__ == "__main__":
    main()
