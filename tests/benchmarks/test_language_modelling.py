"""LAMBADA and WikiText: what is asked, and what a likelihood is worth."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.errors import NotApplicable
from pytest_evalplug.types import Detail, Sample
from tests.benchmarks.articles import ARTICLES
from tests.benchmarks.make_lm_eval_language_modelling import digest

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]
Shipped: TypeAlias = dict[str, type[DefaultDataAdapter]]

HARNESS = json.loads(
    Path(__file__).with_name("lm_eval_language_modelling.json").read_text(encoding="utf-8")
)


@pytest.fixture
def wikitext(shipped: Shipped, tmp_path: Path) -> DefaultDataAdapter:
    """WikiText in ``ll`` mode, with made-up articles in the hub's columns."""
    file = tmp_path / "wikitext" / "test.jsonl"
    file.parent.mkdir()
    file.write_text("".join(json.dumps(row) + "\n" for row in ARTICLES), encoding="utf-8")
    return shipped["wikitext"](options=AdapterOptions(data_dirs=(tmp_path,), eval_mode="ll"))


def asked(adapter: DefaultDataAdapter, number: int) -> list[tuple[Any, ...]]:
    [subset] = adapter.subsets()
    queries = [adapter.build_query(s, subset) for s in adapter.samples(subset)[:number]]
    return [(query.context, *query.continuations) for query in queries]


def metrics(
    adapter: DefaultDataAdapter, judge: Judge, replies: Sequence[str], losses: Sequence[float]
) -> dict[str, float]:
    [subset] = adapter.subsets()
    samples = adapter.samples(subset)[: len(losses)]
    columns = [{"loss": [loss], "token_len": [1]} for loss in losses]
    details = [
        judge(adapter, sample, subset, reply, **more)
        for sample, reply, more in zip(samples, replies, columns, strict=True)
    ]
    scores = adapter.scorer.aggregate(subset, details, columns)
    return {score.metric: score.value for score in scores}


def test_lambada_asks_as_the_harness_does(make: Make) -> None:
    texts = [("".join(pair),) for pair in asked(make("lambada", "ll"), 20)]
    pairs = [(*text.rsplit(" ", 1),) for (text,) in texts]
    assert digest([[before, f" {word}"] for before, word in pairs]) == HARNESS["lambada"]["asked"]
    assert asked(make("lambada", "ll"), 20) == [(before, f" {word}") for before, word in pairs]


def test_lambada_in_the_hub_s_column(make: Make) -> None:
    sample = make("lambada").record_to_sample({"text": "She sang of\n\nPower and of  love"})
    assert sample == Sample(input="She sang of\n\nPower and of ", target="love")


def test_lambada_scores_as_the_harness_does(make: Make, judge: Judge) -> None:
    adapter = make("lambada", "ll")
    answers, expected = HARNESS["lambada"]["replies"], HARNESS["lambada"]["metrics"]
    words = [continuation for _, continuation in asked(adapter, len(answers))]
    replies = [word if greedy else "" for word, (_, greedy) in zip(words, answers, strict=True)]
    result = metrics(adapter, judge, replies, [-logprob for logprob, _ in answers])
    assert result == {
        "accuracy": pytest.approx(100 * expected["acc"]),
        "perplexity": pytest.approx(expected["perplexity"]),
    }


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("signs", True),
        (" signs.\nThen I left.", True),
        ('\n"Signs', False),
        (" signs' meaning", True),
        (" sign", False),
        (" the signs", False),
        ("", False),
    ],
)
def test_lambada_compares_the_first_word(reply: str, right: bool, make: Make, judge: Judge) -> None:
    adapter = make("lambada")
    sample = Sample(input="She does not care about", target="signs", id="0", index="0")
    assert judge(adapter, sample, "default", reply).correct is right
    quoted = Sample(input="He whispered,", target='"signs', id="0", index="0")
    assert judge(adapter, quoted, "default", reply).correct is right


def test_lambada_has_no_perplexity_of_replies(make: Make, judge: Judge) -> None:
    assert metrics(make("lambada"), judge, ["signs", "Shane", "?"], [1.0] * 3) == {
        "accuracy": pytest.approx(200 / 3)
    }


@pytest.mark.parametrize(
    ("name", "mode"), [("lambada", "ppl"), ("wikitext", "ppl"), ("wikitext", "gen")]
)
def test_modes_that_mean_nothing_are_skipped(name: str, mode: Any, shipped: Shipped) -> None:
    adapter: Any = shipped[name]
    with pytest.raises(NotApplicable, match=rf"is not for {mode} mode. .*--eval-mode=ll"):
        adapter(options=AdapterOptions(eval_mode=mode)).check_mode("any")


def test_wikitext_asks_as_the_harness_does(wikitext: DefaultDataAdapter) -> None:
    articles = [[text] for context, text in asked(wikitext, 2) if context == ""]
    assert digest(articles) == HARNESS["wikitext"]["asked"]
    article = asked(wikitext, 1)[0][1]
    assert "It is 3.4 kilometres long, and" in article
    assert "surface lies 1,204 metres above the sea; in winter" in article
    assert '(now the "Ring Road") was built by well-known' in article
    assert "\n== History ==\n" in article


@pytest.mark.parametrize("windows", ["wikitext", "wikitext_64"])
def test_wikitext_scores_as_the_harness_does(
    windows: str, wikitext: DefaultDataAdapter, judge: Judge
) -> None:
    losses = [-logprob for logprob in HARNESS[windows]["replies"]]
    result = metrics(wikitext, judge, ["", ""], losses)
    assert result == pytest.approx(HARNESS[windows]["metrics"])
    assert result["bits_per_byte"] == pytest.approx(math.log2(result["byte_perplexity"]))


def test_wikitext_has_no_verdict(wikitext: DefaultDataAdapter, judge: Judge) -> None:
    [subset] = wikitext.subsets()
    for sample in wikitext.samples(subset):
        assert judge(wikitext, sample, subset, "", loss=[1.0]).correct is None
