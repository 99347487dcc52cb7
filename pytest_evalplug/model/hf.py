"""A causal language model in this process, through torch and transformers."""

from __future__ import annotations

__all__ = ["HFBackend"]

import gc
import inspect
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from pytest_evalplug.errors import ConfigError, ModelError, TooLongError
from pytest_evalplug.model.base import Capability, Choice, GenerationParams, SequenceLoss
from pytest_evalplug.model.hf_batches import Batcher
from pytest_evalplug.model.hf_decode import Decoder, can_decode
from pytest_evalplug.model.hf_generate import generate_batch
from pytest_evalplug.model.hf_loading import load_model
from pytest_evalplug.model.hf_prefix import PrefixCache
from pytest_evalplug.model.hf_reply import Ending, Sampler
from pytest_evalplug.model.hf_tokens import PromptEncoder
from pytest_evalplug.model.hf_tree import TreeScorer, can_share
from pytest_evalplug.model.scored import Scored
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt

# Scores of a batch hold rows x positions x vocabulary float32 logits; more is split.
_LOGITS_BYTES = 2 * 1024**3

E = TypeVar("E")
R = TypeVar("R")
T = TypeVar("T")


class HFBackend:
    """Implements :class:`~pytest_evalplug.model.base.ModelBackend` with transformers.

    Raises ConfigError if the model can't be had. One call at a time (``concurrency`` 1). A score
    depends on its own text only: rows are padded on the left with a mask and positions that
    ignore the padding, and nothing is ever cut off; what does not fit is a TooLongError in its
    place. Sampling settings that come with a checkpoint are not used: what ``GenerationParams``
    says is all that happens.
    """

    capabilities: frozenset[Capability] = HFOptions.capabilities
    concurrency = 1

    def __init__(self, name: str, options: HFOptions, *, fingerprint: str) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.batch_size = options.batch_size
        self._batcher = Batcher(options.batch_size)
        self._model, tokenizer = load_model(name, options)
        if options.chat_template and not tokenizer.chat_template:
            raise ConfigError(
                "chat_template is true, but the tokenizer has none",
                where=f"model {name!r}",
                fix="Remove the option, or name a tokenizer that has one",
            )
        self._encoder = PromptEncoder(tokenizer, options.chat_template)
        self._end_ids = self._encoder.end_ids(
            self._model.config.eos_token_id,
            getattr(self._model.generation_config, "eos_token_id", None),
        )
        self._pad_id = next(
            (i for i in (tokenizer.pad_token_id, *self._end_ids) if i is not None), 0
        )
        self._max_length = options.max_length or _context_length(self._model.config, tokenizer)
        self._model.generation_config = type(self._model.generation_config)()
        self._forward = frozenset(inspect.signature(self._model.forward).parameters)

    def generate(
        self, prompts: Sequence[Prompt], params: GenerationParams
    ) -> list[ModelOutput | ModelError]:
        """Return a completion per prompt, cut before the first stop string.

        A prompt is too long if it leaves no room for ``params.max_tokens``. ``finish_reason`` is
        ``"stop"`` after an end token or a stop string, else ``"length"``. With a temperature,
        each prompt draws from its own generator, seeded by ``params.seed`` and its tokens: the
        batch it happens to be in changes nothing. Of more prompts than ``batch_size`` the first
        are written, and each of the others as soon as a reply is over.
        """
        ending = Ending(self._encoder, params, self._end_ids)
        sampler = Sampler(params, self._model.device)

        def encode(prompt: Prompt) -> list[int]:
            return self._fitting(self._encoder.prompt(prompt), params.max_tokens)

        def compute(rows: list[list[int]]) -> list[ModelOutput]:
            return generate_batch(self._model, self._pad(rows), rows, ending, sampler)

        def compute_all(rows: list[list[int]]) -> list[ModelOutput | ModelError]:
            if self._decoder is not None:
                return self._decoder.write(rows, ending, sampler)
            return self._batcher.run(rows, compute, length=len)

        return _map_valid(prompts, encode, compute_all)

    def loglikelihood(
        self, queries: Sequence[LoglikelihoodQuery]
    ) -> list[list[Choice] | ModelError]:
        """Return each continuation's summed log-probability (nats) after its context.

        Tokens are split as lm-evaluation-harness does (see :meth:`PromptEncoder.pair`);
        ``is_greedy`` says that each of them is the most probable one. Without a context a
        continuation may have any length (see :meth:`_windows`).
        """

        def encode(query: LoglikelihoodQuery) -> list[list[Scored]]:
            return [self._continuation(query.context, text) for text in query.continuations]

        def compute(queries: list[list[list[Scored]]]) -> list[list[Choice] | ModelError]:
            rows = [row for query in queries for windows in query for row in windows]
            scores = iter(self._score(rows))
            return [
                _all_or_error([_joined([next(scores) for _ in windows]) for windows in query])
                for query in queries
            ]

        return _map_valid(queries, encode, compute)

    def sequence_loss(self, texts: Sequence[Prompt]) -> list[SequenceLoss | ModelError]:
        """Return each text's loss, for OpenCompass's perplexity ``nll / num_tokens``.

        Its rule (``HuggingFace.get_ppl``, one text at a time): the negative log-likelihoods of
        all tokens but the first, which nothing predicts, are summed, and the sum is divided by
        the number of *all* tokens, the first and the tokenizer's own BOS included. So
        ``num_tokens`` is one more than the tokens that were predicted. What differs: OpenCompass
        leaves out tokens equal to the pad token, also where the text itself has them; where it
        pads a batch on the left it also counts the first token as predicted from a pad; and it
        cuts off what is too long. Here a text's loss is the same in every batch, and a text that
        is too long is a TooLongError.
        """

        def encode(text: Prompt) -> Scored:
            ids = self._encoder.whole(text)
            if not ids:
                raise ModelError("the text is empty: it has no loss")
            self._fitting(ids)
            return Scored(tuple(ids[:-1]), tuple(ids[1:]))

        def compute(rows: list[Scored]) -> list[SequenceLoss | ModelError]:
            return [
                score
                if isinstance(score, ModelError)
                else SequenceLoss(abs(score.logprob), score.num_tokens + 1)
                for score in self._score(rows)
            ]

        return _map_valid(texts, encode, compute)

    def close(self) -> None:
        """Let go of the model and its memory."""
        import torch

        if "_tree" in vars(self) and self._tree is not None:
            self._tree.close()
        vars(self).pop("_decoder", None)
        self._model = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _continuation(self, context: Prompt, text: str) -> list[Scored]:
        head, tail = self._encoder.pair(context, text)
        if not tail:
            raise ModelError(f"the continuation {text!r} has no token")
        if context == "" and len(head) == 1:  # a chat template makes more of it
            return self._windows([*head, *tail])
        return [Scored(tuple(self._fitting([*head, *tail[:-1]])), tuple(tail))]

    def _windows(self, ids: list[int]) -> list[Scored]:
        """Return windows in which each token but the first, the BOS, is predicted once.

        They are as long as the context and follow one another; the last one, which predicts what
        is left, is as long and reaches back. So lm-evaluation-harness's ``loglikelihood_rolling``.
        """
        length = self._max_length or len(ids)
        ends = [*range(length, len(ids) - 1, length), len(ids) - 1]
        starts = [0, *ends[:-1]]
        return [
            Scored(tuple(ids[max(0, end - length) : end]), tuple(ids[start + 1 : end + 1]))
            for start, end in zip(starts, ends, strict=True)
        ]

    def _fitting(self, ids: list[int], room: int = 0) -> list[int]:
        if self._max_length is not None and len(ids) + room > self._max_length:
            wanted = f" and max_tokens={room} do" if room else " does"
            raise TooLongError(
                f"a prompt of {len(ids)} tokens{wanted} not fit the context of "
                f"{self._max_length} tokens",
                where=f"model {self.name!r}",
                fix="Use fewer shots or a smaller max_tokens" if room else "Use fewer shots",
            )
        return ids

    @cached_property
    def _tree(self) -> TreeScorer | None:
        """What scores rows that begin alike; None where the model can't."""
        if not can_share(self._model):
            return None
        return TreeScorer(self._model, self._max_logits, self._prefixes)

    @cached_property
    def _decoder(self) -> Decoder | None:
        """What writes replies step by step; None where the model can't be stepped."""
        if self._tree is None or not can_decode(self._model):
            return None
        return Decoder(self._model, self._prefixes, self._batcher)

    @cached_property
    def _prefixes(self) -> PrefixCache:
        return PrefixCache(self._model)

    @cached_property
    def _max_logits(self) -> int:
        """The most positions whose logits fit the memory set aside for them."""
        return _LOGITS_BYTES // (4 * int(self._model.config.get_text_config().vocab_size))

    def _score(self, rows: Sequence[Scored]) -> list[Choice | ModelError]:
        if self._tree is not None:
            return self._tree.score(rows)
        return self._score_rows(rows)

    def _score_rows(self, rows: Sequence[Scored]) -> list[Choice | ModelError]:
        """Score targets in padded rows; rows with the same input share one forward pass."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, row in enumerate(rows):
            groups.setdefault(row.ids, []).append(i)

        def compute(batch: list[list[int]]) -> list[list[Choice]]:
            return self._score_batch([[rows[i] for i in group] for group in batch])

        results: list[Choice | ModelError] = [ModelError("not computed")] * len(rows)
        members = list(groups.values())
        scored = self._batcher.run(
            members,
            compute,
            length=lambda group: len(rows[group[0]].ids),
            cost=lambda group: max(len(rows[i].target) for i in group),
            max_cost=self._max_logits,
        )
        for group, scores in zip(members, scored, strict=True):
            for n, i in enumerate(group):
                results[i] = scores if isinstance(scores, ModelError) else scores[n]
        return results

    def _score_batch(self, groups: list[list[Scored]]) -> list[list[Choice]]:
        import torch

        keep = max(len(row.target) for group in groups for row in group)
        if keep == 0:  # texts of one token: nothing is predicted
            return [[Choice(0.0, 0, True)] * len(group) for group in groups]
        inputs = self._pad([list(group[0].ids) for group in groups])
        with torch.inference_mode():
            logits = self._logits(inputs, keep)
            return [
                [_choice(of_row, row.target) for row in group]
                for of_row, group in zip(logits, groups, strict=True)
            ]

    def _logits(self, inputs: dict[str, Any], keep: int) -> Any:
        """Return the logits of the last ``keep`` positions, rows x keep x vocabulary."""
        if "position_ids" in self._forward:
            positions = inputs["attention_mask"].cumsum(-1) - 1
            inputs = {**inputs, "position_ids": positions.clamp(min=0)}
        if "logits_to_keep" in self._forward:
            inputs = {**inputs, "logits_to_keep": keep}
        return self._model(**inputs, use_cache=False).logits[:, -keep:]

    def _pad(self, rows: list[list[int]]) -> dict[str, Any]:
        """Return ``input_ids`` and ``attention_mask``, padded on the left, on the device.

        The mask comes from the lengths: a model may have no pad token, or use one that texts hold.
        """
        import torch

        width = max(map(len, rows))
        ids = [[self._pad_id] * (width - len(row)) + row for row in rows]
        mask = [[0] * (width - len(row)) + [1] * len(row) for row in rows]
        device = self._model.device
        return {
            "input_ids": torch.tensor(ids, device=device),
            "attention_mask": torch.tensor(mask, device=device),
        }


def _choice(logits: Any, target: tuple[int, ...]) -> Choice:
    """Return the score of ``target``, predicted by the last of ``logits`` (positions x vocab)."""
    import torch

    if not target:
        return Choice(0.0, 0, True)
    logprobs = torch.log_softmax(logits[-len(target) :].float(), dim=-1)
    tokens = torch.tensor(target, device=logits.device)
    picked = logprobs.gather(-1, tokens.unsqueeze(-1)).double().sum()
    greedy = (logprobs.argmax(-1) == tokens).all()
    return Choice(float(picked), len(target), bool(greedy))


def _joined(windows: list[Choice | ModelError]) -> Choice | ModelError:
    """Return the score of a text from those of its windows, or the first error."""
    scores = _all_or_error(windows)
    if isinstance(scores, ModelError):
        return scores
    return Choice(
        sum(score.logprob for score in scores),
        sum(score.num_tokens for score in scores),
        all(score.is_greedy for score in scores),
    )


def _all_or_error(scores: list[Choice | ModelError]) -> list[Choice] | ModelError:
    choices = []
    for score in scores:
        if isinstance(score, ModelError):
            return score
        choices.append(score)
    return choices


def _map_valid(
    items: Sequence[T],
    encode: Callable[[T], E],
    compute: Callable[[list[E]], Sequence[R | ModelError]],
) -> list[R | ModelError]:
    """Return ``compute`` of the items that can be encoded, and the others' errors in place."""
    results: list[R | ModelError] = []
    valid: list[tuple[int, E]] = []
    for i, item in enumerate(items):
        try:
            valid.append((i, encode(item)))
            results.append(_UNSET)
        except ModelError as error:
            results.append(error)
    computed = compute([encoded for _, encoded in valid]) if valid else []
    for (i, _), result in zip(valid, computed, strict=True):
        results[i] = result
    return results


_UNSET = ModelError("not computed")


def _context_length(config: Any, tokenizer: Any) -> int | None:
    length = getattr(config.get_text_config(), "max_position_embeddings", None)
    if length is not None:
        return int(length)
    limit: int = tokenizer.model_max_length
    return limit if limit < 10**9 else None  # transformers writes 1e30 for "unknown"
