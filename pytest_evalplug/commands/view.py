"""``evalplug view``: runs in the browser."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pytest_evalplug.report.viewer.runs import Runs
    from pytest_evalplug.report.viewer.server import ViewServer

PORT = 8228
"""The usual one, so that an open tab finds the next server; if it is taken, any free one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "which",
        nargs="?",
        metavar="RUN",
        help="run to open: its timestamp, latest, or a folder, also OpenCompass's or"
        " lm-evaluation-harness's (default: the list of runs)",
    )
    parser.add_argument(
        "--work-dir",
        type=Path,
        default=Path("outputs"),
        metavar="DIR",
        help="folder of the runs (default: outputs)",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help=f"port to listen on (default: {PORT} if it is free)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="only print the address, open nothing"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    from pytest_evalplug.errors import ConfigError
    from pytest_evalplug.report.viewer.runs import Runs
    from pytest_evalplug.run.saved_run import find_saved

    work_dir: Path = args.work_dir
    others: list[Path] = []
    page = ""
    if args.which:
        path = find_saved(args.which, work_dir)
        page = f"#/run/{quote(path.resolve().name, safe='')}"
        if path.resolve().parent != work_dir.resolve():
            others.append(path.resolve())
    if not (others or work_dir.is_dir()):
        raise ConfigError(
            "there is no such folder",
            where=f"--work-dir {work_dir}",
            fix="Give the one that the runs lie in",
        )
    server = _server(Runs(work_dir, others), args.port)
    print(f"runs of {work_dir.resolve()}: {server.url}{page} (Ctrl-C ends)", flush=True)
    if not args.no_browser:
        webbrowser.open(server.url + page)
    with server:
        server.serve_forever()
    return 0


def _server(runs: Runs, port: int | None) -> ViewServer:
    from pytest_evalplug.errors import ConfigError
    from pytest_evalplug.report.viewer.server import ViewServer

    for choice in (PORT, 0) if port is None else (port,):
        try:
            return ViewServer(runs, choice)
        except (OSError, OverflowError) as error:
            failure = error
    raise ConfigError(
        f"can't listen: {failure}", where=f"--port {port}", fix="Choose another, or none"
    )
