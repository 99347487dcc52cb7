"""The longest that each registered postprocessor takes on hostile text.

    python -m perf.postprocessors [characters]

The texts are those of the tests, of 1,000,000 characters unless told otherwise; time is that of
the CPU. Rules whose published source is slow are measured on a hundredth of it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from pytest_evalplug.evaluation.registry import postprocessors
from tests.evaluation.postprocess.hostile import hostile_texts
from tests.evaluation.postprocess.test_all import LINEAR, SLOW_AT_THE_SOURCE


def worst(function: Callable[[str], Any], size: int) -> tuple[float, str]:
    times = []
    for kind, text in hostile_texts(size):
        start = time.process_time()
        function(text)
        times.append((time.process_time() - start, kind))
    return max(times)


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    slow = {f"{n} ({size // 100})": postprocessors.get(n) for n in SLOW_AT_THE_SOURCE}
    for name, function in {**LINEAR, **slow}.items():
        seconds, kind = worst(function, size // 100 if name in slow else size)
        print(f"{name:<42}{seconds:6.2f} s   {kind}", flush=True)


if __name__ == "__main__":
    main()
