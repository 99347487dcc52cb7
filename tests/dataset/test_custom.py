from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.custom import CustomData, Kind, benchmark_of, find_custom, split_name
from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.types import Detail, ModelOutput, Sample, TaskState

Write: TypeAlias = Callable[[str, str], Path]

MCQ = "question,A,B,C,answer\nIs it?,yes,no,,B\nWhich?,one,two,three,C\n"
QA = '{"question": "2+2", "answer": 4}\n{"question": "Who?", "answer": ["Ada", "Lovelace"]}\n'


def adapter_of(data: CustomData, **options: Any) -> DefaultDataAdapter:
    return benchmark_of(data)(options=AdapterOptions(**options))


def detail(adapter: DefaultDataAdapter, sample: Sample, reply: str) -> Detail:
    state = TaskState("m", sample, [], ModelOutput(reply), sample_id="0", group_id="0")
    return adapter.scorer.detail(state, {"index": "0", "prediction": reply})


def test_multiple_choice(write: Write) -> None:
    path = write("exam.csv", MCQ)
    data = find_custom(str(path), None)
    assert (data.name, data.path, data.kind, data.infer) == ("exam", path, "mcq", None)
    adapter = adapter_of(data)
    first, second = adapter.samples("default")
    assert (first.input, first.choices, first.target) == ("Is it?", ["yes", "no"], "B")
    assert (second.choices, second.target) == (["one", "two", "three"], "C")
    assert adapter.metric_list == ("accuracy",)
    assert detail(adapter, first, "I think that\nANSWER: B").correct
    assert not detail(adapter, first, "ANSWER: A").correct
    assert "A. yes\nB. no\n" in str(adapter.build_prompt(first, "default"))
    query = adapter.build_query(first, "default")
    assert query.context == "Is it?\n\nA. yes\nB. no\nANSWER:"
    assert query.continuations == (" A", " B")


def test_free_answers(write: Write) -> None:
    data = find_custom(f"sums={write('data.jsonl', QA)}", None)
    assert (data.name, data.kind) == ("sums", "qa")
    adapter = adapter_of(data)
    first, second = adapter.samples("default")
    for reply in (
        *("4", "It is\nANSWER: 4", "answer: **4**", "ANSWER: 5, no: ANSWER: 4.", "**4**"),
        *("The answer is 4.", "**Answer**: 4", "ANSWER: 4\nThe answer is certain.", "Answer:\n4\n"),
    ):
        assert detail(adapter, first, reply).correct, reply
    for reply in ("", "5", "4 apples", "ANSWER: 4\nANSWER: 5", "<think>ANSWER: 4"):
        assert detail(adapter, first, reply).correct is False, reply
    assert detail(adapter, second, "ANSWER: Lovelace").correct
    assert 'ANSWER: ..."' in str(adapter.build_prompt(first, "default"))


def test_the_file_is_read_whatever_a_data_directory_has(write: Write, tmp_path: Path) -> None:
    write("gsm8k/test.jsonl", '{"question": "other", "answer": "x"}\n')
    data = find_custom(f"gsm8k={write('own.jsonl', QA)}", None)
    adapter = adapter_of(data, data_dirs=(tmp_path,))
    assert adapter.samples("default")[0].input == "2+2"


def test_a_folder_s_files_are_subsets(write: Write) -> None:
    write("exam/law.csv", MCQ)
    write("exam/law.csv.meta.json", "{}")
    write("exam/notes.txt", "")
    folder = write("exam/art.jsonl", '{"question": "q", "A": "x", "B": "y", "answer": "A"}').parent
    data = find_custom(str(folder), None)
    assert (data.name, data.kind, [*data.files]) == ("exam", "mcq", ["art", "law"])
    adapter = adapter_of(data)
    assert adapter.subsets() == ["art", "law"]
    assert [len(adapter.samples(s)) for s in adapter.subsets()] == [1, 2]


def test_two_files_of_one_subset(write: Write) -> None:
    write("exam/art.csv", MCQ)
    folder = write("exam/art.jsonl", QA).parent
    with pytest.raises(
        EvalplugError, match=r"art.csv and art.jsonl would both be the subset 'art'"
    ):
        find_custom(str(folder), None)


@pytest.mark.parametrize(
    ("file", "name"), [("my exam!.csv", "my_exam"), ("-x.v2.csv", "x.v2"), ("\u8003.csv", "custom")]
)
def test_a_file_s_name_is_made_a_benchmark_s(file: str, name: str, write: Write) -> None:
    assert find_custom(str(write(file, MCQ)), None).name == name


def test_ids_come_from_their_column(write: Write) -> None:
    rows = "id,question,answer\nfirst,q,a\n,q,b\n"
    samples = adapter_of(find_custom(str(write("d.csv", rows)), None)).samples("default")
    assert [sample.id for sample in samples] == ["first", "1"]
    numbers = "".join(json.dumps({"id": n, "question": "q", "answer": 1}) + "\n" for n in (7, 0))
    samples = adapter_of(find_custom(str(write("n.jsonl", numbers)), None)).samples("default")
    assert [sample.id for sample in samples] == ["7", "0"]


def test_meta_json(write: Write) -> None:
    path = write("d.csv", "question,left,right,gold\nq,x,y,right\n")
    meta = {
        "abbr": "pairs",
        "data_type": "mcq",
        "infer_method": "ppl",
        "options": ["left", "right"],
        "output_column": "gold",
        "input_columns": ["question", "left", "right"],
    }
    write("d.csv.meta.json", json.dumps(meta))
    data = find_custom(str(path), None)
    assert (data.name, data.kind, data.infer) == ("pairs", "mcq", "ppl")
    [sample] = adapter_of(data).samples("default")
    assert (sample.choices, sample.target) == (["x", "y"], "B")
    named = find_custom(f"mine={path}", "qa")
    assert (named.name, named.kind) == ("mine", "qa")
    assert adapter_of(named).samples("default")[0].target == "right"


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("[]", "a JSON object is needed"),
        ("{", "not readable as JSON"),
        ('{"human_prompt": "{A}"}', "'human_prompt' has no meaning here. Known: abbr, data_type"),
        ('{"data_type": "circular-mcq"}', "data_type is 'circular-mcq', not one of mcq, qa"),
        ('{"options": "AB"}', "options is 'AB', not a list"),
        ('{"abbr": "no good"}', "name is 'no good'. Use letters"),
    ],
)
def test_a_meta_json_that_can_t_be_followed(meta: str, said: str, write: Write) -> None:
    write("d.csv.meta.json", meta)
    with pytest.raises(EvalplugError) as error:
        find_custom(str(write("d.csv", MCQ)), None)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("kind", "rows", "said"),
    [
        ("mcq", "question,answer\nq,a\n", "mcq data needs a column 'A'. Known: answer, question"),
        ("mcq", "Question,A,B,answer\nq,x,y,A\n", "needs a column 'question'. Did you mean 'Que"),
        ("qa", "question,reply\nq,a\n", "qa data needs a column 'answer'. Known: question, reply"),
        (None, "question,A,B\nq,x,y\n", "mcq data needs a column 'answer'. Known: A, B, question"),
        (
            None,
            "question,A,B,answer\nq,x,y,A\nq,x,y,C\n",
            "d.csv:3: the answer 'C' is none of the c",
        ),
        (None, "question,A,B,C,answer\nq,x,,y,A\n", "d.csv:2: the choice B is empty"),
        (None, "question,A,B,answer\n,x,y,A\n", "d.csv:2: the question is empty"),
        (None, "question,A,B,answer\nq,x,,A\n", "d.csv:2: there are not two choices. Write two"),
        (None, "question,A,B,answer\nq,x, ,A\n", "d.csv:2: there are not two choices"),
        (None, "question,A,B,answer\nq,, ,A\n", "d.csv:2: there are not two choices"),
        (None, "question,A,B,C,answer\nq,x,y,x ,A\n", "d.csv:2: the choices A and C are the same"),
        (None, "question,A,B,D,answer\nq,x,y,z,A\n", "a column 'D', but no 'C'. Call it 'C' if"),
        (None, "question,A,answer\nq,x,A\n", "the columns A and B, and there is A. Mend the head"),
        (None, "question,a,b,answer\nq,x,y,a\n", "the columns A and B, and there is a and b"),
        (None, "question,A,B,answer\nq,x,y,0\n", "the answer '0' is none of the choices. Write th"),
        (
            None,
            "question,A,B,answer\nq,x,y,\n",
            "d.csv:2: the answer is empty. Write the letter of",
        ),
        (
            None,
            "question,A,B,answer\nq,y,a,a\n",
            "'a' may be choice A or B. Write the letter, A to B",
        ),
        (None, "question,answer\nq,a\nq, \n", "d.csv:3: the answer is empty"),
        (None, "question;answer\nq,r;a\n", "d.csv: the header has one column only, 'question;a"),
        (None, "question;answer\nq;a\n", "Is it separated by ';'? Save it with commas"),
        (None, "question\tanswer\nq\ta\n", "Is it separated by tabs? Call it .tsv"),
        (None, "question,answer\n", "has no samples"),
        (None, "question,answer\nq\n", "d.csv:2: 1 fields, but the header has 2"),
    ],
)
def test_what_is_wrong_with_a_file(kind: Kind | None, rows: str, said: str, write: Write) -> None:
    with pytest.raises(EvalplugError) as error:
        find_custom(str(write("d.csv", rows)), kind)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"question": ["q"], "answer": "a"}, "the question is a list. Write a text or a number"),
        ({"question": "q", "answer": {"text": "a"}}, "the answer is an object. Write a text"),
        ({"question": "q", "answer": [["a"]]}, "the answer is a list"),
        ({"question": "q", "answer": ["a", ""]}, "the answer is empty"),
        ({"question": "q", "answer": []}, "the answer is an empty list"),
        ({"question": "q", "answer": None}, "the answer is empty"),
        ({"question": "q", "answer": float("nan")}, "the answer is empty"),
        ({"question": "q", "A": "x", "B": ["y"], "answer": "A"}, "the choice B is a list"),
    ],
)
def test_what_is_wrong_with_a_json_row(row: dict[str, Any], said: str, write: Write) -> None:
    with pytest.raises(EvalplugError) as error:
        find_custom(str(write("d.jsonl", json.dumps(row))), None)
    assert f"d.jsonl:1: {said}" in str(error.value)


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("b", "B"), (" B ", "B"), ("no", "B"), ("a", "A"), (["A", "no"], ["A", "B"]), (7, "C")],
)
def test_answers_as_people_write_them(answer: Any, letter: Any, write: Write) -> None:
    row = {"question": "q", "A": "yes", "B": "no", "C": 7, "answer": answer}
    [sample] = adapter_of(find_custom(str(write("d.jsonl", json.dumps(row))), None)).samples(
        "default"
    )
    assert sample.target == letter


@pytest.mark.parametrize(
    ("reference", "right", "wrong"),
    [
        (
            "北京",
            ["ANSWER：北京", "答案：北京", "答案是北京", "最终答案：**北京**", "**答案**: 北京。"],
            ["答案：上海", "答案不是北京", "答案是上海，不是北京", "答案："],
        ),
        ("Beijing", ["所以答案应为：Beijing\n谢谢", "最终ANSWER: Beijing"], ["Beijings"]),
        (4.0, ["4", "4.0", "ANSWER: 4.", "答案是4", "4.00"], ["40", "4.5", "-4", "four", "snan"]),
        (4, ["4.0", "**4**", "$4"], ["4 apples", "4e1", ""]),
        ([1000, "many"], ["1,000", "1e3", "Many"], ["100"]),
        ("4.0", ["4.0"], ["4"]),
    ],
)
def test_how_answers_are_found(
    reference: Any, right: list[str], wrong: list[str], write: Write
) -> None:
    row = json.dumps({"question": "q", "answer": reference})
    adapter = adapter_of(find_custom(str(write("d.jsonl", row)), None))
    [sample] = adapter.samples("default")
    assert [reply for reply in right if not detail(adapter, sample, reply).correct] == []
    assert [reply for reply in wrong if detail(adapter, sample, reply).correct] == []


def test_files_of_both_kinds(write: Write) -> None:
    write("exam/law.csv", MCQ)
    folder = str(write("exam/zen.jsonl", QA).parent)
    with pytest.raises(
        ConfigError, match=r"exam: law.csv has choices \(mcq\), zen.jsonl free answers \(qa\). Put"
    ):
        find_custom(folder, None)
    write("exam/law.csv", "question,answer\nq,a\n")
    assert find_custom(folder, None).kind == "qa"


def test_a_column_of_answers_that_is_a_letter(write: Write) -> None:
    write("d.csv.meta.json", '{"output_column": "A"}')
    data = find_custom(str(write("d.csv", "question,A\nq,x\n")), None)
    assert (data.kind, adapter_of(data).samples("default")[0].target) == ("qa", "x")


def test_columns_of_choices_make_it_multiple_choice(write: Write) -> None:
    write("d.csv.meta.json", '{"options": ["left", "right"]}')
    data = find_custom(str(write("d.csv", "question,left,right,answer\nq,x,y,y\n")), None)
    assert (data.kind, adapter_of(data).samples("default")[0].target) == ("mcq", "B")


def test_what_is_no_data(write: Write, tmp_path: Path) -> None:
    for place, said in (
        ("none.csv", "there is no file"),
        ("folder", "there is no data in the folder"),
        ("notes.txt", "no reader for .txt"),
    ):
        (tmp_path / "folder").mkdir(exist_ok=True)
        write("notes.txt", "question")
        with pytest.raises(EvalplugError, match=said):
            find_custom(str(tmp_path / place), None)


def test_it_crosses_to_workers(write: Write) -> None:
    data = replace(find_custom(str(write("d.csv", MCQ)), None), options=("A", "B"))
    assert CustomData.from_wire(json.loads(json.dumps(data.to_wire()))) == data


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,9}", fullmatch=True), st.text(min_size=1))
def test_a_name_is_what_stands_before_the_first_equals_sign(name: str, path: str) -> None:
    assert split_name(f"{name}={path}") == (name, path)
    assert split_name(f"./{name}={path}") == ("", f"./{name}={path}")


def test_a_path_alone_has_no_name() -> None:
    assert split_name("data/a=b.csv") == ("", "data/a=b.csv")
    assert split_name("=b.csv") == ("", "=b.csv")
