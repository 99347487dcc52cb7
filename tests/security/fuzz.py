"""Coverage-guided fuzzing of what reads hostile text; run by hand, for minutes or for a night.

    python -m venv /tmp/fuzz && /tmp/fuzz/bin/pip install atheris pytest pytest-xdist
    PYTHONPATH=. /tmp/fuzz/bin/python -m tests.security.fuzz TARGET -max_total_time=600 [CORPUS]

TARGET is one of ``checks.TARGETS``; the options are libFuzzer's. What it finds is mended, and
becomes a row of ``test_fuzz.py``, which runs the same checks on texts that hypothesis makes.
"""

from __future__ import annotations

import importlib
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    """Fuzz the target that the command line names."""
    atheris: Any = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["pytest_evalplug", "json"]):
        checks = importlib.import_module("tests.security.checks")
    logging.disable(logging.WARNING)  # a journal's broken lines
    name = sys.argv.pop(1)
    with tempfile.TemporaryDirectory() as seeds:
        for number, seed in enumerate(checks.SEEDS[name]):
            Path(seeds, str(number)).write_text(seed, encoding="utf-8")
        # of several corpora libFuzzer writes into the first
        atheris.Setup([*sys.argv, seeds], checks.TARGETS[name])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
