"""Prompts to token ids: chat templates, the join of context and continuation, end tokens."""

from __future__ import annotations

__all__ = ["PromptEncoder"]

from collections.abc import Iterable
from typing import Any

from pytest_evalplug.errors import ModelError
from pytest_evalplug.types import ChatMessage, Prompt

# Special tokens with one of these names end a text or a turn in every model that has them.
_END_NAMES = {
    *("<|endoftext|>", "<|end_of_text|>", "<|end▁of▁sentence|>", "</s>", "<eos>", "<|return|>"),
    *("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|eot|>"),
    *("<end_of_turn>", "<|end_of_turn|>", "<|endofturn|>"),
}
_PROBE = "evalplug-probe"


class PromptEncoder:
    """A tokenizer and the rules by which a prompt becomes token ids.

    ``chat_template``: ``True`` wraps text as one user message everywhere, ``False`` never uses
    the template, ``None`` wraps the text of ``generate`` but not what is scored. Messages use the
    template unless it is ``False``; a model without one gets their contents, joined by blank
    lines. All methods raise ModelError for a prompt that can't be encoded (a lone surrogate, a
    picture, roles that the template refuses).
    """

    def __init__(self, tokenizer: Any, chat_template: bool | None = None) -> None:
        self.tokenizer = tokenizer
        self._has_template = bool(tokenizer.chat_template)
        self._wrap_generate = chat_template is not False and self._has_template
        self._wrap_scored = chat_template is True and self._has_template
        self._use_messages = self._wrap_generate

    def prompt(self, prompt: Prompt) -> list[int]:
        """Return what ``generate`` gives to the model."""
        return self._ids(*self._text(prompt, self._wrap_generate, reply=True)) or self._prefix()

    def whole(self, text: Prompt) -> list[int]:
        """Return a whole text that is scored; a conversation is taken as it stands."""
        return self._ids(*self._text(text, self._wrap_scored, reply=False))

    def pair(self, context: Prompt, continuation: str) -> tuple[list[int], list[int]]:
        """Return the ids of a context and of its continuation, by lm-evaluation-harness's rule.

        White space at the end of the context goes to the continuation. The continuation's tokens
        are those of the whole text after as many as the context has alone, so that a space and
        the word after it stay one token. An empty context is the BOS (or else EOS) token. Where a
        token spans the join so that nothing would be left (the harness fails there), the
        continuation is encoded by itself.
        """
        text, special = self._text(context, self._wrap_scored, reply=True)
        stripped = text.rstrip()
        moved = text[len(stripped) :] + continuation
        if not stripped:
            prefix, tail = self._prefix(), self._ids(moved, special=False)
            return prefix, tail[1:] if tail[:1] == prefix else tail
        head = self._ids(stripped, special)
        tail = self._ids(stripped + moved, special)[len(head) :]
        return head, tail or self._ids(moved, special=False)

    def end_ids(self, *configured: Any) -> list[int]:
        """Return every token that ends a reply, sorted.

        They are the ``configured`` ids (each an id, a list, or None), the tokenizer's EOS, the
        special tokens that end a text or turn by their name, and the one that the chat template
        puts after an assistant's message.
        """
        ids = {self.tokenizer.eos_token_id}
        for value in configured:
            ids.update(value if isinstance(value, (list, tuple)) else [value])
        special = {
            str(token): id_
            for id_, token in self.tokenizer.added_tokens_decoder.items()
            if token.special
        }
        ids.update(special[name] for name in _END_NAMES & special.keys())
        after = self._after_reply()
        ids.update(id_ for text, id_ in special.items() if after.startswith(text))
        return sorted(ids - {None})

    def special_ids(self, texts: Iterable[str]) -> list[int]:
        """Return the ids of those texts that are one added token, which decoding may drop."""
        added = self.tokenizer.get_added_vocab()
        return [added[text] for text in texts if text in added]

    def decode(self, ids: list[int]) -> str:
        """Return the text of generated ids, without special tokens."""
        text: str = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return text

    def _text(self, prompt: Prompt, wrap: bool, *, reply: bool) -> tuple[str, bool]:
        """Return the text, and whether the tokenizer adds its own special tokens to it."""
        if isinstance(prompt, str):
            if not wrap:
                return prompt, True
            prompt = [{"role": "user", "content": prompt}]
        if not self._use_messages:
            return "\n\n".join(_content(message) for message in prompt), True
        return self._render(prompt, reply=reply), False

    def _render(self, messages: list[ChatMessage], *, reply: bool) -> str:
        plain = [{**message, "content": _content(message)} for message in messages]
        try:
            text: str = self.tokenizer.apply_chat_template(
                plain, add_generation_prompt=reply, tokenize=False
            )
        except Exception as error:  # a template may raise anything
            raise ModelError(f"the model's chat template refuses the prompt ({error})") from error
        return text

    def _ids(self, text: str, special: bool) -> list[int]:
        bos = self.tokenizer.bos_token
        if bos and text.startswith(bos):
            special = False  # the text brings its own; two of them change every score
        try:
            # verbose=False: "longer than the maximum" is our own TooLongError
            encoded = self.tokenizer(text, add_special_tokens=special, verbose=False)
        except (TypeError, UnicodeError) as error:
            raise ModelError(f"the prompt can't be tokenized ({error})") from error
        ids: list[int] = encoded["input_ids"]
        return ids

    def _prefix(self) -> list[int]:
        tokenizer = self.tokenizer
        bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
        prefix = bos if bos is not None else eos
        if prefix is None:
            raise ModelError("the context is empty and the tokenizer has neither BOS nor EOS")
        return [prefix]

    def _after_reply(self) -> str:
        """Return what the template puts after an assistant's message."""
        if not self._use_messages:
            return ""
        messages: list[ChatMessage] = [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": _PROBE},
        ]
        try:
            return self._render(messages, reply=False).partition(_PROBE)[2].lstrip()
        except ModelError:
            return ""


def _content(message: ChatMessage) -> str:
    content = message["content"]
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = [part.get("text") for part in content]
    if None in parts:
        raise ModelError("the prompt holds a part that is not text; this backend reads text only")
    return "".join(parts)
