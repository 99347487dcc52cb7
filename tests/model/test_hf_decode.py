from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import ModelError
from pytest_evalplug.model import hf_decode
from pytest_evalplug.model.base import GenerationParams
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.hf_decode import can_decode
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import ModelOutput
from tests.model.tiny_models import tiny_model

torch = pytest.importorskip("torch", reason="pip install 'pytest-evalplug[hf]'")

PROMPTS = ["The fox", "The quick brown fox jumps over the lazy dog. " * 2, "a", "Question:", "dog"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"), positions=512)


def backend_of(folder: Path, *, steps: bool = True, batch_size: int = 2) -> HFBackend:
    """Return a backend that has been tried, or one that calls the model's own ``generate``."""
    options = HFOptions(model=str(folder), device="cpu", dtype="float32", batch_size=batch_size)
    backend = HFBackend("tiny", options, fingerprint="f")
    if not steps:
        vars(backend)["_decoder"] = None
    assert (backend._decoder is not None) is steps
    return backend


@pytest.fixture(scope="module")
def stepped(folder: Path) -> HFBackend:
    return backend_of(folder)


@pytest.fixture(scope="module")
def plain(folder: Path) -> HFBackend:
    return backend_of(folder, steps=False)


@contextmanager
def passes(backend: HFBackend, act: Callable[[Any], None] = lambda ids: None) -> Iterator[Any]:
    """Note rows and tokens of each forward pass; ``act`` is called with its input."""
    shapes: list[tuple[int, int]] = []

    def hook(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        shapes.append(tuple(named["input_ids"].shape))
        act(named["input_ids"])

    handle = backend._model.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield shapes
    finally:
        handle.remove()


def out_of_memory_above(rows: int) -> Callable[[Any], None]:
    def act(ids: Any) -> None:
        if len(ids) > rows:
            torch.empty(2**60, dtype=torch.uint8)  # really more than there is

    return act


def tokens(output: ModelOutput | ModelError) -> int:
    assert isinstance(output, ModelOutput)
    assert output.usage is not None
    return int(output.usage["completion_tokens"])


@settings(deadline=None, max_examples=25)
@given(
    prompts=st.lists(st.sampled_from([*PROMPTS, PROMPTS[1] + "and", PROMPTS[1] * 2]), max_size=7),
    temperature=st.sampled_from([0.0, 1.0]),
    stop=st.sampled_from([(), ("e",), ("never seen", " ")]),
    max_tokens=st.sampled_from([1, 2, 12]),
)
def test_replies_are_those_of_the_models_own_generate(
    stepped: HFBackend,
    plain: HFBackend,
    prompts: list[str],
    temperature: float,
    stop: tuple[str, ...],
    max_tokens: int,
) -> None:
    params = GenerationParams(max_tokens, temperature, top_p=0.9, stop=stop, seed=1)
    assert stepped.generate(prompts, params) == plain.generate(prompts, params)


def test_a_row_leaves_at_its_end_and_the_next_prompt_takes_its_place(folder: Path) -> None:
    backend = backend_of(folder, batch_size=2)
    params = GenerationParams(max_tokens=30, temperature=1.0, seed=3, stop=("e", "o"))
    prompts = [f"{text} or Rome" for text in PROMPTS]
    with passes(backend) as shapes:
        lengths = [tokens(output) for output in backend.generate(prompts, params)]
    assert len(set(lengths)) > 2
    steps = [rows for rows, width in shapes if width == 1]
    assert sum(steps) == sum(lengths)  # no row is read after its end
    assert steps == sorted(steps, reverse=True)
    assert steps.count(1) <= max(lengths)


def test_prompts_are_read_together_if_of_like_length_and_few(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_decode, "_ENOUGH", 12)
    backend = backend_of(folder, batch_size=8)
    ids = [[5 + n] * length for n, length in enumerate((3, 20, 4, 4, 3, 1))]
    monkeypatch.setattr(backend._encoder, "prompt", lambda prompt: ids[int(prompt)])
    with passes(backend) as shapes:
        backend.generate([str(n) for n in range(len(ids))], GenerationParams(max_tokens=1))
    assert shapes == [(1, 19), (3, 3), (2, 2), (6, 1)]


def test_a_long_reply_outgrows_the_buffer(stepped: HFBackend, plain: HFBackend) -> None:
    params = GenerationParams(max_tokens=200, temperature=1.0, seed=9)
    replies = stepped.generate(PROMPTS[:2], params)
    assert max(map(tokens, replies)) > 100
    assert replies == plain.generate(PROMPTS[:2], params)


def test_memory_that_runs_out_halves_the_rows_and_changes_nothing(folder: Path) -> None:
    backend = backend_of(folder, batch_size=8)
    params = GenerationParams(max_tokens=12, temperature=1.0, seed=1, stop=("e",))
    expected = backend.generate(PROMPTS, params)
    with passes(backend, out_of_memory_above(2)) as shapes:
        assert backend.generate(PROMPTS, params) == expected
        assert backend.generate(PROMPTS, params) == expected
    too_many = [rows for rows, _ in shapes if rows > 2]
    assert too_many == [5]  # remembered
    assert backend._batcher.limit == 2


def test_a_prompt_that_memory_is_too_small_for_is_an_error_in_its_place(folder: Path) -> None:
    backend = backend_of(folder, batch_size=2)

    def act(ids: Any) -> None:
        if ids.shape[1] > 15:
            torch.empty(2**60, dtype=torch.uint8)

    with passes(backend, act):
        short, long, other = backend.generate(PROMPTS[:3], GenerationParams(max_tokens=4))
    assert isinstance(short, ModelOutput)
    assert isinstance(other, ModelOutput)
    assert isinstance(long, ModelError)
    assert "out of memory" in str(long)


def test_another_error_is_not_swallowed(folder: Path) -> None:
    backend = backend_of(folder)

    def act(ids: Any) -> None:
        raise RuntimeError("a broken kernel")

    with passes(backend, act), pytest.raises(RuntimeError, match="a broken kernel"):
        backend.generate(PROMPTS, GenerationParams(max_tokens=4))


def test_a_closed_backend_lets_go_of_the_model(folder: Path) -> None:
    backend = backend_of(folder)
    backend.close()
    assert "_decoder" not in vars(backend)


def test_half_precision_is_stepped_too(tmp_path: Path) -> None:
    options = HFOptions(model=str(tiny_model(tmp_path)), device="cpu", dtype="bfloat16")
    backend = HFBackend("half", options, fingerprint="f")
    assert backend._decoder is not None
    for output in backend.generate(PROMPTS, GenerationParams(max_tokens=5)):
        assert tokens(output) <= 5


def test_a_model_whose_cache_is_its_own_is_found_out(stepped: HFBackend) -> None:
    class Forgetful(torch.nn.Module):  # type: ignore[name-defined,misc]
        """Reads the new tokens only."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.inner, self.config = model, model.config
            self.device, self.dtype = model.device, model.dtype

        def forward(self, input_ids: Any, past_key_values: Any = None, **kw: Any) -> Any:
            kw.pop("attention_mask", None)
            return self.inner(input_ids=input_ids, **{**kw, "use_cache": False})

    assert can_decode(stepped._model)
    assert not can_decode(Forgetful(stepped._model))


def test_models_without_such_a_cache_are_left_to_their_own_generate() -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, MambaConfig, MambaForCausalLM

    gpt2 = GPT2Config(n_embd=32, n_layer=1, n_head=2, vocab_size=50, n_positions=64)
    assert can_decode(GPT2LMHeadModel(gpt2).eval())
    mamba = MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=50, state_size=4)
    assert not can_decode(MambaForCausalLM(mamba).eval())
