"""What a model backend is: one small protocol, with its capabilities declared.

Any object that follows :class:`ModelBackend` can be returned by a fixture named
``model_backend``; it need not subclass anything.
"""

from __future__ import annotations

__all__ = [
    "Capability",
    "Choice",
    "GenerationParams",
    "LoglikelihoodQuery",
    "ModelBackend",
    "SequenceLoss",
]

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from pytest_evalplug.errors import ModelError
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput, Prompt

Capability: TypeAlias = Literal["generate", "loglikelihood"]


@dataclass(frozen=True, slots=True)
class GenerationParams:
    """How text is generated. ``temperature=0`` is greedy decoding."""

    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """Return plain JSON types, for the prediction's key."""
        return {**asdict(self), "stop": list(self.stop)}


@dataclass(frozen=True, slots=True)
class Choice:
    """One continuation's summed natural-log probability over its ``num_tokens`` tokens.

    ``usage`` has the counts that a request for it took, as a reply's does.
    """

    logprob: float
    num_tokens: int
    is_greedy: bool = False
    usage: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class SequenceLoss:
    """A whole text's summed negative log-likelihood (nats), and the tokens to divide it by."""

    nll: float
    num_tokens: int
    usage: Mapping[str, int] | None = None


@runtime_checkable
class ModelBackend(Protocol):
    """A language model.

    ``generate`` gets at most ``batch_size`` prompts a call and ``concurrency`` calls may be in
    flight at once; both methods may be plain functions (run in a worker thread, one at a time if
    ``concurrency`` is 1) or coroutine functions. A prompt that can't be answered yields a
    ``ModelError`` *in its place* in the returned list; raising fails the whole batch, and
    raising ``FatalModelError`` stops the run.

    Optional attributes and methods, used if present:

    - ``batch_size: int = 1``, ``concurrency: int = 1``
    - ``fingerprint: str``, what identifies the weights and settings, for ``--reuse``
    - ``loglikelihood(queries) -> list[list[Choice] | ModelError]`` and
      ``sequence_loss(texts) -> list[SequenceLoss | ModelError]``, where ``capabilities`` has
      ``"loglikelihood"``. A continuation of the empty context may be longer than what the model
      reads at once: a document, whose log-probability is that of its parts, each after what comes
      before it
    - ``limit(requests: int)``, called with this process's share of ``concurrency``, where one call
      makes several requests
    - ``share_limits(path)``, called before the first request: what all processes of the run must
      keep together, such as a rate per minute, may be in this file
    - ``send_no_more()``, called on the event loop when the run is stopped, for good: calls that
      wait to send a request, or to send it again, end with CancelledError; what is under way may
      still be answered
    - ``close()``, called once at the end
    """

    name: str
    capabilities: frozenset[Capability]

    def generate(
        self, prompts: Sequence[Prompt], params: GenerationParams
    ) -> (
        Sequence[ModelOutput | str | ModelError]
        | Awaitable[Sequence[ModelOutput | str | ModelError]]
    ):
        """Return one output per prompt, in order; a bare string is a completion."""
        ...
