"""The viewer: what the page of a run costs to write, and how long a browser takes for it.

    python -m perf.viewer [SAMPLES] [--rounds N]

GSM8K's questions, shots included, over and over; needs playwright and Chromium. The times in the
browser are from asking for a view to its rows being drawn.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from perf.measure import gsm8k, show
from pytest_evalplug.report.viewer.report import write_report
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.jsonio import dumps, json_object, write_atomic
from pytest_evalplug.run.saved_run import open_saved
from pytest_evalplug.summary.result import build_result
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.run_table import summarize
from pytest_evalplug.types import AggScore, Detail

if TYPE_CHECKING:
    from playwright.sync_api import Page

SHOWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def make_run(work_dir: Path, size: int) -> Path:
    """Write a finished run of ``size`` samples; about half of the answers are right."""
    rows = gsm8k()
    shots = "".join(f"Question: {r['question']}\nAnswer: {r['answer']}\n\n" for r in rows[:4])
    run = RunDirectory.create(work_dir)
    details = []

    def records() -> Iterator[tuple[str, str]]:
        for i, row in enumerate(islice(cycle(rows), size)):
            reply = f"{row['answer']}\nSo for number {i} it is {i % 2}."
            record = {
                "index": str(i),
                "sample_id": f"main-{i}",
                "subset": "main",
                "origin_prompt": f"{shots}Question: {row['question']}\nAnswer:",
                "prediction": reply,
                "gold": row["answer"],
                "finish_reason": "stop",
                "usage": {"prompt_tokens": 600, "completion_tokens": len(reply) // 4},
                "key": dict.fromkeys(("model", "prompt", "params", "sample"), f"{i:012}"),
            }
            yield str(i), dumps(record)
            right = i % 2 == 0
            detail = Detail(str(i), f"main-{i}", "main", str(i % 2), "0", right)
            detail.score = {"accuracy": float(right)}
            details.append(detail)

    write_atomic(run.prediction_file("model", "gsm8k"), json_object(records()))
    about = {"model": "model", "dataset": "gsm8k", "benchmark": "gsm8k", "subset": "main"}
    scores = [AggScore("accuracy", 50.0, "main", size, metadata={"stderr": 0.4})]
    build_result(scores, details, version="v", mode="gen", **about).write(run)  # type: ignore[arg-type]
    summarize(run, ["model"], [DatasetRef("gsm8k")])
    run.close()
    return run.path


def in_browser(page: Page, address: str) -> dict[str, float]:
    """Return how long each thing takes that one does first, in milliseconds."""
    taken = {}

    def measure(name: str, act: Any, until: str) -> None:
        begin = time.perf_counter()
        act()
        page.wait_for_function(until)
        page.evaluate(SHOWN)
        taken[name] = 1000 * (time.perf_counter() - begin)

    rows = "() => document.querySelectorAll('.row').length > 5"
    figures = page.locator(".figures")

    def another_count() -> str:
        shown = f"document.querySelector('.figures').textContent !== {figures.inner_text()!r}"
        return (
            f"() => {shown} && document.querySelector('.figures').textContent.includes('samples')"
        )

    measure("open the list", lambda: page.goto(address), rows)
    wrong = page.locator(".chip", has_text="wrong")
    search = page.locator("input[type=search]")
    measure("filter", wrong.click, another_count())
    measure("filter off", wrong.click, another_count())
    measure("first search", lambda: search.fill("number 4321"), another_count())
    measure("next search", lambda: search.fill("ducks lay"), another_count())
    at_end = "document.querySelector('.list').scrollTop = 1e9"
    measure("to the end", lambda: page.evaluate(at_end), rows)
    last = page.locator(".row").last
    measure("open a sample", last.click, "() => document.querySelector('.reply')")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=14_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("needs playwright: pip install playwright")
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name:
        path = make_run(Path(name), options.samples)
        written = []
        for _ in range(options.rounds):
            wall, cpu = time.perf_counter(), time.process_time()
            page_path = write_report(open_saved(str(path), path.parent))
            written.append((time.perf_counter() - wall, time.process_time() - cpu))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        saved = sum(file.stat().st_size for file in path.rglob("predictions/**/*.json")) / 1e6
        row = [f"{median(times):.2f}" for times in zip(*written, strict=True)]
        row += [f"{peak:.0f}", f"{saved:.0f}", f"{page_path.stat().st_size / 1e6:.1f}"]
        columns = ["write, s", "CPU s", "peak, MB", "predictions, MB", "page, MB"]
        show(f"report/index.html of {options.samples} samples", columns, [row])
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=executable, args=["--headless", "--no-sandbox", "--disable-gpu"]
            )
            address = f"{page_path.as_uri()}#/run/x/gsm8k"
            rounds = [in_browser(browser.new_page(), address) for _ in range(options.rounds)]
            browser.close()
    figures = [f"{median(taken[name] for taken in rounds):.0f}" for name in rounds[0]]
    show("In the browser, milliseconds", list(rounds[0]), [figures])


if __name__ == "__main__":
    main()
