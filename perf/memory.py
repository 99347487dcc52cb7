"""Memory over the samples done: ours beside a plain parametrized test over the same rows.

    python -m perf.memory [samples] [--plot FILE] [--trace]

A run in which a model replies at once, 1.5 kB each. Resident megabytes of the process at ten
steps; what grows in plain pytest is its reports. ``--trace`` shows instead which lines hold what
the second half of the run has left behind (several times as slow); ``--plot`` draws the curves
(needs matplotlib).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from perf.items import OURS, PYTEST
from perf.measure import run, show, write_lines

STEPS = 10
REPLY = "Natalia sold 48 / 2 = 24 clips in May and so 72 altogether. " * 25

PROBE = """
import json, os, sys, tracemalloc

STEP, TRACE = int(os.environ["STEP"]), bool(os.environ["TRACE"])
done, first, curve = 0, None, []

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

def pytest_runtest_logfinish():
    global done, first
    done += 1
    if done % STEP == 0:
        curve.append([done, resident()])
        if TRACE and len(curve) == 5:
            tracemalloc.start(6)
            first = tracemalloc.take_snapshot()

def pytest_sessionfinish():
    with open("curve.json", "w") as file:
        json.dump(curve, file)
    if first is not None:
        found = tracemalloc.take_snapshot().compare_to(first, "traceback")
        for stat in found[:25]:
            size = f"{stat.size_diff / 2**10:.0f} kB in {stat.count_diff} blocks"
            print("\\n" + size, file=sys.__stdout__)
            print(*stat.traceback.format()[-6:], sep="\\n", file=sys.__stdout__)
"""

MODEL = """
import pytest

class Fake:
    name = "fake"
    capabilities = frozenset({"generate"})
    concurrency = 64

    async def generate(self, prompts, params):
        return [%r + str(int(prompt.split()[2]) %% 97) for prompt in prompts]

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
    reply = %r + str(int(row["question"].split()[2]) %% 97)
    assert reply.split()[-1] == row["answer"]
"""


def suite(folder: Path, samples: int) -> None:
    """Write both test modules and their data."""
    question = "Question number {} : how many clips did Natalia sell altogether in April and May?"
    rows = [{"question": question.format(i), "answer": str(i % 97)} for i in range(samples)]
    write_lines(folder / "data" / "test.jsonl", rows)
    score = ', eval_cfg=dict(evaluator=dict(type="accuracy"), pred_postprocessor="last-number")'
    ours = OURS.replace('"{question}"', '"{question}"' + score)
    texts = {"conftest": MODEL % REPLY, "test_ours": ours, "test_plain": PLAIN % REPLY}
    for name, text in {**texts, "probe": PROBE}.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")


def curve(folder: Path, name: str, samples: int, trace: bool) -> list[tuple[int, float]]:
    """Run a module; return resident megabytes after so many samples, ten times."""
    words = [*PYTEST, "-p", "probe", f"test_{name}.py", "-s" if trace else "--capture=fd"]
    env = {"STEP": str(samples // STEPS), "TRACE": "1" if trace else "", "PYTHONPATH": str(folder)}
    measured = run([*words, *(("-p", "no:evalplug") if name == "plain" else ())], folder, env)
    if trace:
        print(measured.output)
    return [
        (done, megabytes) for done, megabytes in json.loads((folder / "curve.json").read_text())
    ]


def plot(file: str, curves: dict[str, list[tuple[int, float]]]) -> None:
    """Draw megabytes over samples done."""
    import matplotlib.pyplot as plt

    _, panel = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, points), style in zip(curves.items(), ("o-", "s--"), strict=True):
        panel.plot(*zip(*points, strict=True), style, label=name)
    panel.set(title="resident memory, MB", xlabel="samples done", ylim=0)
    panel.xaxis.set_major_formatter("{x:,g}")
    panel.legend()
    plt.savefig(file, dpi=110)


def main() -> None:
    """Print the curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=100_000)
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite(folder, options.samples)
        if options.trace:
            curve(folder, "ours", options.samples, trace=True)
            return
        curves = {
            tool: curve(folder, tool, options.samples, trace=False) for tool in ("ours", "plain")
        }
    rows = [
        [f"{done:,}", f"{ours:.0f}", f"{plain:.0f}"]
        for (done, ours), (_, plain) in zip(curves["ours"], curves["plain"], strict=True)
    ]
    show("memory over the samples done", ["samples done", "ours, MB", "plain, MB"], rows)
    for tool, points in curves.items():
        (first, low), (last, high) = points[0], points[-1]
        print(f"{tool}: {(high - low) / (last - first) * 1e6 / 1e3:.2f} kB a sample done")
    if options.plot:
        plot(options.plot, curves)


if __name__ == "__main__":
    main()
