"""Scoring saved replies once more, whole command: ours beside the peers that are installed.

    python -m perf.rescore [samples] [--more N] [--peers-of-more NAME ...] [--rounds N]

Each tool asks a server once, untimed, and then scores what it kept: ours with ``--mode eval
--reuse``, EvalScope with ``--use-cache --rerun-review``, ``inspect score``, OpenCompass with
``--mode eval --reuse``. lm-eval scores nothing again; it runs anew, each reply from its cache.
``--more`` (default 14,000) is a second size: the difference is what a further sample costs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from perf.gsm8k_tools import data_folder, tools
from perf.measure import Measured, gsm8k_server, in_turn, medians, seen, show
from perf.peers import PEERS


def rescored(samples: int, peers: Sequence[str], rounds: int) -> dict[str, Measured]:
    """Return each tool's medians; exits if one asks the server again."""
    with tempfile.TemporaryDirectory() as name, gsm8k_server(0) as url:
        root = Path(name)
        found = list(tools(root, data_folder(root, samples), url, 64, peers))
        asked = {}
        for tool in found:
            asked[tool.name] = tool.accuracy(tool.ask(keep=True).output)
            if (requests := len(seen(url)[1])) != samples:
                sys.exit(f"{tool.name} asked {requests} prompts of {samples}")
        taken = in_turn({tool.name: tool.rescore for tool in found}, rounds)
        _, bodies = seen(url)
    if bodies:
        sys.exit(f"{len(bodies)} prompts were asked again")
    figures = {name: medians(runs) for name, runs in taken.items()}
    for tool in found:
        if tool.accuracy(figures[tool.name].output) != asked[tool.name]:
            sys.exit(f"{tool.name} gives another accuracy than at first")
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=1319)
    parser.add_argument("--more", type=int, default=14_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="*", choices=[*PEERS], default=[*PEERS], metavar="NAME")
    parser.add_argument("--peers-of-more", nargs="*", choices=[*PEERS], default=[], metavar="NAME")
    options = parser.parse_args()
    few = rescored(options.samples, options.peers, options.rounds)
    many = rescored(options.more, options.peers_of_more, options.rounds) if options.more else {}
    rows = []
    for name, figure in few.items():
        row = [f"{figure.wall:.2f}", f"{figure.wall / few['ours'].wall:.2f}"]
        row += [f"{figure.cpu:.1f}", f"{figure.peak:.0f}"]
        if name in many:
            further = (options.more - options.samples) / 1000
            row += [f"{many[name].wall:.2f}", f"{(many[name].wall - figure.wall) / further:.2f}"]
            row += [f"{(many[name].cpu - figure.cpu) / further:.2f}", f"{many[name].peak:.0f}"]
        rows.append([name, *row])
    columns = ["tool", f"{options.samples} samples, s", "/ ours", "CPU s", "peak, MB"]
    if options.more:
        columns += [f"{options.more} samples, s", "a further sample, ms", "CPU ms"]
        columns += ["peak, MB"]
    show(f"Scoring saved replies again, median of {options.rounds}", columns, rows)


if __name__ == "__main__":
    main()
