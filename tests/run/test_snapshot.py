from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import DataError
from pytest_evalplug.masking import mask
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.snapshot import read_snapshot, write_snapshot

SECRET = "tops3cret"


@pytest.mark.parametrize(
    "config",
    [
        *(
            {name: SECRET}
            for name in (
                *("api_key", "apiKey", "APIKey", "OPENAI_API_KEY", "X-Api-Key", "apikey", "key"),
                *("token", "hf_token", "accessToken", "HF_TOKEN", "client_secret", "secret_value"),
                *("password", "db.password", "Authorization", "proxy-authorization", "auth"),
            )
        ),
        {"models": {"m": {"extra_body": [{"deep": {"token": {"nested": SECRET}}}]}}},
        {"headers": {"X-Anything": SECRET}},
        {"default_headers": {"a": {"b": SECRET}}},
        {"header": SECRET},
        {"base_url": f"https://user:{SECRET}@host/v1"},
        {"base_url": f"https://{SECRET}@host/v1"},
        {"base_url": f"https://user:p@{SECRET}@host/v1"},
        {"base_url": f"https://host/v1?api-key={SECRET}&x=1"},
        {"base_url": f"https://host/v1?sig={SECRET}=="},
        {"base_url": f"https://host/v1?x=1&code=a'{SECRET}#part"},
        {"base_url": f"https://host/v1?{SECRET}"},
        {"args": [f"--model=openai:m@https://host/v1?sv=1&sig={SECRET}"]},
        {"args": ["--model", f"openai:m@https://u:{SECRET}@host/v1"]},
        {"args": [f"--api-key={SECRET}", f"ACCESS_TOKEN={SECRET}"]},
        {"note": f"Bearer {SECRET}"},
        {"note": f"sk-proj-{SECRET}{SECRET}"},
        {"note": f"hf_{SECRET}{SECRET}"},
    ],
    ids=str,
)
def test_no_secret_reaches_the_file(run: RunDirectory, config: dict[str, Any]) -> None:
    path = write_snapshot(run, config)
    assert SECRET not in path.read_text(encoding="utf-8")
    assert "***" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "config",
    [
        {"max_tokens": 512, "tokenizer": "t", "token_len": 3, "keyword": "k", "author": "a"},
        {
            "api_key_env": "MY_KEY",
            "client_secret_env": "MY_SECRET",
            "monkey": "m",
            "secretary": "s",
        },
        {"base_url": "http://127.0.0.1:8000/v1", "mail": "a@b.c"},
        {"prompt": "The key is: {question} $x$ # answer@home", "empty": {}, "none": [None, True]},
        {"api_key": None},
    ],
)
def test_what_is_no_secret_comes_back(run: RunDirectory, config: dict[str, Any]) -> None:
    write_snapshot(run, config)
    assert read_snapshot(run) == config


def test_what_benchmarks_are_set_to_comes_back(run: RunDirectory) -> None:
    prompt = "key=value: a basic mathematics question of Bearer X\n{question}"
    settings = [["quiz", "prompt_template", prompt], ["quiz", "answer_key", "target"]]
    overrides = {"keys": {key: value for _, key, value in settings}}
    write_snapshot(run, {"settings": settings, "overrides": overrides})
    assert read_snapshot(run) == {"settings": settings, "overrides": overrides}


def test_but_no_key_in_it(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "0123456789abcdef")
    settings = [["quiz", "system_prompt", "by 0123456789abcdef"], ["quiz", "api_key", "abc"]]
    write_snapshot(run, {"settings": settings, "overrides": {"quiz": {"api_key": "abc"}}})
    assert read_snapshot(run) == {
        "settings": [["quiz", "system_prompt", "by ***"], ["quiz", "api_key", "***"]],
        "overrides": {"quiz": {"api_key": "***"}},
    }


def test_a_models_table_can_be_read_back(run: RunDirectory) -> None:
    spec = resolve_model("api", {"api": {"backend": "openai", "model": "m", "headers": {"k": "v"}}})
    write_snapshot(run, {"models": {spec.name: spec.to_wire()}})
    again = resolve_model("api", read_snapshot(run)["models"])
    assert again.fingerprint == spec.fingerprint


def test_callables_and_paths_are_written_by_name(run: RunDirectory) -> None:
    write_snapshot(run, {"postprocessor": mask, "work_dir": Path("outputs"), "bad": "\ud800"})
    assert read_snapshot(run) == {
        "postprocessor": "pytest_evalplug.masking.mask",
        "work_dir": "outputs",
        "bad": "\ud800",
    }


def test_the_latest_session_is_read(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [("20260101_000000", "old"), ("20260101_000001", "old"), ("20260101_000001", "new")]
    for time, model in sessions:
        monkeypatch.setattr("pytest_evalplug.run.snapshot.timestamp", lambda time=time: time)
        write_snapshot(run, {"model": model})
    assert read_snapshot(run) == {"model": "new"}
    assert len(list(run.configs.iterdir())) == 3


def test_a_session_that_only_scored_is_not_followed(run: RunDirectory) -> None:
    for stage, limit in (("all", 3), ("infer", 2), ("eval", 1)):
        write_snapshot(run, {"stage": stage, "limit": limit})
    assert read_snapshot(run)["limit"] == 2


@pytest.mark.parametrize("content", [None, "{", "\udcff"])
def test_no_readable_snapshot_is_one_line(run: RunDirectory, content: str | None) -> None:
    if content is not None:
        (run.configs / "config_1.json").write_text(content, errors="surrogateescape")
    with pytest.raises(DataError, match="name the models with --model") as caught:
        read_snapshot(run)
    assert "\n" not in str(caught.value)
