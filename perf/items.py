"""What a sample costs as a pytest item: ours beside a plain parametrized test over dicts.

    python -m perf.items [samples ...] [--rounds N] [--plot FILE]

Collection alone (``--collect-only``), and a run whose predictions are there (``--reuse --mode
eval``, Accuracy) beside a test that compares two texts. Seconds and peak memory of the whole
command, and per item what is above a run of ten. ``--plot`` draws how both grow (needs matplotlib).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

from perf.measure import Measured, in_turn, medians, run, show, write_lines
from perf.peers import own_python

FEW = 10
PYTEST: list[str | Path] = [own_python(), "-m", "pytest", "-q", "-p", "no:cacheprovider"]

OURS = """
from pytest_evalplug import BenchmarkMeta, DefaultDataAdapter, Sample, register_benchmark

@register_benchmark(BenchmarkMeta(name="many", dataset_id="data", prompt_template="{question}"))
class TestMany(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["question"], target=record["answer"])
"""

MODEL = """
import pytest

class Fake:
    name = "fake"
    capabilities = frozenset({"generate"})
    batch_size = 64

    def generate(self, prompts, params):
        return [str(int(prompt.split()[2]) % 97) for prompt in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()
"""

PLAIN = """
import json
from pathlib import Path
import pytest

with open(Path(__file__).parent / "data" / "test.jsonl") as file:
    ROWS = [json.loads(line) for line in file]

@pytest.mark.parametrize("row", ROWS)
def test_row(row):
    assert row["answer"] == str(int(row["question"].split()[2]) % 97)
"""

Figures: TypeAlias = dict[tuple[str, int], Measured]
"""(tool, samples) -> medians."""


def write_suite(folder: Path, samples: int) -> None:
    """Write both test modules and their data."""
    question = "Question number {} : how many clips did Natalia sell altogether in April and May?"
    rows = [{"question": question.format(i), "answer": str(i % 97)} for i in range(samples)]
    write_lines(folder / "data" / "test.jsonl", rows)
    for name, text in (("test_ours", OURS), ("conftest", MODEL), ("test_plain", PLAIN)):
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")


def measure(folder: Path, rounds: int) -> dict[str, Measured]:
    """Return the medians of the four commands."""
    ours, plain = [*PYTEST, "test_ours.py"], [*PYTEST, "-p", "no:evalplug", "test_plain.py"]
    commands: dict[str, list[str | Path]] = {
        "collect ours": [*ours, "--collect-only"],
        "collect plain": [*plain, "--collect-only"],
        "run ours": [*ours, "--reuse", "--mode", "eval"],
        "run plain": plain,
    }
    each = {name: partial(run, words, folder) for name, words in commands.items()}
    taken = in_turn(each, rounds)
    return {name: medians(runs) for name, runs in taken.items()}


def table(work: str, sizes: Sequence[int], figures: Figures) -> None:
    """Print one kind of work at every size."""
    rows = []
    for size in sizes:
        row: list[str] = [f"{size:,}"]
        each: dict[str, tuple[float, float]] = {}
        for tool in ("ours", "plain"):
            whole, few = figures[f"{work} {tool}", size], figures[f"{work} {tool}", FEW]
            each[tool] = (whole.cpu - few.cpu) / size * 1e3, (whole.peak - few.peak) / size * 1e3
            row += [f"{whole.wall:.2f}", f"{each[tool][0]:.3f}", f"{whole.peak:.0f}"]
        row += [
            f"{each['ours'][0] / each['plain'][0]:.2f}",
            f"{each['ours'][1] - each['plain'][1]:+.2f}",
        ]
        rows.append(row)
    columns = ["samples"]
    for tool in ("ours", "plain"):
        columns += [f"{tool}, s", "CPU ms an item", "peak, MB"]
    show(work, [*columns, "time, ours / plain", "memory an item, kB more than plain"], rows)


def plot(file: str, sizes: Sequence[int], figures: Figures) -> None:
    """Draw seconds and megabytes over the number of samples."""
    import matplotlib.pyplot as plt

    _, panels = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for row, work in zip(panels, ("collect", "run"), strict=True):
        for panel, (name, unit) in zip(row, (("wall", "s"), ("peak", "MB")), strict=True):
            for tool, style in (("ours", "o-"), ("plain", "s--")):
                values = [getattr(figures[f"{work} {tool}", size], name) for size in sizes]
                panel.plot(sizes, values, style, label=tool)
            panel.set(title=f"{work}, {unit}", xlabel="samples", xscale="log", yscale="log")
            for axis in (panel.xaxis, panel.yaxis):
                axis.set_major_formatter("{x:,g}")
                axis.set_minor_formatter("")
            panel.legend()
    plt.savefig(file, dpi=110)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args()
    figures: Figures = {}
    for size in (FEW, *options.samples):
        with tempfile.TemporaryDirectory() as name:
            write_suite(Path(name), size)
            run([*PYTEST, "test_ours.py", "--mode", "infer"], Path(name))  # what is scored again
            measured = measure(Path(name), options.rounds)
        figures |= {(work, size): figure for work, figure in measured.items()}
    for work in ("collect", "run"):
        table(work, options.samples, figures)
    if options.plot:
        plot(options.plot, options.samples, figures)


if __name__ == "__main__":
    main()
