"""The child process that does algebra: one JSON request a line in, one verdict a line out.

    {"op": "same_value", "nodes": [a, b]}                        -> {"equal": true}
    {"op": "multiples", "nodes": [a, b], "positive": false}      -> {"equal": false}
    {"op": "same_latex", "latex": [gold, pred]}                  -> {"equal": true}

Each request has ``seconds``, counted from the line ``{"ready": true}`` that comes first, when all
that is needed has been imported. If its parent dies, the process ends by itself soon after. What
can't be compared (too large, no formula) is not equal, with the reason in ``error``.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any, TextIO

from pytest_evalplug.evaluation.mathematics.expression import Node
from pytest_evalplug.evaluation.mathematics.numeric import are_multiples, have_same_value

_MEMORY = 2 * 1024**3
_EXACT_ENOUGH = 15
"""Decimals that math-verify compares, of the 15 that its numbers have."""


def main() -> None:
    """Answer requests until the standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.setrecursionlimit(3_000)
    for line in sys.stdin:
        _answer(json.loads(line), answers)


def _answer(request: dict[str, Any], answers: TextIO) -> None:
    if request["op"] == "same_latex":
        import math_verify  # noqa: F401
    print(json.dumps({"ready": True}), file=answers)
    seconds = float(request["seconds"])
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime + seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
    signal.setitimer(signal.ITIMER_REAL, seconds + 1)  # its default action ends the process
    try:
        answer: dict[str, Any] = {"equal": _OPERATIONS[request["op"]](request)}
    except Exception as error:  # whatever a formula makes the libraries raise: it has no value
        answer = {"equal": False, "error": type(error).__name__}
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps(answer), file=answers)


def _same_value(request: dict[str, Any]) -> bool:
    return have_same_value(*map(_node, request["nodes"]))


def _multiples(request: dict[str, Any]) -> bool:
    return are_multiples(*map(_node, request["nodes"]), positive=request["positive"])


def _same_latex(request: dict[str, Any]) -> bool:
    """Ask math-verify, its own time limits off: they need a signal that belongs to us."""
    import math_verify

    gold, pred = (
        math_verify.parse(
            f"${latex}$",
            extraction_config=[math_verify.LatexExtractionConfig()],
            fallback_mode="no_fallback",
            parsing_timeout=None,
        )
        for latex in request["latex"]
    )
    return bool(gold and pred) and math_verify.verify(
        gold, pred, float_rounding=_EXACT_ENOUGH, timeout_seconds=None
    )


_OPERATIONS = {
    "multiples": _multiples,
    "same_latex": _same_latex,
    "same_value": _same_value,
}


def _node(value: list[Any]) -> Node:
    op, args = value
    return Node(op, tuple(_node(arg) if isinstance(arg, list) else str(arg) for arg in args))


if __name__ == "__main__":
    main()
