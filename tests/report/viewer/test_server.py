from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from pytest_evalplug.report.viewer.report import write_report
from pytest_evalplug.report.viewer.runs import Runs
from pytest_evalplug.report.viewer.server import ViewServer
from tests.report.viewer.runs import Given, make_run, opened, unpacked

GATE = {"gate": "quiz>=90", "model": "m", "outcome": "failed", "message": "50 < 90"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    """Serves one run, with gates, and what is no run beside it."""
    run = make_run(tmp_path / "out", {("m", "main"): [Given("a"), Given("b", correct=False)]})
    write_report(opened(run), gates=[GATE])
    (tmp_path / "secret").write_text("s")
    (tmp_path / "out" / "notes").mkdir()
    with ViewServer(Runs(tmp_path / "out")) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: ViewServer, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, dict(response.getheaders()), body


def name_of(server: ViewServer) -> str:
    [run] = json.loads(ask(server, "/api/runs")[2])
    return str(run["name"])


def test_it_listens_to_this_machine_only(server: ViewServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_the_page_comes_with_a_policy(server: ViewServer) -> None:
    status, headers, body = ask(server, "/")
    assert status == 200
    assert b"<!doctype html>" in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert not {"Access-Control-Allow-Origin"} & {*headers}


def test_a_run_and_its_blocks(server: ViewServer) -> None:
    name = name_of(server)
    run = json.loads(ask(server, f"/api/runs/{name}")[2])
    assert run["state"] == "finished"
    assert run["gates"] == [GATE]
    assert run["tables"][0]["num_correct"] == 1
    plain = ask(server, f"/api/runs/{name}/t0/index")[2]
    status, headers, packed = ask(
        server, f"/api/runs/{name}/t0/index", **{"Accept-Encoding": "gzip"}
    )
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert unpacked(packed) == plain
    assert json.loads(plain)["outcomes"] == "rw"
    chunk = json.loads(ask(server, f"/api/runs/{name}/t0/0")[2])
    assert [sample["detail"]["sample_id"] for sample in chunk] == ["a", "b"]


def test_a_list_says_what_matters(server: ViewServer) -> None:
    [run] = json.loads(ask(server, "/api/runs")[2])
    assert (run["models"], run["benchmarks"], run["samples"]) == (["m"], ["quiz"], 2)
    assert run["rows"][0]["scores"]["m"]["value"] == 50


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil:{port}",
        "",
    ],
)
def test_another_host_is_refused(server: ViewServer, host: str) -> None:
    status, _, body = ask(server, "/api/runs", Host=host.format(port=server.port))
    assert status == 421
    assert b"quiz" not in body


@pytest.mark.parametrize("host", ["localhost", "LocalHost"])
def test_localhost_is_a_name_for_it(server: ViewServer, host: str) -> None:
    assert ask(server, "/", Host=f"{host}:{server.port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_get(server: ViewServer, method: str) -> None:
    assert ask(server, "/api/runs", method)[0] == 501


def test_head_has_no_body(server: ViewServer) -> None:
    status, headers, body = ask(server, "/", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["Content-Length"]) > 1000


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/..",
        f"/api/runs/{quote('../secret', safe='')}",
        "/api/runs/../../secret",
        "/api/runs/notes",
        "/api/runs/{run}/t1/index",
        "/api/runs/{run}/t0/9",
        f"/api/runs/{{run}}/t0/{quote('../../configs', safe='')}",
        "/api/runs/{run}/configs",
        "/secret",
        "//etc/passwd",
        "/%00",
        "/api/runs/%ff",
    ],
)
def test_nothing_else_is_served(server: ViewServer, path: str) -> None:
    status, _, body = ask(server, path.format(run=name_of(server)))
    assert status == 404
    assert json.loads(body) == {"error": "There is no such thing"}


def test_a_damaged_run_says_so_and_others_are_listed(server: ViewServer, tmp_path: Path) -> None:
    damaged = make_run(tmp_path / "out", {("m", "main"): [Given("a")]})
    next((damaged.path / "results").rglob("*.json")).write_text("{")
    status, _, body = ask(server, f"/api/runs/{damaged.name}")
    assert status == 422
    assert b"results file can't be read" in body
    states = {run["name"]: run["state"] for run in json.loads(ask(server, "/api/runs")[2])}
    assert states[damaged.name] == "unreadable"
    assert sorted(states.values()) == ["finished", "unreadable"]


@pytest.mark.parametrize("damage", ['"unlisted": 3', '"num_errors": "many"'])
def test_a_run_of_wrong_shapes_says_so_and_others_are_listed(
    server: ViewServer, tmp_path: Path, damage: str
) -> None:
    run = make_run(tmp_path / "out", {("m", "main"): [Given("a")]})
    path = next((run.path / "results").rglob("*.json"))
    name = damage.partition(":")[0]
    text = re.sub(rf"{name}: (\d+|\[\])", damage, path.read_text())
    assert damage in text
    path.write_text(text)
    next(run.path.glob("summary/*.json")).unlink()
    listed = {run["name"]: run for run in json.loads(ask(server, "/api/runs")[2])}
    assert len(listed) == 2
    assert listed[run.name]["state"] == "unreadable"
    assert "damaged: TypeError" in listed[run.name]["error"]


def test_a_run_scored_again_is_read_again(server: ViewServer, tmp_path: Path) -> None:
    name = name_of(server)
    path = next((tmp_path / "out" / name / "results").rglob("*.json"))
    path.write_text(path.read_text().replace('"correct": false', '"correct": true'))
    assert json.loads(ask(server, f"/api/runs/{name}/t0/index")[2])["outcomes"] == "rr"


def test_a_run_from_elsewhere_is_served_by_its_name(tmp_path: Path) -> None:
    run = make_run(tmp_path / "other", {("m", "main"): [Given("a")]})
    moved = run.path.rename(tmp_path / "other" / "my run")
    runs = Runs(tmp_path / "out", [moved])
    assert [entry["name"] for entry in runs.listed()] == ["my run"]
    assert runs.run("my run")["tables"][0]["key"] == "t0"


FOREIGN = Path(__file__).parents[2] / "run" / "foreign" / "data"


@pytest.mark.parametrize("folder", ["lm_eval/small", "lm_eval/chat", "opencompass/20261130_120000"])
def test_another_tools_run_is_served(tmp_path: Path, folder: str) -> None:
    path = FOREIGN / folder
    runs = Runs(tmp_path, [path])
    about = runs.run(path.name)
    assert about["rows"]
    for table in about["tables"]:
        index = json.loads(unpacked(runs.block(path.name, table["key"], "index")))
        chunk = json.loads(unpacked(runs.block(path.name, table["key"], "0")))
        assert len(chunk) == table["num_samples"]
        assert index["outcomes"].count("r") == table["num_correct"]
