from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from pytest_evalplug.errors import ModelError
from pytest_evalplug.inference.inferencers import (
    INFERENCERS,
    GenInferencer,
    LLInferencer,
    PPLInferencer,
    missing_method,
)
from pytest_evalplug.model.base import Choice, GenerationParams, SequenceLoss
from pytest_evalplug.types import LoglikelihoodQuery, ModelOutput

from .conftest import Backend

PARAMS = GenerationParams()
QUERY = LoglikelihoodQuery("Q:", (" a", " bb", " ccc"))


def infer(inferencer: Any, payloads: list[Any], answer: Any) -> tuple[list[Any], list[Any]]:
    """Return the results, and what the backend was called with."""
    calls: list[Any] = []

    async def call(method: str, *args: Any) -> Any:
        calls.append((method, *args))
        return answer

    return asyncio.run(inferencer.infer(call, payloads, PARAMS)), calls


def test_modes() -> None:
    assert {mode: inferencer.mode for mode, inferencer in INFERENCERS.items()} == {
        "gen": "gen", "ppl": "ppl", "ll": "ll"
    }  # fmt: skip


def test_a_bare_string_is_a_completion() -> None:
    failed = ModelError("no")
    outputs, calls = infer(GenInferencer(), ["p", "q", "r"], ["one", ModelOutput("two"), failed])
    assert outputs == [ModelOutput("one"), ModelOutput("two"), failed]
    assert calls == [("generate", ["p", "q", "r"], PARAMS)]


def test_ppl_takes_the_lowest_perplexity_of_the_whole_text() -> None:
    # summed losses would choose the first, perplexity a token the second
    losses = [SequenceLoss(4.0, 2), SequenceLoss(5.0, 10), SequenceLoss(6.0, 3)]
    (output,), calls = infer(PPLInferencer(), [QUERY], losses)
    assert calls == [("sequence_loss", ["Q: a", "Q: bb", "Q: ccc"])]
    assert output.completion == output.extra["pred_label"] == "B"
    assert output.extra["ppl"] == [math.exp(2), math.exp(0.5), math.exp(2)]
    assert output.extra["token_len"] == [2, 10, 3]
    assert output.extra["loss"] == [4.0, 5.0, 6.0]
    assert output.extra["total_chr_num"] == [4, 5, 6]


def test_ll_takes_the_highest_sum_and_reports_it_by_bytes() -> None:
    choices = [Choice(-2.0, 1), Choice(-2.5, 1), Choice(-4.0, 2)]
    (output,), _ = infer(LLInferencer(), [QUERY], [choices])
    assert output.completion == "A"
    assert output.extra["pred_label_norm"] == "B"  # -2/1, -2.5/2, -4/3: the space does not count
    assert output.extra["logprobs"] == [-2.0, -2.5, -4.0]


def test_ll_measures_a_single_continuation() -> None:
    query = LoglikelihoodQuery("Q:", (" answer",))
    results, _ = infer(
        LLInferencer(), [query, query], [[Choice(-3.0, 2, True)], [Choice(-1.0, 2, False)]]
    )
    assert [result.completion for result in results] == [" answer", ""]
    assert results[0].extra == {
        "continuations": [" answer"],
        "logprobs": [-3.0],
        "is_greedy": [True],
        "loss": [3.0],
        "ppl": [math.exp(1.5)],
        "token_len": [2],
        "total_chr_num": [7],
    }
    (error,), _ = infer(LLInferencer(), [query], [[Choice(-math.inf, 2)]])
    assert "the log-probability of ' answer' is -inf" in str(error)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", range(3))
def test_a_likelihood_that_is_no_number_fails_its_own_sample(value: float, place: int) -> None:
    logprobs, nlls = [-3.0, -2.0, -1.0], [3.0, 2.0, 1.0]
    good = [Choice(logprob, 1) for logprob in logprobs]
    bad = [*good[:place], Choice(value, 1), *good[place + 1 :]]
    results, _ = infer(LLInferencer(), [QUERY, QUERY], [bad, good])
    assert str(results[0]) == (
        f"the log-probability of {QUERY.continuations[place]!r} is {value}, not a finite number"
    )
    assert results[1].completion == "C"
    losses = [SequenceLoss(nll, 1) for nll in nlls]
    broken = [*losses[:place], SequenceLoss(abs(value), 1), *losses[place + 1 :]]
    results, _ = infer(PPLInferencer(), [QUERY, QUERY], [*broken, *losses])
    assert isinstance(results[0], ModelError)
    assert "not a finite number" in str(results[0])
    assert results[1].completion == "C"


@pytest.mark.parametrize("loss", [SequenceLoss(5000.0, 1), SequenceLoss(0.0, 0)])
def test_a_perplexity_that_can_t_be_computed_fails_its_own_sample(loss: SequenceLoss) -> None:
    good = [SequenceLoss(1.0, 1)] * 3
    results, _ = infer(PPLInferencer(), [QUERY, QUERY], [loss, *good[1:], *good])
    assert isinstance(results[0], ModelError)
    assert "the perplexity of ' a' is" in str(results[0])
    assert results[1].completion == "A"


def test_bytes_are_those_of_utf_8() -> None:
    query = LoglikelihoodQuery("Q:", (" é", " e"))
    (output,), _ = infer(LLInferencer(), [query], [[Choice(-3.0, 1), Choice(-2.0, 1)]])
    assert output.extra["pred_label_norm"] == "A"  # -3/2 against -2/1


def test_one_query_s_error_stays_its_own() -> None:
    failed = ModelError("too long")
    losses: list[Any] = [SequenceLoss(1.0, 1), failed, SequenceLoss(1.0, 1)]
    results, _ = infer(PPLInferencer(), [QUERY, QUERY], [*losses, *[SequenceLoss(1.0, 1)] * 3])
    assert results[0] is failed
    assert results[1].completion == "A"
    results, _ = infer(LLInferencer(), [QUERY, QUERY], [failed, [Choice(-1.0, 1)] * 3])
    assert results[0] is failed
    assert results[1].completion == "A"


def test_a_conversation_is_plain_text_for_ppl() -> None:
    query = LoglikelihoodQuery(
        [{"role": "system", "content": "S"}, {"role": "user", "content": "Q:"}], (" a",)
    )
    _, calls = infer(PPLInferencer(), [query], [SequenceLoss(1.0, 1)])
    assert calls == [("sequence_loss", ["S\nQ:\n a"])]


OWN = LoglikelihoodQuery("It hit the _", (" red.", " red."), ("It hit the car", "It hit the tree"))


def test_each_choice_may_have_a_context_of_its_own() -> None:
    answers = [[Choice(-1.0, 1)] * 3, [Choice(-3.0, 2)], [Choice(-2.0, 2)]]
    (first, second), calls = infer(LLInferencer(), [QUERY, OWN], answers)
    asked = [
        LoglikelihoodQuery("It hit the car", (" red.",)),
        LoglikelihoodQuery("It hit the tree", (" red.",)),
    ]
    assert calls == [("loglikelihood", [QUERY, *asked])]
    assert (first.completion, second.completion) == ("A", "B")
    assert second.extra["logprobs"] == [-3.0, -2.0]
    assert second.extra["contexts"] == ["It hit the car", "It hit the tree"]
    assert "contexts" not in first.extra
    assert LLInferencer().shown(OWN) == "It hit the _"


def test_an_error_in_one_context_is_the_whole_question_s() -> None:
    failed = ModelError("too long")
    (own, other), _ = infer(
        LLInferencer(), [OWN, QUERY], [[Choice(-1.0, 1)], failed, [Choice(-1.0, 1)] * 3]
    )
    assert own is failed
    assert other.completion == "A"


def test_contexts_of_their_own_are_read_whole_for_ppl() -> None:
    (output,), calls = infer(PPLInferencer(), [OWN], [SequenceLoss(2.0, 2), SequenceLoss(1.0, 2)])
    assert calls == [("sequence_loss", ["It hit the car red.", "It hit the tree red."])]
    assert output.completion == "B"


def test_what_a_backend_lacks() -> None:
    backend = Backend()
    assert not any(missing_method(backend, inferencer) for inferencer in INFERENCERS.values())
    backend.capabilities = frozenset({"generate"})
    assert [mode for mode, i in INFERENCERS.items() if missing_method(backend, i)] == ["ppl", "ll"]
