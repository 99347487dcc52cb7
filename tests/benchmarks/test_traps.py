"""The traps in the data, one test each, and real replies with published scores."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.ids import item_ids
from pytest_evalplug.errors import DataError
from pytest_evalplug.types import Detail, Sample

Make: TypeAlias = Callable[..., DefaultDataAdapter]
AtHand: TypeAlias = Callable[[DefaultDataAdapter], list[str]]
Judge: TypeAlias = Callable[..., Detail]
Shipped: TypeAlias = dict[str, type[DefaultDataAdapter]]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def sample_of(adapter: DefaultDataAdapter, record: dict[str, Any], subset: str = "") -> Sample:
    sample = adapter.record_to_sample(record)
    assert isinstance(sample, Sample)
    return adapter.finish_sample(sample, subset or adapter.subset_list[0])


# --- GSM8K


def test_gsm8k_references_with_commas_and_signs_are_numbers(make: Make, judge: Judge) -> None:
    adapter = make("gsm8k")
    found = 0
    for sample in adapter.samples("main"):
        number = sample.target.rpartition("#### ")[2]
        if "," in number or number.startswith("-"):
            found += 1
            plain = number.replace(",", "")
            assert judge(adapter, sample, "main", f"#### {plain}.00").correct, number
            assert not judge(adapter, sample, "main", f"#### {plain}1").correct, number
    assert found == 16


def test_gsm8k_samples_keep_their_characters(make: Make, data_dir: Path) -> None:
    test = rows(data_dir / "gsm8k" / "test.jsonl")
    assert [s.input for s in make("gsm8k").samples("main")] == [r["question"] for r in test]
    assert any("\u2019" in r["question"] for r in test)


@pytest.mark.parametrize(("file", "right"), [("6b_finetuning", 286), ("6b_verification", 515)])
def test_gsm8k_replies_of_the_paper_get_their_published_verdicts(
    file: str, right: int, make: Make, data_dir: Path, judge: Judge
) -> None:
    adapter = make("gsm8k")
    replies = rows(data_dir / "replies" / "gsm8k" / f"{file}.jsonl")
    verdicts = [
        judge(adapter, sample, "main", reply["prediction"]).correct
        for sample, reply in zip(adapter.samples("main"), replies, strict=True)
    ]
    assert verdicts == [reply["is_correct"] for reply in replies]
    assert sum(v is True for v in verdicts) == right


# --- BBH


def test_bbh_rows_that_ask_the_same_keep_ids_of_their_own(make: Make) -> None:
    adapter = make("bbh")
    for subset in ("causal_judgement", "sports_understanding"):
        samples = adapter.samples(subset)
        assert len({str(s.input) for s in samples}) == len(samples) - 2
        assert len(set(item_ids(samples, subset))) == len(samples)


@pytest.mark.parametrize(
    ("subset", "row", "near"),
    [
        ("movie_recommendation", 163, "(A)"),
        ("ruin_names", 99, "(I)"),
        ("ruin_names", 144, "(D)"),
    ],
)
def test_bbh_free_references_are_compared_as_text(
    subset: str, row: int, near: str, make: Make, judge: Judge
) -> None:
    adapter = make("bbh")
    sample = adapter.samples(subset)[row]
    assert sample.choices is None
    assert judge(adapter, sample, subset, f"So the answer is {sample.target}.").correct
    assert not judge(adapter, sample, subset, f"So the answer is {near}.").correct


def test_bbh_valid_is_not_invalid(make: Make, judge: Judge) -> None:
    adapter = make("bbh")
    for sample in adapter.samples("formal_fallacies")[:20]:
        for answer in ("valid", "invalid"):
            detail = judge(adapter, sample, "formal_fallacies", f"So the answer is {answer}.")
            assert detail.correct == (answer == sample.target)


def test_bbh_likelihood_of_the_options_as_listed(make: Make, data_dir: Path) -> None:
    adapter = make("bbh")
    row = rows(data_dir / "bbh" / "formal_fallacies" / "test.jsonl")[3]
    assert "- valid \n" in row["input"]
    query = adapter.build_query(adapter.samples("formal_fallacies")[3], "formal_fallacies")
    assert query.continuations == (" valid", " invalid")
    widest = max(
        (len(s.choices or ()) for s in adapter.samples("reasoning_about_colored_objects")),
    )
    assert widest == 18


@pytest.mark.parametrize("shots", [0, 3])
def test_bbh_without_its_header_says_where_it_belongs(
    shots: int, shipped: Shipped, tmp_path: Path
) -> None:
    folder = tmp_path / "bbh" / "snarks"
    folder.mkdir(parents=True)
    (folder / "test.jsonl").write_text('{"input": "Q", "target": "(A)"}\n', encoding="utf-8")
    adapter = shipped["bbh"](
        benchmark_meta=shipped["bbh"].__evalplug_meta__.override({"few_shot_num": shots}),
        options=AdapterOptions(data_dirs=(tmp_path,)),
    )
    with pytest.raises(DataError, match=r"no file 'cot_prompt\.txt' .* subset 'snarks'"):
        adapter.samples("snarks")


def test_bbh_replies_of_the_paper_get_their_published_scores(
    make: Make, data_dir: Path, judge: Judge
) -> None:
    adapter = make("bbh")
    folder = data_dir / "replies" / "bbh"
    published = json.loads((folder / "published_accuracy.json").read_text("utf-8"))["cot"]
    assert sorted(published) == sorted(adapter.subsets())
    for subset, accuracy in published.items():
        replies = rows(folder / "cot" / f"{subset}.jsonl")
        details = [
            judge(adapter, sample, subset, reply["prediction"])
            for sample, reply in zip(adapter.samples(subset), replies, strict=True)
        ]
        records = [{"prediction": reply["prediction"]} for reply in replies]
        (score,) = adapter.scorer.aggregate(subset, details, records)
        assert (score.metric, score.num_samples) == ("accuracy", len(replies))
        assert score.value == pytest.approx(accuracy), subset


# --- AGIEval


@pytest.mark.parametrize("label", ["AD", "A D", "D, A", ["A", "D"], ["D", "A"]])
def test_agieval_all_right_letters_and_no_others(label: Any, make: Make, judge: Judge) -> None:
    adapter = make("agieval")
    record = {
        "passage": None,
        "question": "Which?",
        "options": ["(A)a", "(B)b", "(C)c", "(D)d"],
        "label": label,
    }
    sample = sample_of(adapter, record, "gaokao-physics")
    assert sample.target == "AD"
    for reply, right in {"AD": True, "The answer is A and D.": True, "A": False}.items():
        assert judge(adapter, sample, "gaokao-physics", reply).correct is right, reply
    assert judge(adapter, sample, "gaokao-physics", "ACD").correct is False


def test_agieval_choices_lose_their_labels_and_nothing_else(make: Make) -> None:
    adapter = make("agieval")
    options = ["(A)(1)(2)", "  B\uff0e(B) b", " C. c. D. ", "D d"]
    record = {"passage": "", "question": "Which?", "options": options, "label": "C"}
    assert sample_of(adapter, record).choices == ["(1)(2)", "(B) b", "c. D.", "D d"]


def test_agieval_no_choice_begins_with_a_label(make: Make) -> None:
    adapter = make("agieval")
    for subset in adapter.subsets():
        for sample in adapter.samples(subset):
            for choice in sample.choices or ():
                assert not choice.startswith(("(A)", "(B)", "(C)", "(D)", "(E)")), sample.id


def test_agieval_wrongly_lettered_rows_are_lettered_by_position(make: Make) -> None:
    samples = make("agieval").samples("gaokao-history")
    # the source letters these A, B, C, C and A, C, C, D; the label counts positions
    assert [(samples[i].target, len(samples[i].choices or ())) for i in (78, 80, 83)] == [
        ("D", 4),
        ("A", 4),
        ("B", 4),
    ]


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (r"so \boxed{\dfrac{1}{2}; 3}.", True),
        (r"so \boxed{ $\frac{1}{2}$;$3$ }", True),
        ("so \\boxed{\\frac{1}{2}\uff1b3}", True),
        (r"so \boxed{0.5; \sqrt{9}}", True),
        (r"so \boxed{3;\frac{1}{2}}", False),
        (r"so \boxed{\frac{1}{2}}", False),
        (r"so \frac{1}{2};3", False),
    ],
)
def test_agieval_formulas_are_compared_without_layout(
    reply: str, right: bool, make: Make, judge: Judge
) -> None:
    adapter = make("agieval")
    record = {
        "passage": None,
        "question": "Which?",
        "options": None,
        "label": None,
        "answer": r"$\frac{1}{2}$;$3$",
    }
    sample = sample_of(adapter, record, "gaokao-mathcloze")
    assert judge(adapter, sample, "gaokao-mathcloze", reply).correct is right


def test_agieval_layout_is_no_prefix_of_a_command(make: Make, judge: Judge) -> None:
    adapter = make("agieval")
    record = {
        "passage": None,
        "question": "Which?",
        "options": None,
        "label": None,
        "answer": r"\left(0,1\right] \leftarrow",
    }
    sample = sample_of(adapter, record, "math")
    assert judge(adapter, sample, "math", r"\boxed{(0,1]\leftarrow}").correct
    assert not judge(adapter, sample, "math", r"\boxed{(0,1]arrow}").correct


# --- MMLU


def test_mmlu_choices_that_read_none_are_shown(make: Make) -> None:
    adapter = make("mmlu")
    found = 0
    for subset in ("college_computer_science", "college_mathematics"):
        for sample in adapter.samples(subset):
            choices = sample.choices or []
            if "None" in choices:
                found += 1
                text = adapter.build_prompt(sample, subset)
                assert isinstance(text, str)
                shown = text.rpartition("\n\n")[2]
                assert f"{'ABCD'[choices.index('None')]}. None\n" in shown
    assert found == 5


def test_mmlu_subjects_that_are_not_there_say_so_one_by_one(
    make: Make, at_hand: AtHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    adapter = make("mmlu")
    missing = [s for s in adapter.subsets() if s not in at_hand(adapter)]
    assert len(missing) == 47
    for subset in missing:
        with pytest.raises(DataError) as caught:
            adapter.samples(subset)
        message = str(caught.value)
        assert f"subset {subset!r}" in message
        assert f"mmlu/{subset}/test.jsonl" in message
        assert "--data-dir" in message
        assert "\n" not in message


def test_mmlu_reads_the_columns_of_the_hub(make: Make) -> None:
    adapter = make("mmlu")
    record = {"question": "Q?", "subject": "anatomy", "choices": ["w", "x", "y", "z"], "answer": 0}
    sample = sample_of(adapter, record, "anatomy")
    assert (sample.choices, sample.target) == (["w", "x", "y", "z"], "A")


# --- ARC


def test_arc_choices_that_are_there_twice_keep_their_letters(make: Make, judge: Judge) -> None:
    adapter = make("arc_challenge")
    twice = [
        s
        for s in adapter.samples("ARC-Challenge")
        if len(set(s.choices or ())) < len(s.choices or ())
    ]
    assert [s.index for s in twice] == ["121", "385", "400", "1042"]
    for sample in twice:
        assert len(adapter.build_query(sample, "ARC-Challenge").continuations) == 4
        for letter in "ABCD":
            detail = judge(adapter, sample, "ARC-Challenge", letter, pred_label=letter)
            assert detail.correct == (letter == sample.target)


@pytest.mark.parametrize(("labels", "key"), [(["A", "B", "C"], "C"), (["1", "2", "3"], "3")])
def test_arc_reads_the_columns_of_the_hub(labels: list[str], key: str, make: Make) -> None:
    adapter = make("arc_easy")
    record = {
        "id": "Exam_7",
        "question": "Which?",
        "choices": {"text": ["x", "y", "z"], "label": labels},
        "answerKey": key,
    }
    sample = sample_of(adapter, record)
    assert (sample.id, sample.input, sample.target) == ("Exam_7", "Which?", "C")
    assert sample.choices == ["x", "y", "z"]


def test_arc_length_normalised_choice_is_a_metric_of_its_own(make: Make, judge: Judge) -> None:
    adapter = make("arc_easy")
    sample = adapter.samples("ARC-Easy")[0]
    wrong = "B" if sample.target == "A" else "A"
    detail = judge(
        adapter, sample, "ARC-Easy", wrong, pred_label=wrong, pred_label_norm=sample.target
    )
    assert detail.score == {"accuracy": 0.0, "accuracy_norm": 1.0}
    assert detail.correct is False
