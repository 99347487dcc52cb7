"""A whole evaluation, start-up included: GSM8K from a server that answers after a while.

    python -m perf.gsm8k_run [samples] [in flight] [milliseconds] [--rounds N] [--only NAME ...]
    python -m perf.gsm8k_run --throughput

Ours beside the peers that are installed (:mod:`perf.peers`), and, between the first request and
the last reply as the server saw them, beside a bare aiohttp client that sends the bodies that ours
sent. ``--throughput`` is 10,000 prompts, 256 in flight, no wait, two workers, JUnit on; ours and
the bare client alone.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import aiohttp

from perf.gsm8k_tools import Tool, data_folder, tools
from perf.measure import Measured, gsm8k_server, in_turn, medians, seen, show
from perf.peers import PEERS

BARE = "bare aiohttp"


class Round:
    """Runs tools against one server and keeps, for each, what the server saw."""

    def __init__(self, url: str, in_flight: int) -> None:
        self._url = url
        self._in_flight = in_flight
        self._bodies: list[dict[str, Any]] = []
        self.windows: dict[str, list[float]] = {}

    def asking(self, tool: Tool, samples: int) -> Callable[[], Measured]:
        """Return what runs ``tool`` once."""

        def ask() -> Measured:
            measured = tool.ask()
            bodies = self._saw(tool.name)
            if tool.name == "ours":
                self._bodies = bodies
            if len(bodies) != samples:
                print(f"{tool.name} sent {len(bodies)} requests", file=sys.stderr)
            return measured

        return ask

    def bare(self) -> Measured:
        """Send what ours sent, and nothing else."""
        wall, cpu = time.perf_counter(), time.process_time()
        asyncio.run(send(f"{self._url}/chat/completions", self._bodies, self._in_flight))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self._saw(BARE)
        return Measured(wall, cpu, 0, "")

    def _saw(self, name: str) -> list[dict[str, Any]]:
        window, bodies = seen(self._url)
        self.windows.setdefault(name, []).append(window)
        return bodies


async def send(url: str, bodies: list[dict[str, Any]], in_flight: int) -> None:
    """Post each body and read the reply as JSON, ``in_flight`` at a time."""
    left = iter(bodies)
    connector = aiohttp.TCPConnector(limit=in_flight)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def asker() -> None:
            for body in left:
                async with session.post(url, json=body) as response:
                    assert (await response.json())["choices"]

        await asyncio.gather(*(asker() for _ in range(in_flight)))


def compare(options: argparse.Namespace, *extra: str) -> None:
    samples, in_flight = options.samples, options.in_flight
    with tempfile.TemporaryDirectory() as name, gsm8k_server(options.milliseconds) as url:
        root = Path(name)
        data = data_folder(root, samples)
        found = {tool.name: tool for tool in tools(root, data, url, in_flight, options.only)}
        found["ours"] = replace(found["ours"], asking=[*found["ours"].asking, *extra])
        turn = Round(url, in_flight)
        commands = {name: turn.asking(tool, samples) for name, tool in found.items()}
        taken = in_turn({**commands, BARE: turn.bare}, options.rounds)
    windows = {name: median(seconds) for name, seconds in turn.windows.items()}
    figures = {name: medians(runs) for name, runs in taken.items()}
    rows = []
    for name, figure in figures.items():
        accuracy = f"{found[name].accuracy(figure.output):.2f}" if name in found else ""
        whole = [f"{figure.wall:.2f}", f"{figure.wall / figures['ours'].wall:.2f}"]
        window = [f"{windows[name]:.2f}", f"{windows[name] / windows[BARE]:.2f}"]
        rates = [f"{samples / figure.wall:.0f}", f"{samples / windows[name]:.0f}"]
        rows.append([name, *whole, f"{figure.cpu:.1f}", accuracy, *window, *rates])
    show(
        f"{samples} prompts, {in_flight} in flight, {options.milliseconds:g} ms, "
        f"median of {options.rounds}",
        [
            *("tool", "whole command, s", "/ ours", "CPU s", "accuracy"),
            *("first request to last reply, s", "/ bare", "replies/s", "replies/s while asking"),
        ],
        rows,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=1319)
    parser.add_argument("in_flight", nargs="?", type=int, default=64)
    parser.add_argument("milliseconds", nargs="?", type=float, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=[*PEERS], default=[*PEERS], metavar="PEER")
    parser.add_argument("--throughput", action="store_true")
    options = parser.parse_args()
    if not options.throughput:
        return compare(options)
    options.samples, options.in_flight, options.milliseconds = 10_000, 256, 0
    options.only = []
    return compare(options, "-n", "2", "--junitxml", "out.xml")


if __name__ == "__main__":
    main()
