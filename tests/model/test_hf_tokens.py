from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.hf_tokens import PromptEncoder
from pytest_evalplug.types import ChatMessage
from tests.model.tiny_models import CHATML, tiny_tokenizer

pytest.importorskip("transformers", reason="pip install 'pytest-evalplug[hf]'")

WITH_BOS = "{{ bos_token }}" + CHATML
USER: list[ChatMessage] = [{"role": "user", "content": "Hi"}]


def encoder(chat_template: bool | None = None, **tokenizer: Any) -> PromptEncoder:
    return PromptEncoder(tiny_tokenizer(**tokenizer), chat_template)


def test_a_template_with_bos_and_a_tokenizer_that_adds_it_give_one() -> None:
    enc = encoder(chat_template=None, template=WITH_BOS)
    for ids in (enc.prompt("Hi"), enc.prompt(USER), enc.whole(USER), enc.pair(USER, " A")[0]):
        assert ids.count(0) == 1
        assert ids[0] == 0


def test_text_that_brings_its_bos_gets_no_second_one() -> None:
    enc = encoder()
    assert enc.prompt("<s>Hi") == enc.prompt("Hi")
    assert enc.whole("<s>Hi") == enc.whole("Hi")
    assert enc.pair("<s>Hi", " A") == enc.pair("Hi", " A")
    assert enc.prompt("Hi").count(0) == 1


@pytest.mark.parametrize("space", [" ", "  ", "\n", " \n"])
def test_white_space_at_the_end_of_the_context_goes_to_the_continuation(space: str) -> None:
    enc = encoder()
    head, tail = enc.pair("Answer:" + space, "Paris")
    assert head == enc.whole("Answer:")
    assert enc.decode(tail) == space + "Paris"
    assert (head, tail) == enc.pair("Answer:", space + "Paris")


def test_a_space_and_its_word_stay_one_token() -> None:
    enc = encoder()
    one = enc.tokenizer.convert_tokens_to_ids("Ġanswer")
    assert one is not None
    assert enc.pair("the ", "answer")[1] == [one]


def test_a_token_that_spans_the_join_follows_the_whole_text() -> None:
    enc = encoder(adds_bos=False)
    assert enc.tokenizer.tokenize("the a") == ["the", "Ġa"]
    assert enc.tokenizer.tokenize("the answer is") == ["the", "Ġanswer", "Ġis"]
    head, tail = enc.pair("the a", "nswer is")
    assert enc.tokenizer.convert_ids_to_tokens(head) == ["the", "Ġa"]
    assert enc.tokenizer.convert_ids_to_tokens(tail) == ["Ġis"]


def test_a_continuation_that_melts_into_the_context_is_still_scored() -> None:
    enc = encoder(adds_bos=False)
    assert enc.tokenizer.tokenize("answ") == ["a", "ns", "w"]
    assert enc.tokenizer.tokenize("answer") == ["a", "nswer"]  # nothing after three tokens
    assert enc.decode(enc.pair("answ", "er")[1]) == "er"


@pytest.mark.parametrize("context", ["", " ", "\n\n"])
def test_an_empty_context_is_the_bos_token(context: str) -> None:
    head, tail = encoder().pair(context, "Paris")
    assert head == [0]
    assert encoder().decode(tail) == context + "Paris"


def test_an_empty_context_without_bos_is_the_eos_token() -> None:
    enc = encoder(adds_bos=False)
    enc.tokenizer.bos_token = None
    assert enc.pair("", "Paris")[0] == [1]
    enc.tokenizer.eos_token = None
    with pytest.raises(ModelError, match="neither BOS nor EOS"):
        enc.pair("", "Paris")


@pytest.mark.parametrize(
    ("option", "in_generate", "in_scores"),
    [(None, True, False), (True, True, True), (False, False, False)],
)
def test_where_text_is_wrapped_as_a_user_message(
    option: bool | None, in_generate: bool, in_scores: bool
) -> None:
    enc = encoder(option, template=CHATML)
    start = enc.tokenizer.convert_tokens_to_ids("<|im_start|>")
    assert (start in enc.prompt("Hi")) is in_generate
    assert (start in enc.pair("Hi", " A")[0]) is in_scores
    assert (start in enc.whole("Hi")) is in_scores
    assert (start in enc.pair(USER, " A")[0]) is in_generate  # messages: unless it is False


def test_the_reply_is_asked_for_in_a_context_but_not_in_a_whole_text() -> None:
    enc = encoder(template=CHATML)
    text = "<|im_start|>user\nHi<|im_end|>\n"
    asked = f"{text}<|im_start|>assistant"
    plain = enc.tokenizer(f"{asked}\n", add_special_tokens=False)["input_ids"]
    assert enc.prompt(USER) == plain
    assert enc.pair(USER, "A")[0] == enc.tokenizer(asked, add_special_tokens=False)["input_ids"]
    assert enc.whole(USER) == enc.tokenizer(text, add_special_tokens=False)["input_ids"]


def test_messages_without_a_template_are_plain_text() -> None:
    enc = encoder()
    messages: list[ChatMessage] = [{"role": "system", "content": "Be brief."}, *USER]
    assert enc.prompt(messages) == enc.prompt("Be brief.\n\nHi")


def test_text_parts_are_joined_and_pictures_refused() -> None:
    enc = encoder(template=CHATML)
    parts = [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]
    assert enc.prompt([{"role": "user", "content": parts}]) == enc.prompt(USER)
    picture = [{"type": "image_url", "image_url": {"url": "x"}}]
    with pytest.raises(ModelError, match="not text"):
        enc.prompt([{"role": "user", "content": picture}])


def test_a_prompt_that_the_template_refuses_is_a_model_error() -> None:
    refusing = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    enc = encoder(template=refusing + CHATML)
    with pytest.raises(ModelError, match="no system"):
        enc.prompt([{"role": "system", "content": "x"}])


def test_a_lone_surrogate_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="tokenized"):
        encoder().prompt("\ud800")


def test_braces_and_percent_signs_reach_the_tokenizer_untouched() -> None:
    enc = encoder(template=CHATML)
    text = "{x} {{y}} %s $z {% z %}"
    assert text in enc.decode(enc.prompt(text))


def test_every_token_that_ends_a_turn_is_found() -> None:
    template = CHATML.replace("<|im_end|>", "<|over|>")
    enc = encoder(template=template, end_tokens=("<|over|>", "<|eot_id|>", "<|pad|>"))
    ids = {text: enc.tokenizer.convert_tokens_to_ids(text) for text in ("<|over|>", "<|eot_id|>")}
    assert enc.end_ids([300, 301], 302, None) == sorted([1, *ids.values(), 300, 301, 302])


def test_without_a_template_the_named_end_tokens_remain() -> None:
    enc = encoder(end_tokens=("<|im_end|>", "<|over|>"))
    end = enc.tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert enc.end_ids(None) == [1, end]


def test_tokens_with_an_end_name_that_are_ordinary_text_do_not_end_a_reply() -> None:
    tokenizer = tiny_tokenizer(end_tokens=())
    tokenizer.add_tokens(["<|end|>"])
    assert PromptEncoder(tokenizer).end_ids() == [1]
