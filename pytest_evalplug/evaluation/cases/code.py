"""Cases of programs: found in a reply, and run against a test."""

from __future__ import annotations

__all__ = ["check_code_extract", "check_code_verdict"]

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.evaluation.postprocess.code import extract_program
from pytest_evalplug.evaluation.postprocessor import Postprocessor, apply_steps
from pytest_evalplug.evaluation.sandbox import run_program

Steps = tuple[Postprocessor, ...]

_SECONDS = 10.0


async def check_code_extract(row: Record, steps: Steps) -> Finding:
    """Run the extracted program and compare the ``repr()`` of a call."""
    context = {"entry_point": row["entry_point"], "prompt": row.get("prompt") or ""}
    if steps:
        program = str(apply_steps(steps, row["input"], **context))
    else:
        program = extract_program(row["input"], **context)
    expected = row["expected_repr"]
    test = f"value = repr({row['call']})\nassert value == {expected!r}, value"
    verdict = await run_program(program, test, timeout=_SECONDS)
    got = expected if verdict.passed else f"{verdict.status}: {verdict.reason}"
    return Finding(row["input"], expected, got, verdict.passed)


async def check_code_verdict(row: Record, steps: tuple[()]) -> Finding:
    """Compare what came of running a program against a test; ``error_ok``: all but ``pass``."""
    limit = row.get("max_seconds") or _SECONDS
    verdict = await run_program(row["program"], row["test"], timeout=limit)
    expected = row["expected"]
    right = not verdict.passed if expected == "error_ok" else verdict.status == expected
    return Finding(row["program"], expected, f"{verdict.status}: {verdict.reason}", right)
