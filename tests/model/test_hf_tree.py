from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model import hf_prefix, hf_tree
from pytest_evalplug.model.base import Choice
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.hf_tree import TreeScorer, can_share
from pytest_evalplug.model.scored import Scored
from pytest_evalplug.model.spec import HFOptions
from tests.model.tiny_models import tiny_model

torch = pytest.importorskip("torch", reason="pip install 'pytest-evalplug[hf]'")

HEADER = tuple(range(5, 65))


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> HFBackend:
    folder = tiny_model(tmp_path_factory.mktemp("tiny"))
    return HFBackend("tiny", HFOptions(model=str(folder), device="cpu"), fingerprint="f")


def row(*ids: int, target: int = 1) -> Scored:
    """Return a row that ends in ``target`` scored tokens."""
    return Scored(ids[:-1], ids[len(ids) - target :])


def questions(count: int, header: Sequence[int] = HEADER) -> list[Scored]:
    """Return two choices of two tokens for each of some questions."""
    return [
        row(*header, 70 + q, 71 + q % 3, 80, choice, 90 + choice, target=2)
        for q in range(count)
        for choice in (1, 2)
    ]


def agree(scores: Sequence[Any], expected: Sequence[Any]) -> None:
    for one, other in zip(scores, expected, strict=True):
        assert isinstance(one, Choice), one
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert (one.num_tokens, one.is_greedy) == (other.num_tokens, other.is_greedy)


class Passes:
    """Notes the tokens of each forward pass."""

    def __init__(self, backend: HFBackend, fail_above: int | None = None) -> None:
        self.sizes: list[int] = []

        def hook(module: Any, arguments: Any, named: dict[str, Any]) -> None:
            self.sizes.append(named["input_ids"].numel())
            if fail_above is not None and self.sizes[-1] > fail_above:
                torch.empty(2**60, dtype=torch.uint8)  # really more than there is

        self.handle = backend._model.register_forward_pre_hook(hook, with_kwargs=True)

    def __enter__(self) -> Passes:
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.remove()


texts = st.lists(
    st.tuples(st.lists(st.integers(0, 3), min_size=2, max_size=12), st.integers(1, 11)),
    min_size=1,
    max_size=12,
)


@settings(deadline=None, max_examples=25)
@given(texts, st.integers(1, 40))
def test_every_row_gets_the_score_it_has_alone(
    backend: HFBackend, texts: list[tuple[list[int], int]], budget: int
) -> None:
    rows = [row(*ids, target=min(target, len(ids) - 1)) for ids, target in texts]
    scorer = TreeScorer(backend._model, 10_000)
    scorer._budget = budget
    agree(scorer.score(rows), backend._score_rows(rows))
    agree(scorer.score(rows), backend._score_rows(rows))  # with what is kept


def test_shared_tokens_are_computed_once(backend: HFBackend) -> None:
    rows = questions(4)
    scorer = TreeScorer(backend._model, 10_000)
    with Passes(backend) as passes:
        first = scorer.score(rows)
    assert passes.sizes == [len(HEADER) + 4 * 5]
    with Passes(backend) as passes:
        again = scorer.score(questions(6)[8:])  # later questions, the same header
    assert passes.sizes == [2 * 5]
    agree([*first, *again], backend._score_rows([*rows, *questions(6)[8:]]))


def test_batches_by_header_once_they_are_worth_it(
    backend: HFBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_tree, "_ENOUGH", 70)
    other = tuple(reversed(HEADER))
    rows = [*questions(3), *questions(3, other), row(1, 2, 3), row(4, 5, 6)]
    scorer = TreeScorer(backend._model, 10_000)
    with Passes(backend) as passes:
        scores = scorer.score(rows)
    assert sorted(passes.sizes) == [60 + 15, 60 + 15 + 4]  # the two short ones ride along
    agree(scores, backend._score_rows(rows))


def test_the_budget_bounds_what_is_not_shared(backend: HFBackend) -> None:
    scorer = TreeScorer(backend._model, 10_000)
    scorer._budget = 10
    with Passes(backend) as passes:
        agree(scorer.score(questions(4)), backend._score_rows(questions(4)))
    assert passes.sizes[:2] == [60 + 10, 10]


def test_the_logits_held_at_once_are_bounded(backend: HFBackend) -> None:
    with Passes(backend) as passes:
        TreeScorer(backend._model, 4).score(questions(4))
    assert len(passes.sizes) == 4  # two rows of two tokens each


def test_memory_that_runs_out_halves_the_batch(backend: HFBackend) -> None:
    expected = backend._score_rows(questions(4, ()))
    scorer = TreeScorer(backend._model, 10_000)
    with Passes(backend, fail_above=12) as passes:
        agree(scorer.score(questions(4, ())), expected)
    assert passes.sizes == [20, 10, 10]
    with Passes(backend, fail_above=3):
        (score,) = TreeScorer(backend._model, 10_000).score([row(1, 2, 3, 4, 5, 6)])
    assert isinstance(score, ModelError)
    assert "out of memory" in str(score)


def test_what_is_kept_is_bounded(backend: HFBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_prefix, "_KEPT_BYTES", 40_000)
    scorer = TreeScorer(backend._model, 10_000)
    for n in range(6):
        scorer.score(questions(2, [n, *HEADER]))
    assert 1 <= len(scorer._prefixes._kept) < 4
    scorer.close()
    assert not scorer._prefixes._kept


def test_models_that_look_back_only_so_far_are_left_alone() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, MistralConfig, MistralForCausalLM

    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 50}
    mistral = MistralConfig(**small, **heads, sliding_window=4)
    assert not can_share(MistralForCausalLM(mistral).eval())
    assert can_share(
        MistralForCausalLM(MistralConfig(**small, **heads, sliding_window=None)).eval()
    )
    gpt2 = GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=50, n_positions=64)
    assert can_share(GPT2LMHeadModel(gpt2).eval())  # absolute positions, but told which


def test_a_model_that_scores_differently_is_found_out(backend: HFBackend) -> None:
    class Deaf(torch.nn.Module):  # type: ignore[name-defined,misc]
        """Takes a mask and ignores it."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.inner, self.config = model, model.config
            self.device, self.dtype = model.device, model.dtype

        def forward(
            self, input_ids: Any, attention_mask: Any = None, logits_to_keep: Any = 0, **kw: Any
        ) -> Any:
            return self.inner(input_ids=input_ids, logits_to_keep=logits_to_keep, **kw)

    assert can_share(backend._model)
    assert not can_share(Deaf(backend._model))


def test_scores_are_the_same_without_sharing(tmp_path: Path) -> None:
    folder = tiny_model(tmp_path)
    shared, rows = (
        HFBackend(name, HFOptions(model=str(folder), device="cpu"), fingerprint="f")
        for name in ("shared", "rows")
    )
    vars(rows)["_tree"] = None
    texts = ["The fox", "The fox jumps over the dog", "a"]
    for one, other in zip(shared.sequence_loss(texts), rows.sequence_loss(texts), strict=True):
        assert not isinstance(one, ModelError)
        assert not isinstance(other, ModelError)
        assert one.nll == pytest.approx(other.nll, abs=1e-4)
