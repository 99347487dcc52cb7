"""What a sample costs in a whole run, and so what a very large run takes.

    python -m perf.scale [samples ...] [--total N]

A run with a model that answers at once, and ``evalplug merge`` of its two shards: CPU seconds, peak
memory of the process and bytes on disk. A sample's cost is the difference between the first and the
last size, so start-up does not count. The estimate is for ``--total`` samples in 1, 10, 100 ...
shards; the model's own time comes on top of it.
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


def measure(samples: int) -> tuple[Cost, Cost]:
    """Return the cost of one run of ``samples``, and that of merging its two shards."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_suite(folder, samples)
        whole = cost(run([*PYTEST, "test_ours.py", "--work-dir=whole"], folder), folder / "whole")
        for shard in (1, 2):
            part = [f"--eval-shard={shard}/2", f"--work-dir=parts/{shard}"]
            run([*PYTEST, "test_ours.py", *part], folder)
        return whole, cost(run([*MERGE, "parts", "-o", "merged"], folder), folder / "merged")


def cost(measured: Measured, written: Path) -> Cost:
    """Return what a command cost that wrote into a folder."""
    size = sum(path.stat().st_size for path in written.rglob("*") if path.is_file())
    return Cost(measured.cpu, measured.peak, size / 1e6)


def estimate(few: Cost, each: Cost, beyond: int) -> list[str]:
    """Return hours and gigabytes of a run with ``beyond`` samples more than ``few``."""
    cpu, memory, disk = astuple(few.with_more(each, beyond))
    return [f"{cpu / 3600:.2f}", f"{memory / 1e3:.2f}", f"{disk / 1e3:.2f}"]


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
    names = ("run", "merge of two shards")
    show(
        "Measured",
        ["samples", "what", "CPU s", "peak, MB", "on disk, MB"],
        (
            [f"{size:,}", name, *(f"{figure:.1f}" for figure in astuple(one))]
            for size, both in costs.items()
            for name, one in zip(names, both, strict=True)
        ),
    )
    few, many = costs[sizes[0]], costs[sizes[-1]]
    each = [b.per_sample(a, sizes[-1] - sizes[0]) for a, b in zip(few, many, strict=True)]
    show(
        "A sample",
        ["what", "CPU ms", "memory, kB", "on disk, kB"],
        (
            [name, *(f"{figure * 1e3:.2f}" for figure in astuple(one))]
            for name, one in zip(names, each, strict=True)
        ),
    )
    parts = [(shards, options.total // shards) for shards in (1, 10, 100, 1000)]
    rows = [
        [f"{shards:,}", f"{size:,}", *estimate(few[0], each[0], size - sizes[0])]
        for shards, size in parts
        if size >= sizes[0]
    ]
    rows.append(["merge", "", *estimate(few[1], each[1], options.total - sizes[0])])
    columns = ["shards", "samples each", "CPU h each", "memory each, GB", "on disk each, GB"]
    show(f"Estimate for {options.total:,} samples", columns, rows)


if __name__ == "__main__":
    main()
