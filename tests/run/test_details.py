from __future__ import annotations

from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.types import Detail

from .conftest import Details


def detail(index: str, **more: object) -> Detail:
    return Detail(index, f"d-{index}", "default", **more)  # type: ignore[arg-type]


def test_details_of_all_workers_come_back_in_order(run: RunDirectory, details: Details) -> None:
    verdicts = {
        "10": detail("10", pred="\ud800", answer=0, correct=False, score={"accuracy": 0.0}),
        "2": detail("2", error="server down", metadata={"why": "503"}),
    }
    for worker, one in zip(("gw0", "gw1"), verdicts.values(), strict=True):
        details(worker).put("m", "d", one)
    found = details().details("m", "d")
    assert found == verdicts
    assert list(found) == ["2", "10"]
    assert details().details("other", "d") == {}
    assert details().tables() == [("m", "d")]


def test_the_later_verdict_counts_also_if_it_is_an_error(
    run: RunDirectory, details: Details
) -> None:
    store = details()
    store.put("m", "d", detail("0", correct=True))
    store.put("m", "d", detail("0", error="crashed"))
    assert store.details("m", "d") == {"0": detail("0", error="crashed")}


def test_refresh_and_close(run: RunDirectory, details: Details) -> None:
    controller, worker = details(), details("gw0")
    assert controller.details("m", "d") == {}
    worker.put("m", "d", detail("0"))
    worker.close()
    controller.refresh()
    assert controller.details("m", "d") == {"0": detail("0")}


def test_a_killed_sessions_verdicts_are_cleared(run: RunDirectory, details: Details) -> None:
    details("gw7").put("m", "d", detail("0", correct=True))
    store = details()
    store.clear()
    assert store.details("m", "d") == {}
    assert list(run.journal.iterdir()) == []
