from __future__ import annotations

import json
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug import masking
from pytest_evalplug.masking import Secrets, mask, mask_argument, mask_settings

TABLE = {
    "base_url": "http://me:pass@word77@host/v1?api-version=2024-10-21-preview&sig=SIGsig0099",
    "api_key_env": "ODD",
    "headers": {"X-Any": "anyHeader01", "X-Title": "My runs", "Accept": "application/json"},
    "extra_body": {
        "nested": [{"password": "hunter22"}, {"password": "a plain word"}],
        "stop": "a stop word 12",
        "stop_token": "Question:",
    },
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
        *("anyHeader01", "a plain word", "pass@word77", "pass%40word77", "bWU6cGFzc0B3b3JkNzc="),
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
        *("My runs", "Question:", "basic mathematics", "a bearer-of-news 2024-10-21"),
        *("Basic thermodynamics", "key-value-store-2024-10-21", "sk-learn-and-its-models"),
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert secrets().hide(text) == text


_PIECES = [
    *("Authorization: Bearer ", "baſic ", "BASIC ", "sk-", "HF_", "key_"),
    *("**", "a1B2c3D4e5F6g7H8"),
]


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=5), max_size=8).map("".join))
def test_the_quick_look_misses_no_key(text: str) -> None:
    assert masking._mask_looks(text) == masking._LOOKS.sub(masking._mask_found, text)


def test_keys_of_others_are_known_by_their_looks() -> None:
    none = Secrets(environment={})
    assert none.hide("sk-proj-0123456789abcdefgh!") == "sk-***!"
    assert none.hide("Authorization: Bearer abc.def-123") == "Authorization: Bearer ***"


def test_a_reply_loses_whole_keys_only() -> None:
    body = b'{"a": "sk-0123456789abcdef sk-01234 application/json My runs hunter22"}'
    assert secrets().hide_echo(body) == body.replace(b"sk-0123456789abcdef", b"***")


@pytest.mark.parametrize(
    "placeholder",
    [
        *("ollama", "EMPTY", "secret", "not-needed", "sk-no-key-required", "token-abc123"),
        *("123456", "000000", "1234567890123456", "12345678901e2345", "not-used-but-wanted"),
    ],
)
def test_a_placeholder_changes_no_reply(placeholder: str) -> None:
    secrets = Secrets(
        {"api_key_env": "K", "headers": {"Authorization": f"Bearer {placeholder}"}},
        {"url": f"https://h/v1?deployment={placeholder}"},
        environment={"K": placeholder, "OTHER_TOKEN": placeholder},
    )
    body = f'{{"a": "with {placeholder} it", "n": 123456, "m": [1234567890123456, 000000]}}'
    assert secrets.hide_echo(body.encode()).decode() == body


def test_a_models_name_in_a_url_changes_no_reply() -> None:
    secrets = Secrets({"url": "https://h/v1?deployment=gpt-4o-mini-2024-07-18"}, environment={})
    assert secrets.hide_echo(b'"gpt-4o-mini-2024-07-18"') == b'"gpt-4o-mini-2024-07-18"'


@pytest.mark.parametrize("key", ["sk-secret-do-not-leak", "correct.horse_battery"])
def test_a_long_key_of_words_is_hidden_whole(key: str) -> None:
    for secrets in (
        Secrets({"api_key_env": "K"}, environment={"K": key}),
        Secrets({"headers": {"Authorization": f"Bearer {key}"}}, environment={}),
        Secrets({"headers": {"api-key": key}}, environment={}),
    ):
        assert secrets.hide(f"Wrong key: {key}. Do not leak") == "Wrong key: ***. Do not leak"
        assert secrets.hide_echo(f'{{"a": "{key} or so"}}'.encode()) == b'{"a": "*** or so"}'


@pytest.mark.parametrize("placeholder", ["ollama", "EMPTY", "sk-no-key-required", "123456"])
def test_a_placeholder_changes_no_report(placeholder: str) -> None:
    secrets = Secrets({"api_key_env": "K"}, environment={"K": placeholder})
    text = f"what is required of {placeholder}: 123456"
    assert secrets.hide(text) == text


def test_a_reply_stays_json_whatever_is_in_a_key() -> None:
    key = 'a","b":"0123456789abcdef'
    secrets = Secrets({"api_key_env": "K"}, environment={"K": key})
    reply = json.dumps({"x": f"see {key}", "a": "", "b": "0123456789abcdef"})
    assert json.loads(secrets.hide_echo(reply.replace(": ", ":").replace(", ", ",").encode())) == {
        "x": "see ***",
        "a": "",
        "b": "0123456789abcdef",
    }


def test_a_keys_plain_start_or_end_is_a_word() -> None:
    secrets = Secrets(
        {"api_key_env": "K"}, environment={"K": "my-batch-0a1b2c3d4e5f6g7h-production"}
    )
    assert secrets.hide("in production, my-batch-size") == "in production, my-batch-size"
    assert secrets.hide("my-batch-0a1b2c3d4e5f6g7h-production!") == "***!"


SETTINGS: dict[str, object] = {
    "answer_key": "target",
    "few_shot_keys": ["a", "b"],
    "keys": {"question": "q"},
    "eos_token": "</s>",
    "prompt_template": "key=value, Bearer X. A basic mathematics test of 2024, see a://b/c?d=e",
}


def test_what_a_benchmark_is_set_to_stays() -> None:
    assert mask_settings(SETTINGS) == SETTINGS


def test_but_keys_in_it_do_not() -> None:
    judge = {
        "base_url": "https://u:pw@host/v1?sig=SIGsig0099aabbcc&x=1&0a1b2c3d4e5f6g7h",
        "headers": {"X-Any": "anyHeader01"},
        "api_key": "abc",
        "keys": ["keyKey0123"],
        "note": "sk-proj-0123456789abcdefgh",
    }
    assert mask_settings({"evaluator": {"judge_model": judge}})["evaluator"]["judge_model"] == {
        "base_url": "https://***@host/v1?sig=***&x=1&***",
        "headers": "***",
        "api_key": "***",
        "keys": ["***"],
        "note": "sk-***",
    }


@pytest.mark.parametrize("part", ["sk-01234", "89abcdef"])
def test_hiding_takes_linear_time(part: str) -> None:
    start = time.process_time()
    secrets().hide("a" * 1_000_000 + part * 10_000 + "=" * 1_000_000)
    assert time.process_time() - start < 3


def test_secrets_show_none_of_theirs() -> None:
    assert "hunter22" not in repr(secrets())
    with pytest.raises(TypeError, match="stay in their process"):
        pickle.dumps(secrets())
