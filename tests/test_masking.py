from __future__ import annotations

import json
import pickle
import time

import pytest

from pytest_evalplug.masking import Secrets, mask, mask_argument

TABLE = {
    "base_url": "http://me:pass@word77@host/v1?api-version=2024-10-21-preview&sig=SIGsig0099",
    "api_key_env": "ODD",
    "headers": {"X-Any": "anyHeader01", "X-Title": "My runs", "Accept": "application/json"},
    "extra_body": {"nested": [{"password": "hunter22"}], "stop": "a stop word 12"},
}
ENVIRONMENT = {
    "ODD": "sk-0123456789abcdef",
    "HF_TOKEN": "hf_tokenToken9",
    "https_proxy": "http://u:proxyPass8@host:1",
    "SSH_AUTH_SOCK": "/tmp/agent.1",
    "SOME_PASSWORD": "password",
    "CONFIG_KEY": "/home/me/key1.pem",
}


def secrets() -> Secrets:
    return Secrets({"models": {"m": TABLE}}, environment=ENVIRONMENT)


def test_the_names_in_a_query_stay() -> None:
    url = "https://host/v1?api-version=2&sig=abc#part"
    assert mask(url) == "https://host/v1?api-version=***&sig=***#part"
    assert mask("Is it x=1? See a://b/c.") == "Is it x=1? See a://b/c."


def test_masking_leaves_the_configuration_itself_alone() -> None:
    config = {"headers": {"a": "b"}, "list": [{"token": "t"}]}
    mask(config)
    assert config == {"headers": {"a": "b"}, "list": [{"token": "t"}]}


def test_an_arguments_json_is_masked() -> None:
    assert mask_argument('--eval-set=m={"api_key": "abc", "n": 1}') == (
        '--eval-set=m={"api_key": "***", "n": 1}'
    )
    deep = "x=" + "[" * 100_000
    assert mask_argument(deep) == deep


@pytest.mark.parametrize(
    "secret",
    [
        *("sk-0123456789abcdef", "hf_tokenToken9", "proxyPass8", "SIGsig0099", "hunter22"),
        *("anyHeader01", "My runs", "pass@word77", "pass%40word77", "bWU6cGFzc0B3b3JkNzc="),
    ],
)
def test_a_secret_is_hidden_wherever_it_stands(secret: str) -> None:
    text = f"x{secret}y and {json.dumps({'a': secret})}"
    assert secrets().hide(text) == text.replace(secret, "***")


@pytest.mark.parametrize(
    "part", ["sk-01234", "sk-01234...", "sk-01234*******cdef", "...89abcdef", "'sk-0123456789a..."]
)
def test_so_is_a_long_one_of_which_the_start_or_the_end_shows(part: str) -> None:
    hidden = secrets().hide(f"key {part}, or so")
    assert "sk-0" not in hidden
    assert "cdef" not in hidden
    assert hidden.endswith(", or so")


@pytest.mark.parametrize(
    "text",
    [
        *("password", "a stop word 12", "2024-10-21-preview", "/tmp/agent.1", "/home/me/key1.pem"),
        *("sorted(x, key=len)", "a bearer of news", "the key is 3", "sk-learn"),
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert secrets().hide(text) == text


def test_keys_of_others_are_known_by_their_looks() -> None:
    none = Secrets(environment={})
    assert none.hide("sk-proj-0123456789abcdefgh!") == "sk-***!"
    assert none.hide("Authorization: Bearer abc.def-123") == "Authorization: Bearer ***"


def test_a_reply_loses_whole_keys_only() -> None:
    body = b'{"a": "sk-0123456789abcdef sk-01234 application/json My runs hunter22"}'
    assert secrets().hide_echo(body) == (b'{"a": "*** sk-01234 application/json My runs ***"}')


def test_hiding_takes_linear_time() -> None:
    start = time.process_time()
    secrets().hide("a" * 100_000 + "sk-01234" * 10_000 + "=" * 100_000)
    assert time.process_time() - start < 5


def test_secrets_show_none_of_theirs() -> None:
    assert "hunter22" not in repr(secrets())
    with pytest.raises(TypeError, match="stay in their process"):
        pickle.dumps(secrets())
