"""JSON for dashboards."""

from __future__ import annotations

import json
import math
from pathlib import Path

from pytest_evalplug.report.dashboard import write_dashboard
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.rows import Cell, Row
from pytest_evalplug.summary.table import Table

GATE = GateResult("a>=1", "m", "failed", "no number", math.nan, 3)


def test_numbers_are_those_of_the_table(tmp_path: Path) -> None:
    row = Row("a", "v", "f1", "gen", (Cell(1 / 3, 3, math.inf, (0.0, 1.0)), None))
    hidden = Row("g", "-", "sum", "gen", (Cell(math.nan, 0), None))
    table = Table(("m", "n\ud800"), (row,), notes=("below",), hidden=(hidden,))
    path = tmp_path / "new" / "x.json"
    write_dashboard(path, tmp_path / "run", table, [GATE], ["further"], about={"stage": "all"})
    found = json.loads(path.read_text(encoding="utf-8"), parse_constant=lambda _: 1 / 0)
    assert found["models"] == ["m", "n\ud800"]
    assert found["rows"][0]["scores"] == {
        "m": {"value": 1 / 3, "n": 3, "stderr": None, "interval": [0, 1], "incomplete": None},
        "n\ud800": None,
    }
    assert found["hidden"][0]["scores"]["m"]["value"] is None
    assert found["gates"][0]["value"] is None
    assert found["notes"] == ["below", "further"]
    assert (found["run"], found["path"]) == ("run", str(tmp_path / "run"))
    assert (found["stage"], found["started"]) == ("all", None)


def test_without_a_table(tmp_path: Path) -> None:
    write_dashboard(tmp_path / "x.json", tmp_path, None, [], ["why"], about={})
    found = json.loads((tmp_path / "x.json").read_text())
    assert (found["rows"], found["models"], found["notes"]) == ([], [], ["why"])
