"""Benchmarks whose data is not at hand, on hand-made rows in the columns of the hub."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import AggScore, Detail

Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]


def scores(
    adapter: DefaultDataAdapter, subset: str, replies: list[str], judge: Judge
) -> dict[str, AggScore]:
    samples = adapter.samples(subset)
    pairs = list(zip(samples, replies, strict=True))
    details = [judge(adapter, sample, subset, reply) for sample, reply in pairs]
    records = [{"prediction": reply, "gold": sample.target} for sample, reply in pairs]
    return {score.metric: score for score in adapter.scorer.aggregate(subset, details, records)}


# --- SQuAD


def squad(number: int, question: str, *answers: str) -> dict[str, Any]:
    return {
        "id": f"56be4db{number}",
        "title": "Bridges",
        "context": "The bridge, 1.5 km long, was opened in the autumn of 1932.",
        "question": question,
        "answers": {"text": list(answers), "answer_start": [0] * len(answers)},
    }


@pytest.fixture
def bridges(written: Make) -> DefaultDataAdapter:
    train = [squad(1, "What was opened?", "The bridge")]
    validation = [
        squad(2, "When was it opened?", "1932", "autumn of 1932", "1932"),
        squad(3, "How long is it?", "1.5 km", "1.5 km", "1.5 km long"),
    ]
    return written("squad", {"train": train, "validation": validation})


def test_squad_prompt(bridges: DefaultDataAdapter) -> None:
    head = (
        "Title: Bridges\n\nBackground: The bridge, 1.5 km long, was opened in the autumn of 1932."
    )
    assert bridges.build_prompt(bridges.samples("default")[0], "default") == (
        f"{head}\n\nQuestion: What was opened?\n\nAnswer: The bridge\n\n"
        f"{head}\n\nQuestion: When was it opened?\n\nAnswer:"
    )


def test_squad_scores(bridges: DefaultDataAdapter, judge: Judge) -> None:
    first, second = bridges.samples("default")
    assert first.target == ["1932", "autumn of 1932"]
    for reply, correct, f1 in (
        (" the Autumn of 1932.\n\nTitle", True, 1.0),
        (" In 1932", False, 2 / 3),
        (" I don't know", False, 0.0),
        ("", False, 0.0),
    ):
        detail = judge(bridges, first, "default", reply)
        assert detail.correct is correct
        assert detail.score["f1"] == pytest.approx(f1), reply
    assert judge(bridges, second, "default", "15 km").correct is False
    found = scores(bridges, "default", ["1932", "long"], judge)
    assert found["exact_match"].value == 50
    assert found["f1"].value == pytest.approx(50 + 50 / 2)


# --- XSum


def test_xsum(written: Make, judge: Judge) -> None:
    summary = "A bridge that was closed for years has been opened again."
    test = [
        {"id": "1", "document": "The bridge is open.\nIt was closed in 2011.", "summary": summary},
        {"id": "2", "document": "", "summary": "Nothing is known of this."},
    ]
    adapter = written("xsum", {"test": test})
    (sample,) = adapter.samples("default")  # what has no article is left out
    assert adapter.build_prompt(sample, "default") == (
        "Article: The bridge is open.\nIt was closed in 2011.\n\nSummary in one sentence:"
    )
    found = scores(adapter, "default", [f" {summary}\n\nIt is near the sea."], judge)
    assert {name: score.value for name, score in found.items()} == {
        "rouge1": 100,
        "rouge2": 100,
        "rougeL": 100,
    }
    assert judge(adapter, sample, "default", "Rain.").correct is None


# --- FLORES

ENGLISH = ["The bridge is long.", "Nobody saw the river.", "It rained all week in the north."]
GERMAN = ["Die Brücke ist lang.", "Niemand sah den Fluss.", "Im Norden regnete es die Woche."]


def table(texts: list[str], column: str) -> list[dict[str, Any]]:
    return [{"id": n, "domain": "wikinews", column: text} for n, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("column", ["sentence", "text"])
def test_flores(column: str, written: Make, judge: Judge) -> None:
    dev = [f"Number {n}." for n in range(5)], [f"Nummer {n}." for n in range(5)]
    files = {
        "eng_Latn/devtest": table(ENGLISH, column),
        # rows belong together by their ids, in whatever order
        "deu_Latn/devtest": table(GERMAN, column)[::-1],
        "eng_Latn/dev": table(dev[0], column),
        "deu_Latn/dev": table(dev[1], column),
    }
    adapter = written("flores", files)
    subset = "eng_Latn-deu_Latn"
    samples = adapter.samples(subset)
    assert [s.target for s in samples] == GERMAN
    shots = "\n\n".join(f"English sentence: Number {n}.\nGerman sentence: Nummer {n}."
        for n in range(5))  # fmt: skip
    assert adapter.build_prompt(samples[0], subset) == (
        f"{shots}\n\nEnglish sentence: The bridge is long.\nGerman sentence:"
    )
    back = adapter.samples("deu_Latn-eng_Latn")
    assert {s.input: s.target for s in back} == dict(zip(GERMAN, ENGLISH, strict=True))
    found = scores(adapter, subset, [f" {text}\n\nEnglish" for text in GERMAN], judge)
    assert found["bleu"].value == pytest.approx(100)
    assert found["chrf"].value == pytest.approx(100)
    assert judge(adapter, samples[0], subset, "Ja.").correct is None


def test_flores_scores_the_corpus_and_not_its_sentences(written: Make, judge: Judge) -> None:
    import sacrebleu

    files = {"eng_Latn/devtest": table(ENGLISH, "sentence"),
        "deu_Latn/devtest": table(GERMAN, "sentence")}  # fmt: skip
    adapter = written("flores", files)
    adapter.few_shot_num = 0
    replies = ["Die Brücke ist lang.", "Niemand sah einen Fluss.", "Es regnete."]
    found = scores(adapter, "eng_Latn-deu_Latn", replies, judge)
    assert found["bleu"].value == pytest.approx(sacrebleu.corpus_bleu(replies, [GERMAN]).score)
    assert found["chrf"].value == pytest.approx(sacrebleu.corpus_chrf(replies, [GERMAN]).score)


def test_flores_a_sentence_without_its_translation_is_an_error(written: Make) -> None:
    files = {"eng_Latn/devtest": table(ENGLISH, "sentence"),
        "deu_Latn/devtest": table(GERMAN[:2], "sentence")}  # fmt: skip
    adapter = written("flores", files)
    adapter.few_shot_num = 0
    with pytest.raises(DataError, match="reference is missing"):
        adapter.samples("eng_Latn-deu_Latn")
