"""What the plugin costs a session that evaluates nothing: ``pytest --help``, and a test of its own.

    python -m perf.startup [rounds]

With the plugin and with ``-p no:evalplug``, in turn; medians. Also says what it imports.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from perf.measure import in_turn, medians, run, show
from perf.peers import own_python

HEAVY = {"aiohttp", "asyncio", "datasets", "numpy", "openai", "torch", "transformers"}
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider"]


def imported(python: Path, arguments: list[str], folder: Path) -> set[str]:
    """Return the modules that a pytest session imports."""
    command = [str(python), "-X", "importtime", *PYTEST, *arguments]
    traced = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    lines = (line for line in traced.stderr.splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def main() -> None:
    """Print the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    python = own_python()
    for name in [name for name in os.environ if name.startswith("EVALPLUG_")]:
        del os.environ[name]  # nothing may speak to the plugin
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "test_x.py").write_text("def test_x():\n    pass\n")
        for title, arguments in (
            ("pytest --help", ["--help"]),
            ("pytest test_x.py", ["test_x.py"]),
        ):
            commands: dict[str, list[str | Path]] = {
                "with": [python, *PYTEST, *arguments],
                "without": [python, *PYTEST, "-p", "no:evalplug", *arguments],
            }
            run(commands["with"], folder)  # what pytest rewrites is cached then
            each = {which: partial(run, words, folder) for which, words in commands.items()}
            taken = in_turn(each, rounds)
            ours, plain = medians(taken["with"]), medians(taken["without"])
            without = imported(python, ["-p", "no:evalplug", *arguments], folder)
            more = imported(python, arguments, folder) - without
            rows.append(
                [
                    title,
                    f"{1000 * ours.wall:.0f}",
                    f"{1000 * plain.wall:.0f}",
                    f"{1000 * (ours.wall - plain.wall):.0f}",
                    f"{1000 * (ours.cpu - plain.cpu):.0f}",
                    len(more),
                    ", ".join(sorted(more & HEAVY)) or "none",
                ]
            )
    show(
        f"Start-up, median of {rounds}",
        ["command", "with, ms", "without, ms", "more, ms", "more CPU, ms", "modules", "heavy ones"],
        rows,
    )


if __name__ == "__main__":
    main()
