from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_evalplug.errors import ConfigError, ModelError, TooLongError
from pytest_evalplug.model.base import (
    Choice,
    GenerationParams,
    LoglikelihoodQuery,
    ModelBackend,
    SequenceLoss,
)
from pytest_evalplug.model.hf import HFBackend
from pytest_evalplug.model.spec import HFOptions
from pytest_evalplug.types import ModelOutput
from tests.model.tiny_models import CHATML, tiny_model

torch = pytest.importorskip("torch", reason="pip install 'pytest-evalplug[hf]'")

SHORT = "The fox"
LONG = "The quick brown fox jumps over the lazy dog. " * 3
GREEDY = GenerationParams(max_tokens=8)


def backend_of(folder: Path, **options: Any) -> HFBackend:
    options = {"device": "cpu", "dtype": "float32", **options}
    return HFBackend("tiny", HFOptions(model=str(folder), **options), fingerprint="f")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without a pad token or a chat template, 128 positions long."""
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def tiny(folder: Path) -> Iterator[HFBackend]:
    backend = backend_of(folder)
    yield backend
    backend.close()


def choices(backend: HFBackend, *queries: LoglikelihoodQuery) -> list[list[Choice]]:
    results = backend.loglikelihood(queries)
    for result in results:
        assert isinstance(result, list), result
    return [result for result in results if isinstance(result, list)]


def losses(backend: HFBackend, *texts: str) -> list[SequenceLoss]:
    results = backend.sequence_loss(texts)
    for result in results:
        assert isinstance(result, SequenceLoss), result
    return [result for result in results if isinstance(result, SequenceLoss)]


def outputs(
    backend: HFBackend, prompts: list[str], params: GenerationParams = GREEDY
) -> list[ModelOutput]:
    results = backend.generate(prompts, params)
    for result in results:
        assert isinstance(result, ModelOutput), result
    return [result for result in results if isinstance(result, ModelOutput)]


def plain_logprobs(backend: HFBackend, ids: list[int]) -> Any:
    """Return the log-probability of each token but the first, computed the plain way."""
    with torch.inference_mode():
        logits = backend._model(torch.tensor([ids])).logits[0, :-1]
    return torch.log_softmax(logits, -1).gather(-1, torch.tensor(ids[1:])[:, None])[:, 0]


def test_it_follows_the_protocol(tiny: HFBackend) -> None:
    assert isinstance(tiny, ModelBackend)
    assert tiny.capabilities == {"generate", "loglikelihood"}
    assert (tiny.name, tiny.fingerprint, tiny.batch_size, tiny.concurrency) == ("tiny", "f", 8, 1)


# --- scores ---------------------------------------------------------------------------------


def test_a_continuation_is_scored_after_its_context(tiny: HFBackend) -> None:
    context, continuations = "the answer is", (" Paris", " London or Rome")
    [scores] = choices(tiny, LoglikelihoodQuery(context, continuations))
    for score, text in zip(scores, continuations, strict=True):
        ids = tiny._encoder.whole(context + text)
        tail = len(ids) - len(tiny._encoder.whole(context))
        expected = plain_logprobs(tiny, ids)[-tail:]
        assert score.logprob == pytest.approx(float(expected.sum()), abs=1e-4)
        assert score.num_tokens == tail


@pytest.mark.parametrize("tokens", [5, 16, 17, 32, 33])
def test_a_document_is_scored_in_windows(folder: Path, tiny: HFBackend, tokens: int) -> None:
    ids = tiny._encoder.pair("", LONG)[1][:tokens]
    text = tiny._encoder.decode(ids)
    small = backend_of(folder, max_length=16)
    [[score]] = choices(small, LoglikelihoodQuery("", (text,)))
    [prefix], ids = small._encoder.pair("", text)
    assert len(ids) == tokens
    expected, end = 0.0, 0
    while end < tokens:
        start, end = end, min(end + 16, tokens)
        window = [prefix, *ids][max(0, end - 16) : end + 1]  # as long as fits, ends with the target
        expected += float(plain_logprobs(tiny, window)[start - end :].sum())
    assert score.logprob == pytest.approx(expected, abs=1e-3)
    assert (score.num_tokens, score.is_greedy) == (tokens, False)


def test_what_follows_a_context_is_not_cut_into_windows(folder: Path) -> None:
    [error] = backend_of(folder, max_length=16).loglikelihood([LoglikelihoodQuery("The", (LONG,))])
    assert isinstance(error, TooLongError)


def test_is_greedy_says_that_the_model_would_write_it(tiny: HFBackend) -> None:
    with torch.inference_mode():
        logits = tiny._model(torch.tensor([tiny._encoder.whole("the fox")])).logits[0, -1]
    order = [tiny._encoder.tokenizer.decode([i]) for i in logits.argsort(descending=True).tolist()]
    readable = [text for text in order if tiny._encoder.tokenizer(text, add_special_tokens=False)]
    best, other = order[0], readable[40]
    [scores] = choices(tiny, LoglikelihoodQuery("the fox", (best, other)))
    assert [score.is_greedy for score in scores] == [True, False]


def test_a_batch_changes_no_score(tiny: HFBackend) -> None:
    queries = [
        LoglikelihoodQuery(context, (" Paris", " London or Rome?"))
        for context in (SHORT, LONG, "", "Question:")
    ]
    together = choices(tiny, *queries)
    alone = [choices(tiny, query)[0] for query in queries]
    for one, other in zip(itertools.chain(*together), itertools.chain(*alone), strict=True):
        assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
        assert (one.num_tokens, one.is_greedy) == (other.num_tokens, other.is_greedy)


def test_a_batch_changes_no_loss(tiny: HFBackend) -> None:
    texts = [SHORT, LONG, "a", "Question: what?"]
    together = losses(tiny, *texts)
    for one, other in zip(together, [losses(tiny, text)[0] for text in texts], strict=True):
        assert one.nll == pytest.approx(other.nll, abs=1e-4)
        assert one.num_tokens == other.num_tokens


def test_a_loss_is_the_sum_over_all_but_the_first_token_divided_by_all(tiny: HFBackend) -> None:
    ids = tiny._encoder.whole(LONG)
    [loss] = losses(tiny, LONG)
    assert loss.num_tokens == len(ids)
    assert loss.nll == pytest.approx(-float(plain_logprobs(tiny, ids).sum()), abs=1e-3)


def test_a_text_of_one_token_has_no_loss_and_an_empty_one_is_an_error(tmp_path: Path) -> None:
    backend = backend_of(tiny_model(tmp_path, adds_bos=False))
    one, empty, two = backend.sequence_loss(["a", "", "a a"])
    assert one == SequenceLoss(0.0, 1)
    assert isinstance(empty, ModelError)
    assert isinstance(two, SequenceLoss)
    assert two.nll > 0


def test_a_pad_token_that_the_text_itself_holds_is_scored(tmp_path: Path) -> None:
    backend = backend_of(tiny_model(tmp_path, pad_token="a"))
    texts = ["a fox a dog a", LONG]
    assert backend._pad_id in backend._encoder.whole(texts[0])
    for text, loss in zip(texts, losses(backend, *texts), strict=True):
        logprobs = plain_logprobs(backend, backend._encoder.whole(text))
        assert loss.nll == pytest.approx(-float(logprobs.sum()), abs=1e-3)
        assert loss.num_tokens == len(logprobs) + 1


def test_an_empty_continuation_is_an_error_in_its_place(tiny: HFBackend) -> None:
    good, bad = tiny.loglikelihood(
        [LoglikelihoodQuery("a", (" b",)), LoglikelihoodQuery("a", (" b", ""))]
    )
    assert isinstance(good, list)
    assert isinstance(bad, ModelError)
    assert "has no token" in str(bad)


# --- generation -----------------------------------------------------------------------------


def test_a_batch_changes_no_reply(tiny: HFBackend) -> None:
    prompts = [SHORT, LONG, "Question:"]
    alone = [outputs(tiny, [prompt])[0] for prompt in prompts]
    assert outputs(tiny, prompts) == alone


def test_a_greedy_reply_is_the_most_probable_token_each_time(tiny: HFBackend) -> None:
    ids = tiny._encoder.prompt(SHORT)
    prompt = len(ids)
    for _ in range(GREEDY.max_tokens):
        with torch.inference_mode():
            ids.append(int(tiny._model(torch.tensor([ids])).logits[0, -1].argmax()))
    [output] = outputs(tiny, [SHORT])
    assert not set(ids[prompt:]) & set(tiny._end_ids)
    assert output.completion == tiny._encoder.decode(ids[prompt:])
    assert output.message == {"role": "assistant", "content": output.completion}
    assert output.finish_reason == "length"
    assert output.usage == {"prompt_tokens": prompt, "completion_tokens": GREEDY.max_tokens}


def test_a_stop_string_ends_the_reply_before_it(tiny: HFBackend) -> None:
    [full] = outputs(tiny, [SHORT])
    middle = len(full.completion) // 2
    stop = full.completion[middle : middle + 3]
    params = GenerationParams(max_tokens=8, stop=("never seen", stop))
    stopped, other = outputs(tiny, [SHORT, LONG], params)
    assert stopped.completion == full.completion[: full.completion.index(stop)]
    assert stopped.finish_reason == "stop"
    assert stopped.usage is not None
    assert stopped.usage["completion_tokens"] < 8
    assert other == outputs(tiny, [LONG], params)[0]


@pytest.mark.parametrize("which", ["config", "generation_config", "tokenizer", "template", "stop"])
def test_every_kind_of_end_token_ends_the_reply(tmp_path: Path, which: str) -> None:
    template = CHATML.replace("<|im_end|>", "<|over|>") if which == "template" else None
    names = ("<|over|>", "<|end|>")
    folder = tiny_model(tmp_path, template=template, end_tokens=names)
    backend = backend_of(folder)
    name = {"tokenizer": "<|end|>"}.get(which, "<|over|>")
    end = backend._encoder.tokenizer.convert_tokens_to_ids(name)
    if which == "config":
        backend._model.config.eos_token_id = [1, end]
    if which == "generation_config":
        backend._model.generation_config.eos_token_id = [1, end]
    backend._model.save_pretrained(folder)
    backend = backend_of(folder)
    assert backend._decoder is not None  # it has been tried
    _always(backend, end, after=4)  # passes: one reads the prompt, three write
    params = GenerationParams(max_tokens=8, stop=(name,) if which == "stop" else ())
    [output] = outputs(backend, [SHORT], params)
    assert output.finish_reason == "stop"
    assert output.usage is not None
    assert output.usage["completion_tokens"] == 4
    assert name not in output.completion


def _always(backend: HFBackend, token: int, after: int) -> None:
    """Make the model write ``token`` after so many others."""
    calls = itertools.count()

    def hook(module: Any, arguments: Any, output: Any) -> Any:
        logits = output.logits.clone()
        logits[..., token] = -1e9 if next(calls) < after else 1e9
        output.logits = logits
        return output

    backend._model.register_forward_hook(hook)


def test_sampling_depends_on_the_seed_and_the_prompt_alone(tiny: HFBackend) -> None:
    params = GenerationParams(max_tokens=8, temperature=1.0, top_p=0.95, seed=1)
    alone = outputs(tiny, [SHORT], params)
    assert outputs(tiny, [SHORT, LONG], params)[:1] == alone
    assert outputs(tiny, [SHORT], GenerationParams(8, 1.0, 0.95, seed=2)) != alone
    assert outputs(tiny, [SHORT], GenerationParams(8, 1.0)) != outputs(
        tiny, [SHORT], GenerationParams(8, 1.0)
    )


def test_a_tiny_top_p_leaves_the_most_probable_token(tiny: HFBackend) -> None:
    params = GenerationParams(max_tokens=8, temperature=1.0, top_p=1e-6, seed=5)
    assert outputs(tiny, [SHORT], params) == outputs(tiny, [SHORT])


def test_samples_follow_the_temperature(tiny: HFBackend) -> None:
    ids = tiny._encoder.prompt(SHORT)
    with torch.inference_mode():
        logits = tiny._model(torch.tensor([ids])).logits[0, -1]
    best = int(logits.argmax())
    probability = float(torch.softmax(logits / 2.0, -1)[best])
    number = 400
    hits = sum(
        output.completion == tiny._encoder.decode([best])
        for seed in range(number // 8)
        for output in outputs(
            tiny,
            [SHORT] * 8,
            GenerationParams(max_tokens=1, temperature=2.0, seed=None if seed else 0),
        )
    )
    error = (probability * (1 - probability) / number) ** 0.5
    assert 0.01 < probability < 0.99
    assert abs(hits / number - probability) < 5 * error + 8 / number  # 8 share seed 0


def test_settings_of_the_checkpoint_do_not_change_the_reply(tmp_path: Path, folder: Path) -> None:
    from transformers import GenerationConfig

    tiny_model(tmp_path)
    GenerationConfig(
        repetition_penalty=5.0, do_sample=True, top_k=3, temperature=0.1, max_new_tokens=2
    ).save_pretrained(tmp_path)
    assert outputs(backend_of(tmp_path), [SHORT, LONG]) == outputs(
        backend_of(folder), [SHORT, LONG]
    )


def test_the_template_is_used_for_generation(tmp_path: Path) -> None:
    tiny_model(tmp_path, template=CHATML)
    prompt = f"<|im_start|>user\n{SHORT}<|im_end|>\n<|im_start|>assistant\n"
    [wrapped] = outputs(backend_of(tmp_path), [SHORT])
    plain = backend_of(tmp_path, chat_template=False)
    ids = plain._encoder.tokenizer(prompt, add_special_tokens=False)["input_ids"]
    assert wrapped.usage is not None
    assert wrapped.usage["prompt_tokens"] == len(ids)
    assert outputs(plain, [SHORT])[0].usage != wrapped.usage


def test_a_template_that_is_wanted_must_exist(folder: Path) -> None:
    with pytest.raises(ConfigError, match="chat_template is true, but the tokenizer has none"):
        backend_of(folder, chat_template=True)


# --- length and memory ----------------------------------------------------------------------


def test_what_is_too_long_is_an_error_in_its_place(tiny: HFBackend) -> None:
    text = LONG * 5
    for results in (
        tiny.generate([SHORT, text, LONG], GREEDY),
        tiny.loglikelihood([LoglikelihoodQuery(c, (" a",)) for c in (SHORT, text, LONG)]),
        tiny.sequence_loss([SHORT, text, LONG]),
    ):
        good, bad, fine = results
        assert not isinstance(good, ModelError)
        assert isinstance(bad, TooLongError)
        assert "the context of 128 tokens" in str(bad)
        assert not isinstance(fine, ModelError)


def test_the_reply_must_fit_too(folder: Path) -> None:
    length = len(backend_of(folder)._encoder.prompt(LONG))
    backend = backend_of(folder, max_length=length + 8)
    assert outputs(backend, [LONG])
    [result] = backend.generate([LONG], GenerationParams(max_tokens=9))
    assert isinstance(result, TooLongError)
    assert f"a prompt of {length} tokens and max_tokens=9" in str(result)


def test_the_last_token_of_a_continuation_needs_no_room(folder: Path) -> None:
    query = LoglikelihoodQuery(LONG, (" answer",))
    ids = backend_of(folder)._encoder.whole(LONG.rstrip() + "  answer")
    [fits] = backend_of(folder, max_length=len(ids) - 1).loglikelihood([query])
    [too_long] = backend_of(folder, max_length=len(ids) - 2).loglikelihood([query])
    assert isinstance(fits, list)
    assert isinstance(too_long, TooLongError)


def test_out_of_memory_halves_the_batch_and_changes_nothing(folder: Path) -> None:
    backend = backend_of(folder, batch_size=8)
    vars(backend)["_tree"] = None  # rows, as for a model that can't share what texts begin with
    texts = [f"{i} {SHORT}" for i in range(6)]
    expected = losses(backend, *texts)
    replies = outputs(backend, texts)
    sizes: list[int] = []

    def hook(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        sizes.append(len(named["input_ids"]))
        if sizes[-1] > 2:
            torch.empty(2**60, dtype=torch.uint8)  # really more than there is

    backend._model.register_forward_pre_hook(hook, with_kwargs=True)
    for one, other in zip(losses(backend, *texts), expected, strict=True):
        assert one.nll == pytest.approx(other.nll, abs=1e-4)
    assert sizes == [6, 3, 1, 1, 1, 1, 1, 1]
    assert outputs(backend, texts) == replies
    assert max(sizes[8:]) == 1  # remembered


HEADERS = ["", "The quick brown fox jumps over the lazy dog. " * 5]


@pytest.mark.parametrize("header", HEADERS, ids=["apart", "header"])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_a_header_that_prompts_share_changes_no_reply(
    tmp_path: Path, header: str, temperature: float
) -> None:
    folder = tiny_model(tmp_path, positions=512)
    params = GenerationParams(max_tokens=12, temperature=temperature, seed=3, stop=("zzz",))
    prompts = [header + text for text in ("a fox", "Question: what is the answer", "dog", "dog")]
    alone = backend_of(folder)
    vars(alone)["_tree"] = None
    shared = backend_of(folder)
    for part in (prompts[:3], prompts[3:], [header + "an answer"]):
        assert outputs(shared, part, params) == outputs(alone, part, params)
    assert bool(shared._prefixes._kept) == bool(header)


def test_a_header_is_read_once(tmp_path: Path) -> None:
    backend = backend_of(tiny_model(tmp_path, positions=512))
    assert backend._decoder is not None
    sizes: list[int] = []

    def hook(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        sizes.append(named["input_ids"].numel())

    backend._model.register_forward_pre_hook(hook, with_kwargs=True)
    outputs(backend, [HEADERS[1] + text for text in ("a", "dog")], GenerationParams(max_tokens=1))
    assert sizes[0] > 40
    assert sum(sizes[1:]) < 20
    sizes.clear()
    outputs(backend, [HEADERS[1] + "fox"], GenerationParams(max_tokens=1))
    assert sum(sizes) < 10


def test_choices_of_one_token_share_a_forward_pass(folder: Path) -> None:
    backend = backend_of(folder)
    assert backend._tree is not None  # it has been tried
    rows: list[int] = []

    def hook(module: Any, arguments: Any, named: dict[str, Any]) -> None:
        rows.append(len(named["input_ids"]))

    backend._model.register_forward_pre_hook(hook, with_kwargs=True)
    [scores] = choices(backend, LoglikelihoodQuery("the answer", ("A", "B", "C", "D")))
    assert rows == [1]
    assert len({score.logprob for score in scores}) == 4


def test_generating_prints_nothing(
    folder: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    backend = backend_of(folder)
    outputs(backend, [SHORT], GenerationParams(max_tokens=4, temperature=0.5, stop=("x",)))
    backend.sequence_loss([LONG * 5])
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list
