from __future__ import annotations

from pathlib import Path

import pytest

from pytest_evalplug.doctor import data
from tests.servers import OpenAIServer, api_server, free_port

__all__ = ["api_server"]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_ENDPOINT")
    proxies = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
    for name in (*names, *proxies):
        monkeypatch.delenv(name, raising=False)


def test_data_folders(tmp_path: Path) -> None:
    for name in ("gsm8k", "piqa", "else"):
        (tmp_path / "data" / name).mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    found, empty, missing = data.at_hand(
        [tmp_path / "data", tmp_path / "empty", tmp_path / "missing"]
    )
    assert (found.state, found.text.rpartition("(")[2]) == ("ok", "gsm8k, piqa)")
    assert f"{tmp_path / 'data'}: 2 of " in found.text
    assert (empty.state, missing.state) == ("warn", "problem")
    [none] = data.at_hand([])
    assert none.state == "warn"


def test_a_hub_that_is_not_to_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "no url")
    [check] = data.hub()
    assert check.state == "ok"
    assert "HF_HUB_OFFLINE" in check.text


def test_a_hub_that_answers(api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", api_server.url)  # with a 404
    [check] = data.hub()
    assert check.state == "ok"
    assert check.text.startswith(f"{api_server.url} answers in ")


def test_a_hub_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("https_proxy", "http://user:secret@proxy:3128")
    [check] = data.hub()
    assert check.state == "warn"
    assert "(https through http://proxy:3128)" in check.text
    assert "secret" not in check.text
