"""The workers of pytest-xdist, as their controller sees them."""

from __future__ import annotations

__all__ = ["Workers"]

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from pytest_evalplug.stash import WORKER_INPUT
from pytest_evalplug.stopping import tell_workers

if TYPE_CHECKING:
    from pytest_evalplug.run_holder import RunHolder


class Workers:
    """Registered beside the Controller: tells workers their part, adds up what they report."""

    def __init__(self, config: pytest.Config, holder: RunHolder) -> None:
        self._pytest_config = config
        self._holder = holder
        self.running: set[str] = set()
        """Those that may still write into the run directory."""
        self.counts = Counter[str]()
        """Their predictions, by where they came from."""
        self.stopped = False
        """A failure made one stop."""
        self._unplanned = ""
        self._copies = ""

    @property
    def notes(self) -> list[str]:
        """What is slower or larger than it need be because of them."""
        return [note for note in (self._unplanned, self._copies) if note]

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist its part."""
        self.running.add(node.workerinput["workerid"])
        config = self._holder.config
        number = int("".join(filter(str.isdigit, node.workerinput["workerid"])) or 0)
        count = int(node.workerinput["workercount"])
        dist = self._pytest_config.getoption("dist")
        ahead = dist == "load" and number < count
        if dist != "load":
            self._unplanned = (
                f"no look-ahead with --dist {dist}: each sample is asked for when its test runs. "
                "Use -n alone for batches and concurrent requests"
            )
        if config.stage != "eval":
            from pytest_evalplug.model.devices import copies_note

            self._copies = copies_note(config.models, count)
        node.workerinput[WORKER_INPUT] = {
            "config": config.to_wire(),
            "run_path": str(self._holder.path()),
            "role": {
                "worker": node.workerinput["workerid"],
                "number": number,
                "count": count,
                "ahead": ahead,
            },
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Deal items so that workers can look ahead."""
        if config.getoption("dist") != "load":
            return None
        from pytest_evalplug.scheduling import LateScheduling

        return LateScheduling(config, log, lambda: self._holder.found() is not None)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        """A worker that has found benchmarks has made the run directory before it says so."""
        self._holder.found()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add up what a worker counted; note whether a failure made it stop."""
        self.running.discard(node.workerinput["workerid"])
        output: Mapping[str, Any] = getattr(node, "workeroutput", None) or {}
        self.counts.update(output.get(WORKER_INPUT, {}))
        self.stopped = self.stopped or bool(output.get("shouldfail"))

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self) -> None:
        """Let the workers know: they ask nothing more."""
        self.tell()

    def tell(self, *, now: bool = False) -> bool:
        """Tell those that run to stop, in order or ``now``; False if there are none."""
        if self.running and self._holder.run is not None:
            tell_workers(self._holder.run.journal, now=now)
        return bool(self.running)
