"""What a sample costs in a whole run, and so what a very large run takes.

    python -m perf.scale [samples ...] [--total N]

A run with a model that answers at once, ``evalplug merge`` of its two shards, and the collection of
one shard of very many, which is what the samples of the others cost: CPU seconds, peak memory of
the process and bytes on disk. A sample's cost is the difference between the first and the last
size, so start-up does not count. The estimate is for ``--total`` samples in 1, 10, 100 ... shards;
the model's own time comes on top of it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import astuple, dataclass
from pathlib import Path

from perf.items import PYTEST, write_suite
from perf.measure import Measured, run, show
from perf.peers import own_python

WORK = ("run", "merge of two shards", "another shard's")
MERGE: list[str | Path] = [own_python(), "-m", "pytest_evalplug.cli", "merge"]


@dataclass(frozen=True)
class Cost:
    """Seconds of CPU, megabytes of memory and of disk."""

    cpu: float
    memory: float
    disk: float

    def per_sample(self, few: Cost, samples: int) -> Cost:
        """Return what each of the ``samples`` costs that ``few`` did not have."""
        return Cost(*((a - b) / samples for a, b in zip(astuple(self), astuple(few), strict=True)))

    def with_more(self, each: Cost, samples: int) -> Cost:
        """Return this cost and that of ``samples`` further ones."""
        return Cost(*(a + b * samples for a, b in zip(astuple(self), astuple(each), strict=True)))


def measure(samples: int) -> tuple[Cost, ...]:
    """Return the costs of ``WORK`` for one dataset of ``samples``."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, samples)
        whole = cost(run([*PYTEST, "test_ours.py", "--work-dir=whole"], folder), folder / "whole")
        for shard in (1, 2):
            part = [f"--eval-shard={shard}/2", f"--work-dir=parts/{shard}"]
            run([*PYTEST, "test_ours.py", *part], folder)
        merged = cost(run([*MERGE, "parts", "-o", "merged"], folder), folder / "merged")
        few = ["--eval-shard=1/500", "--collect-only"]
        return whole, merged, cost(run([*PYTEST, "test_ours.py", *few], folder), folder / "none")


def cost(measured: Measured, written: Path) -> Cost:
    """Return what a command cost that wrote into a folder."""
    size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    return Cost(measured.cpu, measured.peak, size / 1e6)


def hours_and_gigabytes(whole: Cost) -> list[str]:
    """Return a cost's cells in the table of the estimate."""
    return [f"{whole.cpu / 3600:.2f}", f"{whole.memory / 1e3:.2f}", f"{whole.disk / 1e3:.2f}"]


def main() -> None:
    """Print what was measured, and the estimate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="*", type=int, default=[10_000, 50_000])
    parser.add_argument("--total", type=int, default=10_000_000)
    options = parser.parse_args()
    if len(options.samples) < 2:
        sys.exit("two sizes at least: a sample's cost is their difference")
    sizes = sorted(options.samples)
    costs = {size: measure(size) for size in sizes}
    show(
        "Measured",
        ["samples", "what", "CPU s", "peak, MB", "on disk, MB"],
        (
            [f"{size:,}", name, *(f"{figure:.1f}" for figure in astuple(one))]
            for size, both in costs.items()
            for name, one in zip(WORK, both, strict=True)
        ),
    )
    few, many = costs[sizes[0]], costs[sizes[-1]]
    each = [b.per_sample(a, sizes[-1] - sizes[0]) for a, b in zip(few, many, strict=True)]
    show(
        "A sample",
        ["what", "CPU ms", "memory, kB", "on disk, kB"],
        (
            [name, *(f"{figure * 1e3:.2f}" for figure in astuple(one))]
            for name, one in zip(WORK, each, strict=True)
        ),
    )
    (first, merge, _), (own, joined, other) = few, each
    rows = []
    for shards in (1, 10, 100, 1000):
        size = options.total // shards
        whole = first.with_more(own, size - sizes[0]).with_more(other, options.total - size)
        rows.append([f"{shards:,}", f"{size:,}", *hours_and_gigabytes(whole)])
    whole = merge.with_more(joined, options.total - sizes[0])
    rows.append(["merge", "", *hours_and_gigabytes(whole)])
    columns = ["shards", "samples each", "CPU h each", "memory each, GB", "on disk each, GB"]
    show(f"Estimate for {options.total:,} samples", columns, rows)


if __name__ == "__main__":
    main()
