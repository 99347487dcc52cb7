"""The HF backend with a real model: SmolLM2-135M-Instruct."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.model.base import Choice, GenerationParams, LoglikelihoodQuery, SequenceLoss
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.types import ModelOutput
from tests.model.parity_questions import Question, first_questions

pytestmark = pytest.mark.real_model

PARITY = json.loads(Path(__file__).with_name("lm_eval_parity.json").read_text(encoding="utf-8"))
CAPITAL = LoglikelihoodQuery("The capital of France is", (" Paris", " London", " Rome"))


def scores(backend: HFBackend, *queries: LoglikelihoodQuery) -> list[list[Choice]]:
    results = backend.loglikelihood(queries)
    assert all(isinstance(result, list) for result in results), results
    return [result for result in results if isinstance(result, list)]


def test_loglikelihoods_agree_with_lm_evaluation_harness(
    smollm2_backend: HFBackend, data_dir: Path
) -> None:
    rows = PARITY["questions"][:8]  # the rest says no more, and takes its time
    questions = first_questions(data_dir, len(rows))
    assert [question.index for question in questions] == [row["index"] for row in rows]
    ours = scores(
        smollm2_backend, *(LoglikelihoodQuery(q.context, q.continuations) for q in questions)
    )
    for row, choices in zip(rows, ours, strict=True):
        logprobs = [choice.logprob for choice in choices]
        assert logprobs == pytest.approx(row["logprobs"], abs=1e-3), row["index"]
        assert [choice.is_greedy for choice in choices] == row["greedy"], row["index"]
    theirs = _right(questions, [row["logprobs"] for row in rows])
    assert _right(questions, [[c.logprob for c in choices] for choices in ours]) == theirs
    assert 0 < theirs < len(rows)


def _right(questions: list[Question], logprobs: list[list[float]]) -> int:
    return sum(
        question.gold == values.index(max(values))
        for question, values in zip(questions, logprobs, strict=True)
    )


def test_padding_changes_nothing(smollm2_backend: HFBackend) -> None:
    long = LoglikelihoodQuery("Here is a list of cities. " * 12, (" Paris", " London is a city"))
    together = scores(smollm2_backend, CAPITAL, long)
    for one, other in zip(
        together, [scores(smollm2_backend, query)[0] for query in (CAPITAL, long)], strict=True
    ):
        assert [c.logprob for c in one] == pytest.approx([c.logprob for c in other], abs=1e-4)
    texts = ["Paris is in France.", long.context]
    for text, loss in zip(texts, smollm2_backend.sequence_loss(texts), strict=True):
        [alone] = smollm2_backend.sequence_loss([text])
        assert isinstance(alone, SequenceLoss)
        assert isinstance(loss, SequenceLoss)
        assert loss.nll == pytest.approx(alone.nll, abs=1e-4)
        assert loss.num_tokens == alone.num_tokens


def test_it_answers_a_question_and_stops(smollm2_backend: HFBackend) -> None:
    [answer, cut] = smollm2_backend.generate(
        ["What is the capital of France?", "Write a long story."], GenerationParams(max_tokens=12)
    )
    assert isinstance(answer, ModelOutput)
    assert isinstance(cut, ModelOutput)
    assert answer.completion == "The capital of France is Paris."
    assert (answer.finish_reason, cut.finish_reason) == ("stop", "length")


def test_the_gguf_file_of_the_package_is_the_same_model(
    smollm2_backend: HFBackend, capfd: pytest.CaptureFixture[str]
) -> None:
    backend = resolve_model("smollm2", {}).create()
    assert isinstance(backend, HFBackend)
    [packed], [exported] = scores(backend, CAPITAL), scores(smollm2_backend, CAPITAL)
    backend.close()
    assert capfd.readouterr() == ("", "")
    assert [c.logprob for c in packed] == pytest.approx([c.logprob for c in exported], abs=1e-3)
    assert [c.is_greedy for c in packed] == [True, False, False]
