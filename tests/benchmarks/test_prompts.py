"""The prompts, compared with texts put together from the raw rows in another way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.types import Sample
from tests.benchmarks.expected import names

Make: TypeAlias = Callable[..., DefaultDataAdapter]
AtHand: TypeAlias = Callable[[DefaultDataAdapter], list[str]]

DEMO = Path(__file__).resolve().parents[2] / "benchmarks" / "data"
SHOTS = {"gsm8k": 4, "bbh": 3, "mmlu": 5, "demo_math": 2, "demo_knowledge": 2}
ASKED = {"bbh": "\nA: Let's think step by step.", "mmlu": "\nAnswer:"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def prompt(adapter: DefaultDataAdapter, subset: str, row: int = 0) -> str:
    text = adapter.build_prompt(adapter.samples(subset)[row], subset)
    assert isinstance(text, str)
    return text


def context(adapter: DefaultDataAdapter, subset: str, row: int = 0) -> str:
    text = adapter.build_query(adapter.samples(subset)[row], subset).context
    assert isinstance(text, str)
    return text


def lettered(choices: list[str]) -> str:
    return "\n".join(
        f"{letter}. {choice}" for letter, choice in zip("ABCDE", choices, strict=False)
    )


def test_gsm8k(make: Make, data_dir: Path) -> None:
    train, test = rows(data_dir / "gsm8k" / "train.jsonl"), rows(data_dir / "gsm8k" / "test.jsonl")
    shots = [f"Question: {r['question']}\nAnswer: {r['answer']}\n\n" for r in train[:4]]
    expected = re.sub("<<.*?>>", "", "".join(shots))
    assert "<<" in "".join(shots)
    assert prompt(make("gsm8k"), "main") == f"{expected}Question: {test[0]['question']}\nAnswer:"


def test_gsm8k_without_shots_asks_for_the_form_of_the_answer(make: Make, data_dir: Path) -> None:
    row = rows(data_dir / "gsm8k" / "test.jsonl")[0]
    question, instruction = prompt(make("gsm8k_0shot"), "main").rsplit("\n", 1)
    assert question == row["question"]
    assert '"The answer is N."' in instruction


def test_mmlu(make: Make, data_dir: Path) -> None:
    def block(row: dict[str, Any]) -> str:
        return f"{row['question']}\n{lettered([row[f'choice{i}'] for i in range(4)])}\nAnswer:"

    folder = data_dir / "mmlu" / "us_foreign_policy"
    shots = [f"{block(r)} {'ABCD'[r['answer']]}\n\n" for r in rows(folder / "dev.jsonl")]
    expected = (
        "The following are multiple choice questions (with answers) about us foreign policy.\n\n"
        f"{''.join(shots)}{block(rows(folder / 'test.jsonl')[3])}"
    )
    adapter = make("mmlu")
    assert prompt(adapter, "us_foreign_policy", 3) == expected
    assert context(adapter, "us_foreign_policy", 3) == expected
    query = adapter.build_query(adapter.samples("us_foreign_policy")[3], "us_foreign_policy")
    assert query.continuations == (" A", " B", " C", " D")


def test_bbh_is_the_header_as_published(make: Make, data_dir: Path) -> None:
    adapter = make("bbh")
    for subset in adapter.subsets():
        folder = data_dir / "bbh" / subset
        warning, header = (folder / "cot_prompt.txt").read_text("utf-8").split("\n-----\n")
        assert warning.startswith("BENCHMARK DATA")
        asked = f"{header}\n\nQ: {rows(folder / 'test.jsonl')[-1]['input']}\nA: "
        assert prompt(adapter, subset, -1) == f"{asked}Let's think step by step."
        assert "canary" not in prompt(adapter, subset, -1)


def test_bbh_asks_for_the_likeliest_answer_where_the_shots_give_theirs(make: Make) -> None:
    adapter = make("bbh")
    for subset, answers in {"snarks": (" (A)", " (B)"), "navigate": (" Yes", " No")}.items():
        query = adapter.build_query(adapter.samples(subset)[0], subset)
        assert isinstance(query.context, str)
        asked = prompt(adapter, subset)
        assert query.context == f"{asked}\nSo the answer is"
        assert query.continuations == answers
        shown = asked.rpartition("\n\nQ: ")[0]
        assert any(shown.endswith(f"So the answer is{answer}.") for answer in answers)


def test_arc(make: Make, data_dir: Path) -> None:
    row = rows(data_dir / "arc_easy" / "test.jsonl")[0]
    adapter = make("arc_easy")
    assert prompt(adapter, "ARC-Easy") == (
        f"{row['query']}\n{lettered(row['choices'])}\n"
        "Answer with the letter of the right choice.\nAnswer:"
    )
    assert context(adapter, "ARC-Easy") == f"{row['query']}\nAnswer:"
    query = adapter.build_query(adapter.samples("ARC-Easy")[0], "ARC-Easy")
    assert query.continuations == tuple(f" {choice}" for choice in row["choices"])


def test_agieval_in_english(make: Make, data_dir: Path) -> None:
    row = rows(data_dir / "agieval" / "lsat-ar" / "test.jsonl")[0]
    choices = lettered([option.removeprefix(f"({option[1]})") for option in row["options"]])
    asked = f"{row['passage']}\n\nQuestion: {row['question']}\n{choices}\n"
    adapter = make("agieval")
    assert context(adapter, "lsat-ar") == f"{asked}Answer:"
    assert prompt(adapter, "lsat-ar") == (
        f"{asked}Answer with the letter of the right choice.\nAnswer:"
    )


def test_agieval_asks_in_the_language_and_for_the_kind_of_answer(make: Make) -> None:
    adapter = make("agieval")
    colon = "\uff1a"
    for subset in adapter.subsets():
        text = prompt(adapter, subset)
        chinese = subset.startswith("gaokao") and subset != "gaokao-english"
        assert text.endswith(f"答案{colon}" if chinese else "Answer:"), subset
        assert (f"问题{colon}" in text) == chinese
        assert ("Question: " in text) != chinese
        assert (r"\boxed{}" in text) == (subset in ("math", "gaokao-mathcloze"))
        assert ("\nD. " in text) != (subset in ("math", "gaokao-mathcloze"))
        assert ("一个或多个" in text) == (subset in ("gaokao-mathqa", "gaokao-physics"))


def test_demo_math(make: Make) -> None:
    train, test = (rows(DEMO / "demo_math" / f"{split}.jsonl") for split in ("train", "test"))
    shots = [
        f"Question: {r['question']}\nAnswer: {r['solution']} The answer is {r['answer']}.\n\n"
        for r in train[:2]
    ]
    expected = f"{''.join(shots)}Question: {test[5]['question']}\nAnswer:"
    assert prompt(make("demo_math"), "default", 5) == expected


def test_demo_knowledge(make: Make) -> None:
    def block(row: dict[str, Any]) -> str:
        return f"Question: {row['question']}\n{lettered(row['choices'])}\nAnswer:"

    train, test = (rows(DEMO / "demo_knowledge" / f"{split}.jsonl") for split in ("train", "test"))
    expected = "".join(f"{block(r)} {r['answer']}\n\n" for r in train[:2]) + block(test[5])
    assert prompt(make("demo_knowledge"), "default", 5) == expected


def test_demo_knowledge_compares_the_choices_themselves(make: Make) -> None:
    train, test = (rows(DEMO / "demo_knowledge" / f"{split}.jsonl") for split in ("train", "test"))
    shots = [
        f"Question: {r['question']}\nAnswer: {r['choices']['ABCD'.index(r['answer'])]}\n\n"
        for r in train[:2]
    ]
    adapter = make("demo_knowledge", "ppl")
    asked = f"{''.join(shots)}Question: {test[5]['question']}\nAnswer:"
    assert context(adapter, "default", 5) == asked
    query = adapter.build_query(adapter.samples("default")[5], "default")
    assert query.continuations == tuple(f" {choice}" for choice in test[5]["choices"])


@pytest.mark.parametrize("name", SHOTS)
def test_k_shots_and_never_the_question_itself(name: str, make: Make, at_hand: AtHand) -> None:
    adapter = make(name)
    end = ASKED.get(name, "\nAnswer:")
    for subset in at_hand(adapter):
        for sample in adapter.samples(subset):
            text = adapter.build_prompt(sample, subset)
            assert isinstance(text, str)
            assert text.count(end) == SHOTS[name] + 1 + str(sample.input).count(end)
            # its question stands at the end, and nowhere in the shots
            shots = adapter.few_shots(sample, subset)
            assert len(shots) == SHOTS[name]
            asked = adapter.format_prompt_template(sample)
            assert text.endswith(f"\n\n{asked}")
            assert not any(asked in shot for shot in shots)


def test_a_question_that_is_a_shot_too_gets_another_one(make: Make) -> None:
    adapter = make("gsm8k")
    first = adapter.load_fewshot_subset("main")[0]
    text = adapter.build_prompt(Sample(input=first.input, target=first.target), "main")
    assert isinstance(text, str)
    assert text.count(str(first.input)) == 1
    assert text.count("Question: ") == 5
    assert first.target.rpartition("\n")[0] not in text


def test_fewer_shots_are_whole_shots(make: Make) -> None:
    adapter = make("bbh")
    sample = adapter.samples("snarks")[0]
    full = prompt(adapter, "snarks")
    task = full.partition("\n\nQ: ")[0]
    for number in (2, 1, 0):
        text = adapter.build_prompt(sample, "snarks", number)
        assert isinstance(text, str)
        assert text.count("\nQ: ") == number + 1
        assert text.startswith(f"{task}\n\nQ: ")
        assert text.endswith(adapter.format_prompt_template(sample))
    without = make("bbh", few_shot_num=0)
    assert prompt(without, "snarks") == f"{task}\n\n{adapter.format_prompt_template(sample)}"


@pytest.mark.parametrize("name", names(lambda e: e.choices))
def test_contexts_do_not_end_in_white_space(name: str, make: Make, at_hand: AtHand) -> None:
    adapter = make(name)
    for subset in at_hand(adapter):
        if adapter.samples(subset)[0].choices:
            assert context(adapter, subset) == context(adapter, subset).rstrip()


def test_prompts_do_not_depend_on_the_data_directory(
    make: Make, shipped: dict[str, type[DefaultDataAdapter]]
) -> None:
    bundled = shipped["demo_math"](options=AdapterOptions())
    assert prompt(bundled, "default") == prompt(make("demo_math"), "default")
