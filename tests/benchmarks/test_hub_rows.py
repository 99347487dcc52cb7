"""Rows in the hub's columns: what they become, what is asked, which reply is right."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.letters import letters
from pytest_evalplug.errors import DataError, NotApplicable
from pytest_evalplug.types import Detail, Sample
from tests.benchmarks.expected import EXPECTED
from tests.benchmarks.hub_rows import HUB_ROWS

FromRows: TypeAlias = Callable[..., DefaultDataAdapter]
Make: TypeAlias = Callable[..., DefaultDataAdapter]
Judge: TypeAlias = Callable[..., Detail]
Shipped: TypeAlias = dict[str, type[DefaultDataAdapter]]

LETTERED = [name for name in HUB_ROWS if EXPECTED[name].letters]
TARGETS = {
    "arc_easy": "BA",
    "openbookqa": "B",
    "commonsense_qa": "AC",
    "piqa": "B",
    "copa": "AB",
    "winogrande": "BAA",
    "hellaswag": "AD",
    "ceval": "D",
    "cmmlu": "A",
}
HIDDEN = {"hellaswag": "label", "winogrande": "answer", "ceval": "answer"}


def first(adapter: DefaultDataAdapter, subset: str = "") -> tuple[Sample, str]:
    subset = subset or adapter.subset_list[0]
    return adapter.samples(subset)[0], subset


@pytest.mark.parametrize("name", TARGETS)
def test_the_right_letter(name: str, from_rows: FromRows) -> None:
    adapter = from_rows(name)
    samples = adapter.samples(adapter.subset_list[0])
    assert "".join(str(sample.target) for sample in samples) == TARGETS[name]


@pytest.mark.parametrize("name", LETTERED)
def test_a_right_reply_and_no_other(name: str, from_rows: FromRows, judge: Judge) -> None:
    adapter, right = from_rows(name), EXPECTED[name].right
    assert right
    subset = "math" if name == "mmlu_pro" else adapter.subset_list[0]
    for sample in adapter.samples(subset):
        assert judge(adapter, sample, subset, right(sample)).correct is True
        for letter in letters(sample):
            detail = judge(adapter, sample, subset, f"The answer is {letter}.")
            assert detail.correct is (letter == sample.target)
        for reply in ("", "I cannot help with that."):
            assert judge(adapter, sample, subset, reply).correct is False


@pytest.mark.parametrize("name", LETTERED)
def test_the_question_and_its_choices_are_shown(name: str, from_rows: FromRows) -> None:
    adapter = from_rows(name)
    sample, subset = first(adapter, "math" if name == "mmlu_pro" else "")
    prompt = adapter.build_prompt(sample, subset)
    assert isinstance(prompt, str)
    asked = prompt.rpartition("\n\n")[2]
    assert str(sample.input) in asked
    for letter, choice in zip(letters(sample), sample.choices or (), strict=True):
        assert f"\n{letter}. {choice}\n" in asked
    assert asked == asked.rstrip()


@pytest.mark.parametrize("name", [name for name, rows in HUB_ROWS.items() if "train" in rows])
def test_shots_are_asked_as_the_question_is(name: str, from_rows: FromRows) -> None:
    adapter, plain = from_rows(name, few_shot_num=2), from_rows(name)
    sample, subset = first(adapter)
    answered = [
        f"{plain.build_prompt(shot, subset)} {'no' if name == 'boolq' else shot.target}"
        for shot in adapter._pool(subset).samples
    ]
    if name == "boolq":
        answered[1] = f"{answered[1].removesuffix('no')}yes"
    prompt = adapter.build_prompt(sample, subset)
    assert prompt == "\n\n".join([*answered, str(plain.build_prompt(sample, subset))])


@pytest.mark.parametrize(("name", "column"), HIDDEN.items())
def test_hidden_labels_are_refused(
    name: str, column: str, shipped: Shipped, tmp_path: Path
) -> None:
    cls = shipped[name]
    meta = cls.__evalplug_meta__
    subset = meta.subset_list[0]
    rows = [{**row, column: ""} for row in HUB_ROWS[name][meta.eval_split]]
    folder = tmp_path / name / subset
    folder.mkdir(parents=True)
    text = "\n".join(map(json.dumps, rows))
    (folder / f"{meta.eval_split}.jsonl").write_text(f"{text}\n", encoding="utf-8")
    with pytest.raises(DataError, match="hidden labels"):
        cls(options=AdapterOptions(data_dirs=(tmp_path,))).samples(subset)


# --- WinoGrande


def test_winogrande_scores_what_follows_the_filled_blank(from_rows: FromRows) -> None:
    adapter = from_rows("winogrande", "ll")
    sample, subset = first(adapter)
    query = adapter.build_query(sample, subset)
    assert query.context == "The cup fell off the tray as _ was too steep."
    assert query.contexts == (
        "The cup fell off the tray as the cup",
        "The cup fell off the tray as the tray",
    )
    assert query.continuations == (" was too steep.", " was too steep.")


def test_winogrande_keeps_a_system_prompt(from_rows: FromRows) -> None:
    adapter = from_rows("winogrande", "ll", system_prompt="Read.")
    query = adapter.build_query(*first(adapter))
    assert query.contexts[1] == [
        {"role": "system", "content": "Read."},
        {"role": "user", "content": "The cup fell off the tray as the tray"},
    ]


def test_winogrande_copies_lose_no_word(make: Make, data_dir: Path) -> None:
    text = (data_dir / "winogrande" / "validation.jsonl").read_text("utf-8")
    adapter = make("winogrande")
    samples = adapter.samples("winogrande_xl")
    for line, sample in zip(text.splitlines(), samples, strict=True):
        row = json.loads(line)
        before, blank, after = str(sample.input).partition("_")
        assert [f"{before}{choice}" for choice in sample.choices or ()] == row["context_options"]
        assert (blank, after) == ("_", f" {row['continuation']}")
        assert all(choice.strip() for choice in sample.choices or ())


# --- HellaSwag


def test_hellaswag_without_the_marks_of_wikihow(from_rows: FromRows) -> None:
    sample, _ = first(from_rows("hellaswag"))
    # three spaces become two, as published
    assert sample.input == (
        "Baking bread: How to bake bread. Mix the dough.  Weigh the flour. Then add water"
    )
    assert sample.choices == ["and knead. Wait.", "and fly away.", "or sing.", " Sell it."]


# --- BoolQ


@pytest.mark.parametrize("label", ["answer", "label"])
def test_boolq_reads_superglue_too(label: str, make: Make) -> None:
    adapter = make("boolq")
    record = {"passage": "P -- It is.", "question": "is it", label: True}
    sample = adapter.record_to_sample(record)
    assert isinstance(sample, Sample)
    assert (sample.choices, sample.target) == (["no", "yes"], "B")
    assert adapter.format_prompt_template(sample).startswith("P -- It is.\nQuestion: is it?\n")


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        (" yes", "B"),
        ("No.", "A"),
        ("**Yes**, since salt is a mineral.", "B"),
        ("No, it doesn't.\nIt swims.", "A"),
        ("It may seem so. But the answer is no.", "A"),
        ("Based on the passage, yes.", "B"),
        ("Going by what the passage says of salt: **No**", "A"),
        ("yes or no", ""),
        ("Yes/No", ""),
        ("Answer yes or no.", ""),
        ("The answer is **yes** or **no**.", ""),
        ("No and yes", ""),
        ("<think>It seems so, yes", ""),
        ("Yesterday", ""),
        ("I cannot say.", ""),
        ("", ""),
    ],
)
def test_boolq_takes_the_claimed_the_first_or_the_last_word(
    reply: str, letter: str, make: Make, judge: Judge
) -> None:
    adapter = make("boolq")
    sample = adapter.samples("default")[0]
    assert judge(adapter, sample, "default", reply).pred == letter


# --- COPA


def test_copa_asks_for_the_cause_or_the_effect(from_rows: FromRows) -> None:
    adapter = from_rows("copa")
    cause, effect = adapter.samples("copa")
    assert adapter.build_prompt(cause, "copa") == (
        "Premise: The lamp went out. What was the cause of this?\n"
        "A. the bulb broke.\nB. the sun rose.\n"
        "Answer with the letter of the more plausible alternative.\nAnswer:"
    )
    assert "rained all day. What happened as a result?" in str(adapter.build_prompt(effect, "copa"))


def test_copa_copies_read_as_the_hub_does(make: Make, data_dir: Path) -> None:
    adapter = make("copa", "ll")
    text = (data_dir / "copa" / "validation.jsonl").read_text("utf-8")
    for line, sample in zip(text.splitlines(), adapter.samples("copa"), strict=True):
        query = adapter.build_query(sample, "copa")
        assert query.context == " ".join(json.loads(line)["query"].rsplit(", ", 1))
        assert all(text[1].islower() or not text[1].isalpha() for text in query.continuations)


# --- CommonsenseQA


def test_commonsense_qa_copies_are_shown_as_they_are(make: Make, data_dir: Path) -> None:
    text = (data_dir / "commonsense_qa" / "validation.jsonl").read_text("utf-8")
    adapter = make("commonsense_qa", "ll")
    for line, sample in zip(text.splitlines(), adapter.samples("default"), strict=True):
        query = adapter.build_query(sample, "default")
        assert query.context == json.loads(line)["query"].replace("\nChoices:", "")
        assert query.continuations == (" A", " B", " C", " D")


# --- TruthfulQA


def test_truthfulqa_right_choices_are_shuffled_in(make: Make) -> None:
    samples = make("truthfulqa_mc1").samples("multiple_choice")
    count = len(samples)
    at_first = sum(sample.target == "A" for sample in samples)
    by_chance = sum(1 / len(sample.choices or ()) for sample in samples)
    assert abs(at_first - by_chance) < 3 * count**0.5 / 2
    assert at_first < 300


def test_truthfulqa_truth_is_a_matter_of_place_not_of_text(make: Make) -> None:
    adapter = make("truthfulqa_mc2", "ll", shuffle_choices=False)
    both = 0
    for sample in adapter.samples("multiple_choice"):
        choices = sample.choices or []
        true = {choices[ord(letter) - ord("A")] for letter in sample.target}
        false = {c for i, c in enumerate(choices) if chr(ord("A") + i) not in sample.target}
        both += bool(true & false)
    assert both == 4


@pytest.mark.parametrize("mode", ["gen", "ppl"])
def test_truthfulqa_mc2_needs_probabilities(mode: str, make: Make) -> None:
    with pytest.raises(NotApplicable, match=r"not for .* Run it with --eval-mode=ll"):
        make("truthfulqa_mc2", mode).check_mode("multiple_choice")
    make("truthfulqa_mc2", "ll").check_mode("multiple_choice")


def test_truthfulqa_mc2_is_the_mass_of_the_true_ones(make: Make, judge: Judge) -> None:
    adapter = make("truthfulqa_mc2", "ll")
    for sample in adapter.samples("multiple_choice")[:50]:
        logprobs = [-1.0] * len(sample.choices or ())
        right = len(sample.target) if isinstance(sample.target, list) else 1
        detail = judge(adapter, sample, "multiple_choice", "A", pred_label="A", logprobs=logprobs)
        assert detail.score["mc2"] == pytest.approx(right / len(logprobs))
        assert detail.correct is None


# --- MMLU-Pro


def test_mmlu_pro_fills_up_with_choices_that_are_none(make: Make) -> None:
    adapter = make("mmlu_pro")
    row: dict[str, Any] = HUB_ROWS["mmlu_pro"]["test"][0]
    sample = adapter.record_to_sample({**row, "options": ["1", "2", "N/A", "N/A"], "answer": "B"})
    assert isinstance(sample, Sample)
    assert (sample.choices, sample.target, sample.subset_key) == (["1", "2"], "B", "math")


def test_mmlu_pro_takes_shots_of_the_category(from_rows: FromRows) -> None:
    adapter = from_rows("mmlu_pro")
    law, math = (str(adapter.build_prompt(*first(adapter, name))) for name in ("law", "math"))
    assert law.count("What is law ") == math.count("\nWhat is ") - 1 == 5
    assert "about law." in law


def test_mmlu_pro_compares_answers_as_the_shots_give_them(from_rows: FromRows) -> None:
    adapter = from_rows("mmlu_pro", "ll")
    query = adapter.build_query(*first(adapter, "law"))
    context = str(query.context)
    assert context.endswith("\nAnswer: Let's think step by step. The answer is")
    assert query.continuations == tuple(f" ({letter})" for letter in "ABCDEFGHIJ")
    assert context.count("step by step. It follows. The answer is (B).\n\n") == 5


# --- C-Eval and CMMLU: the texts that the authors' scripts write


def test_ceval_is_asked_as_published(from_rows: FromRows) -> None:
    shots = "".join(
        f"{n}加{n}等于多少?\nA. {n}\nB. {2 * n}\nC. {3 * n}\nD. 不存在\n答案：B\n\n"
        for n in range(4, 9)
    )
    expected = (
        f"以下是中国关于注册会计师考试的单项选择题，请选出其中的正确答案。\n\n{shots}"
        "光在真空中的速度约为____千米每秒。\nA. 30\nB. 300\nC. 3000\nD. 300000\n答案："
    )
    adapter = from_rows("ceval", "ll")
    query = adapter.build_query(*first(adapter))
    assert query.context == expected
    assert query.continuations == ("A", "B", "C", "D")
    assert from_rows("ceval").build_prompt(*first(adapter)) == expected


def test_cmmlu_is_asked_as_published(from_rows: FromRows) -> None:
    shots = "".join(
        f"题目：{n}的平方是:\nA. {n}\nB. {n * n}\nC. {n + 2}\nD. 以上都不对\n答案是：B\n\n"
        for n in range(4, 9)
    )
    expected = (
        f"以下是关于农学的单项选择题，请直接给出正确答案的选项。\n\n{shots}"
        "题目：下列动物中会飞的是:\nA. 蝙蝠\nB. 鲸\nC. 马\nD. 蛇\n答案是："
    )
    adapter = from_rows("cmmlu", "ll")
    query = adapter.build_query(*first(adapter))
    assert query.context == expected
    assert query.continuations == ("A", "B", "C", "D")


@pytest.mark.parametrize(
    ("name", "header"),
    [("ceval", "以下是中国关于"), ("cmmlu", "以下是关于"), ("mmlu_pro", "The fo")],
)
def test_the_header_stays_without_shots(name: str, header: str, from_rows: FromRows) -> None:
    adapter = from_rows(name, few_shot_num=0)
    prompt = str(adapter.build_prompt(*first(adapter, "law" if name == "mmlu_pro" else "")))
    assert prompt.startswith(header)
    assert prompt.count("A. ") == 1


@pytest.mark.parametrize(
    ("reply", "letter"), [("D", "D"), ("答案是：B", "B"), ("正确答案为C。", "C"), ("不知道", "")]
)
def test_chinese_replies(reply: str, letter: str, from_rows: FromRows, judge: Judge) -> None:
    adapter = from_rows("ceval")
    sample, subset = first(adapter)
    assert judge(adapter, sample, subset, reply).pred == letter
