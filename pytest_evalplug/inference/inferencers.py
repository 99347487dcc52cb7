"""What each evaluation mode asks a model, and what it writes to the prediction file.

- ``gen``: the model's reply to the prompt.
- ``ppl``: the choice whose whole text (context and choice) has the lowest perplexity, the rule
  of OpenCompass's PPLInferencer.
- ``ll``: the choice with the highest summed log-probability given the context, the rule of
  lm-evaluation-harness's ``acc``; also normalised by the choice's UTF-8 bytes (its ``acc_bytes``).
  Of a single continuation nothing is chosen: how likely it is, is the result.
"""

from __future__ import annotations

__all__ = ["INFERENCERS", "Inferencer", "Payload"]

import inspect
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.letters import label
from pytest_evalplug.errors import ModelError
from pytest_evalplug.model.base import Choice, GenerationParams, ModelBackend, SequenceLoss
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt, Sample

Payload: TypeAlias = Prompt | LoglikelihoodQuery
Result: TypeAlias = ModelOutput | ModelError
Caller: TypeAlias = Callable[..., Awaitable[Any]]
"""Calls a backend's method wherever it belongs: on the loop, or in the backend's thread."""

T = TypeVar("T")


class Inferencer(Protocol):
    """One evaluation mode."""

    mode: str
    method: str
    """The backend's method that this mode needs."""

    def build(
        self, adapter: DefaultDataAdapter, sample: Sample, subset: str, num_shots: int | None
    ) -> Payload:
        """Return what the model is asked. Raises NotApplicable for a sample without it."""
        ...

    async def infer(
        self, call: Caller, payloads: Sequence[Payload], params: GenerationParams
    ) -> list[Result]:
        """Ask for all payloads at once; one result each, in order."""
        ...

    def shown(self, payload: Payload) -> Any:
        """Return ``origin_prompt`` as it is saved."""
        ...


class GenInferencer:
    """Free generation."""

    mode = "gen"
    method = "generate"

    def build(
        self, adapter: DefaultDataAdapter, sample: Sample, subset: str, num_shots: int | None
    ) -> Payload:
        """Return the prompt: text or messages."""
        return adapter.build_prompt(sample, subset, num_shots)

    async def infer(
        self, call: Caller, payloads: Sequence[Payload], params: GenerationParams
    ) -> list[Result]:
        """Return the replies."""
        outputs = await call(self.method, payloads, params)
        return [ModelOutput(o) if isinstance(o, str) else o for o in outputs]

    def shown(self, payload: Payload) -> Any:
        """Return the prompt as it is."""
        return payload


class _ChoiceInferencer:
    """What ``ppl`` and ``ll`` share: a context and its continuations."""

    def build(
        self, adapter: DefaultDataAdapter, sample: Sample, subset: str, num_shots: int | None
    ) -> Payload:
        """Return the context and one continuation for each choice."""
        return adapter.build_query(sample, subset, num_shots)

    def shown(self, payload: Payload) -> Any:
        """Return the context; where each choice has its own, what is asked."""
        return payload.context if isinstance(payload, LoglikelihoodQuery) else payload


class PPLInferencer(_ChoiceInferencer):
    """Lowest perplexity of the whole text."""

    mode = "ppl"
    method = "sequence_loss"

    async def infer(
        self, call: Caller, payloads: Sequence[Payload], params: GenerationParams
    ) -> list[Result]:
        """Score every choice's whole text in one call.

        In choice order the record gets ``ppl``, ``loss`` (the text's summed negative
        log-likelihood, nats), ``token_len`` and ``total_chr_num`` (its characters).
        """
        queries = [_query(p) for p in payloads]
        texts = [text for query in queries for text in _texts(query)]
        losses: Sequence[SequenceLoss | ModelError] = await call(self.method, texts)
        results: list[Result] = []
        start = 0
        for query in queries:
            own = losses[start : start + len(query.continuations)]
            start += len(query.continuations)
            results.append(self._pick(query, own))
        return results

    @staticmethod
    def _pick(query: LoglikelihoodQuery, losses: Sequence[SequenceLoss | ModelError]) -> Result:
        good = [loss for loss in losses if isinstance(loss, SequenceLoss)]
        if len(good) < len(losses):
            return next(loss for loss in losses if isinstance(loss, ModelError))
        ppl = [_perplexity(loss) for loss in good]
        if (error := _not_finite("perplexity", query, ppl)) is not None:
            return error
        best = min(range(len(ppl)), key=ppl.__getitem__)
        extra = {
            **_texts_asked(query),
            "ppl": ppl,
            "loss": [loss.nll for loss in good],
            "token_len": [loss.num_tokens for loss in good],
            "total_chr_num": [len(text) for text in _texts(query)],
        }
        return _chosen(best, extra, good)


class LLInferencer(_ChoiceInferencer):
    """Highest log-probability of the continuation."""

    mode = "ll"
    method = "loglikelihood"

    async def infer(
        self, call: Caller, payloads: Sequence[Payload], params: GenerationParams
    ) -> list[Result]:
        """Score every continuation given its context.

        In choice order the record gets ``logprobs`` (nats) and ``token_len``. A single
        continuation's also gets ``is_greedy``, ``loss`` (nats), ``ppl`` (by token) and
        ``total_chr_num`` (its characters); its prediction is the text that greedy decoding is
        known to give: the continuation, or nothing.
        """
        queries = [_query(p) for p in payloads]
        parts = [(i, part) for i, query in enumerate(queries) for part in query.each_context()]
        answers: Sequence[Sequence[Choice] | ModelError] = await call(
            self.method, [part for _, part in parts]
        )
        own: list[list[Sequence[Choice] | ModelError]] = [[] for _ in queries]
        for (i, _), answer in zip(parts, answers, strict=True):
            own[i].append(answer)
        return [self._pick(query, _joined(a)) for query, a in zip(queries, own, strict=True)]

    @staticmethod
    def _pick(query: LoglikelihoodQuery, answer: Sequence[Choice] | ModelError) -> Result:
        if isinstance(answer, ModelError):
            return answer
        logprobs = [choice.logprob for choice in answer]
        if (error := _not_finite("log-probability", query, logprobs)) is not None:
            return error
        if len(answer) == 1:
            return _likelihood(query, answer[0])
        sizes = [max(1, len(c.lstrip().encode())) for c in query.continuations]
        per_byte = [logprob / size for logprob, size in zip(logprobs, sizes, strict=True)]
        best = max(range(len(logprobs)), key=logprobs.__getitem__)
        best_norm = max(range(len(per_byte)), key=per_byte.__getitem__)
        extra = {
            **_texts_asked(query),
            "logprobs": logprobs,
            "token_len": [choice.num_tokens for choice in answer],
            "pred_label_norm": label(best_norm),
        }
        return _chosen(best, extra, answer)


INFERENCERS: dict[str, Inferencer] = {
    inferencer.mode: inferencer for inferencer in (GenInferencer(), PPLInferencer(), LLInferencer())
}


def missing_method(backend: ModelBackend, inferencer: Inferencer) -> bool:
    """Tell whether the backend declares or has nothing that this mode could call."""
    if inferencer.mode != "gen" and "loglikelihood" not in backend.capabilities:
        return True
    return not callable(getattr(backend, inferencer.method, None))


def is_async(function: Callable[..., Any]) -> bool:
    """Tell whether calling ``function`` gives something to await."""
    return inspect.iscoroutinefunction(function)


def _query(payload: Payload) -> LoglikelihoodQuery:
    assert isinstance(payload, LoglikelihoodQuery)
    return payload


def _plain(context: Prompt) -> str:
    if isinstance(context, str):
        return context
    return "\n".join(str(message["content"]) for message in context) + "\n"


def _texts(query: LoglikelihoodQuery) -> list[str]:
    """Return each choice's whole text."""
    parts = query.each_context()
    return [f"{_plain(part.context)}{text}" for part in parts for text in part.continuations]


def _texts_asked(query: LoglikelihoodQuery) -> dict[str, Any]:
    """Return the columns that say what was scored."""
    columns: dict[str, Any] = {"continuations": list(query.continuations)}
    return columns | ({"contexts": list(query.contexts)} if query.contexts else {})


def _joined(answers: Sequence[Sequence[Choice] | ModelError]) -> Sequence[Choice] | ModelError:
    """Return the choices of all of a question's contexts, or the first error."""
    choices: list[Choice] = []
    for answer in answers:
        if isinstance(answer, ModelError):
            return answer
        choices += answer
    return choices


def _likelihood(query: LoglikelihoodQuery, choice: Choice) -> ModelOutput:
    """Return what is known of a single continuation, each column a list of one."""
    [text] = query.continuations
    extra = {
        **_texts_asked(query),
        "logprobs": [choice.logprob],
        "is_greedy": [choice.is_greedy],
        "loss": [-choice.logprob],
        "ppl": [_perplexity(SequenceLoss(-choice.logprob, choice.num_tokens))],
        "token_len": [choice.num_tokens],
        "total_chr_num": [len(text)],
    }
    return ModelOutput(text if choice.is_greedy else "", usage=choice.usage, extra=extra)


def _perplexity(loss: SequenceLoss) -> float:
    try:
        return math.exp(loss.nll / loss.num_tokens)
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.nan


def _not_finite(what: str, query: LoglikelihoodQuery, values: Sequence[float]) -> ModelError | None:
    """Return the error for the first value that can't be compared; NaN would win any minimum."""
    for continuation, value in zip(query.continuations, values, strict=True):
        if not math.isfinite(value):
            return ModelError(f"the {what} of {continuation!r} is {value}, not a finite number")
    return None


def _chosen(
    best: int, extra: dict[str, Any], scores: Sequence[Choice | SequenceLoss]
) -> ModelOutput:
    extra = {**extra, "pred_label": label(best)}
    return ModelOutput(label(best), usage=_usage(scores), extra=extra)


def _usage(scores: Sequence[Choice | SequenceLoss]) -> dict[str, int] | None:
    """Return what all choices took together, where the backend says what each took."""
    total: Counter[str] = Counter()
    for score in scores:
        total.update(score.usage or {})
    return dict(total) or None
