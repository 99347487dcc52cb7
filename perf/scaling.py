"""What two workers save where scoring is the work: MATH-500 by mathematics, HumanEval's programs.

    python -m perf.scaling [--workers N] [--rounds N]

Saved replies (the data's own solutions) are scored again, serially and with ``-n N``; whole
commands. Programs are run ahead of their items, several at a time, in a serial run too.
``EVALPLUG_DATA_DIR`` holds the data.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

from perf.measure import Measured, data_dir, in_turn, medians, run, show
from perf.peers import own_python

SUITE = """
import pytest
from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

REPLIES = {}

@register_benchmark(BenchmarkMeta(
    name="math500", prompt_template="{question}",
    eval_cfg=dict(pred_postprocessor="math-answer", evaluator="math")))
class TestMath(DefaultDataAdapter):
    def record_to_sample(self, record):
        REPLIES[record["problem"]] = record["solution"]
        return Sample(input=record["problem"], target=record["answer"])

@register_benchmark(BenchmarkMeta(
    name="humaneval", prompt_template="{question}", eval_cfg=dict(evaluator="humaneval")))
class TestPrograms(DefaultDataAdapter):
    def record_to_sample(self, record):
        REPLIES[record["prompt"]] = record["canonical_solution"]
        metadata = {name: record[name] for name in ("prompt", "entry_point", "test")}
        return Sample(input=record["prompt"], target="-", metadata=metadata)

class Solutions:
    name = "solutions"
    capabilities = frozenset({"generate"})
    batch_size = 64

    def generate(self, prompts, params):
        return [REPLIES[prompt] for prompt in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Solutions()
"""


def scored_again(which: str, workers: int, rounds: int) -> dict[str, Measured]:
    """Return the medians of a serial run and of one with ``workers``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_suite.py").write_text(SUITE)
        (folder / "pytest.ini").write_text("[pytest]\n")
        words: list[str | Path] = [own_python(), "-m", "pytest", "-q", "test_suite.py", "-k", which]
        words += ["--data-dir", data_dir()]
        run([*words, "--mode", "infer"], folder)
        again = [*words, "--reuse", "--mode", "eval"]
        commands = {"serial": again, "workers": [*again, "-n", str(workers)]}
        each = {how: partial(run, command, folder) for how, command in commands.items()}
        return {how: medians(runs) for how, runs in in_turn(each, rounds).items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    rows = []
    for title, which in (("MATH-500", "TestMath"), ("HumanEval", "TestPrograms")):
        figures = scored_again(which, options.workers, options.rounds)
        serial, shared = figures["serial"], figures["workers"]
        cells = [f"{f:.2f}" for f in (serial.wall, shared.wall, serial.wall / shared.wall)]
        rows.append([title, *cells, f"{serial.cpu:.1f}", f"{shared.cpu:.1f}"])
    workers = f"-n {options.workers}"
    columns = ["work", "serial, s", f"{workers}, s", "serial / shared", "serial CPU s", "CPU s"]
    show(f"Scoring with {workers}, median of {options.rounds}", columns, rows)


if __name__ == "__main__":
    main()
