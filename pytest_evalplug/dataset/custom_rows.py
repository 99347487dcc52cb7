"""The rows of a user's own file: free answers, or choices, checked one by one."""

from __future__ import annotations

__all__ = ["Choices", "Questions", "kind_of", "read_file"]

import re
from collections.abc import Iterable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.dataset.readers import read_table
from pytest_evalplug.dataset.table import Record, Table
from pytest_evalplug.errors import DataError, nearest, one_line
from pytest_evalplug.types import Sample, TaskState

if TYPE_CHECKING:
    from pytest_evalplug.dataset.custom import CustomData

_SEPARATORS = {
    ";": "Is it separated by ';'? Save it with commas",
    "\t": "Is it separated by tabs? Call it .tsv",
}
_QA_PROMPT = """\
{question}

Give the answer, as short as it can be, on a last line of the form "ANSWER: ..."."""
_MARKS = r"[\s*_]{0,9}"
_CUES = (
    re.compile(rf"(?:(?<![a-z])answer|答案){_MARKS}[:：][\s*_]*", re.IGNORECASE),
    re.compile(
        rf"(?:(?<![a-z])answer{_MARKS}is\b|答案{_MARKS}应?该?(?:是|为|為))[:：]?[\s*_]*",
        re.IGNORECASE,
    ),
)
_NUMBER = re.compile(r"-?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:e-?\d{1,3})?")


class _Custom(DefaultDataAdapter):
    """What both kinds share: the file itself is read, wherever else data of its name may lie."""

    data: ClassVar[CustomData]
    to_answer: ClassVar[str] = "Write it, or remove the row"
    """What to do about an answer that is not there."""

    def load_from_disk(self, subset: str | None, split: str) -> Table:
        """Read the subset's file. Raises DataError for a column that is not there."""
        path = self.data.files[subset or "default"]
        table = read_file(path)
        if table.records:
            self.check_columns(path, [*table.records[0]])
        return table

    @property
    def needed(self) -> list[str]:
        """The columns without which there is no question."""
        return ["question", self.data.answer]

    def check_columns(self, path: Path, columns: list[str]) -> None:
        """Raise DataError for a column that is not there."""
        for name in self.needed:
            if name not in columns:
                raise DataError(
                    f"{self.data.kind} data needs a column {name!r}",
                    where=str(path),
                    fix=nearest(name, columns),
                )

    def record_to_sample(self, record: Record) -> Sample:
        """Return the question; a column ``id`` names it."""
        question, target = record["question"], record[self.data.answer]
        _check(question, "the question")
        if target == []:
            raise DataError("the answer is an empty list")
        for answer in target if isinstance(target, list) else [target]:
            _check(answer, "the answer", self.to_answer)
        named = record.get("id")
        return Sample(input=str(question), target=target, id=None if named == "" else named)


class Questions(_Custom):
    """Free answers."""

    @property
    def default_prompt(self) -> str:
        """The question, and the order to end with ``ANSWER: ...``."""
        return _QA_PROMPT

    def extract_answer(self, prediction: str, task_state: TaskState) -> str:
        """Return what follows the last ``ANSWER:``, else "answer is"; else the whole reply.

        ``答案：`` and ``答案是`` say the same. A number of the value of a reference that is a
        number is returned as the reference has it.
        """
        from pytest_evalplug.evaluation.postprocess.think import without_reasoning

        answer = without_reasoning(prediction)
        for cue in _CUES:
            _, *after = cue.split(answer)
            if after:
                answer = after[-1].partition("\n")[0]
                break
        answer = answer.strip(" *_\n\t")
        target = task_state.sample.target
        value = _value(answer)
        for reference in target if isinstance(target, list) else [target]:
            is_number = isinstance(reference, (int, float)) and not isinstance(reference, bool)
            if is_number and value == Decimal(str(reference)):
                return str(reference)
        return answer


class Choices(_Custom, MultiChoiceAdapter):
    """Multiple choice; rows may have fewer choices than there are columns."""

    to_answer: ClassVar[str] = "Write the letter of the right choice"

    @property
    def needed(self) -> list[str]:
        """The columns without which there is no question."""
        return ["question", *(self.data.options or "AB"), self.data.answer]

    def check_columns(self, path: Path, columns: list[str]) -> None:
        """Raise DataError for a column that is not there, or one that would be left out."""
        super().check_columns(path, columns)
        if self.data.options:
            return
        lettered = _lettered(columns)
        left_out = [name for name in columns if name in {*ascii_uppercase} - {*lettered}]
        if left_out:
            missing = ascii_uppercase[len(lettered)]
            raise DataError(
                f"there is a column {left_out[0]!r}, but no {missing!r}",
                where=str(path),
                fix=f"Call it {missing!r} if it has choices, else something longer",
            )

    def record_to_sample(self, record: Record) -> Sample:
        """Return the question with those choices that are not empty."""
        sample = super().record_to_sample(record)
        columns = self.data.options or _lettered(record)
        there = [not _is_blank(record[column]) for column in columns]
        if not all(there[: sum(there)]):
            gap = columns[there.index(False)]
            raise DataError(f"the choice {gap} is empty, but not those after it")
        columns = columns[: sum(there)]
        if len(columns) < 2:
            raise DataError("there are not two choices", fix="Write two at least")
        for column in columns:
            _check(record[column], f"the choice {column}")
        sample.choices = [str(record[column]) for column in columns]
        for number, choice in enumerate(_stripped(sample.choices)):
            first = _stripped(sample.choices).index(choice)
            if first != number:
                raise DataError(f"the choices {columns[first]} and {columns[number]} are the same")
        target = sample.target
        answers = target if isinstance(target, list) else [target]
        letters = [_letter(answer, columns, sample.choices) for answer in answers]
        sample.target = letters if isinstance(target, list) else letters[0]
        return sample


def read_file(path: Path) -> Table:
    """Return a file's records. Raises DataError for what is no table, or has no commas."""
    if path.suffix.lower() == ".csv":
        with suppress(OSError), path.open(encoding="utf-8-sig", errors="replace") as file:
            header = file.readline().strip("\r\n")
            for separator, fix in _SEPARATORS.items():
                if separator in header and "," not in header:
                    what = f"the header has one column only, {one_line(header, 80)!r}"
                    raise DataError(what, where=str(path), fix=fix)
    return read_table(path)


def kind_of(path: Path, answer: str) -> Literal["mcq", "qa"] | None:
    """Return what a file's columns say, beside ``answer``; None where it has no rows.

    Raises DataError where one of the columns A and B is there alone.
    """
    records = read_file(path).records
    if not records:
        return None
    found = [name for name in records[0] if name in {"A", "B", "a", "b"} - {answer}]
    if {"A", "B"} <= {*found}:
        return "mcq"
    if found:
        raise DataError(
            f"choices need the columns A and B, and there is {' and '.join(found)}",
            where=str(path),
            fix="Mend the header, or say --eval-custom-type=qa if these are no choices",
        )
    return "qa"


def _lettered(columns: Iterable[str]) -> tuple[str, ...]:
    """Return the letters from A on that are columns."""
    known = {*columns}
    count = next((i for i, letter in enumerate(ascii_uppercase) if letter not in known), 26)
    return tuple(ascii_uppercase[:count])


def _letter(answer: Any, columns: tuple[str, ...], choices: list[str]) -> str:
    """Return the letter of the choice that an answer names: by column, letter or text."""
    names = ascii_uppercase[: len(columns)]
    text = str(answer).strip()
    if text in columns:
        return names[columns.index(text)]
    meant = {letter for letter in names if text.upper() == letter}
    if text not in names:
        meant |= {
            letter
            for letter, choice in zip(names, _stripped(choices), strict=False)
            if choice == text
        }
    if len(meant) == 1:
        return meant.pop()
    which = f"may be choice {' or '.join(sorted(meant))}" if meant else "is none of the choices"
    raise DataError(
        f"the answer {one_line(text, 60)!r} {which}", fix=f"Write the letter, A to {names[-1]}"
    )


def _stripped(texts: Iterable[str]) -> list[str]:
    return [text.strip() for text in texts]


def _check(value: Any, what: str, fix: str = "Write it, or remove the row") -> None:
    """Raise DataError unless ``value`` is a text or a number."""
    if isinstance(value, (list, dict)):
        kind = "a list" if isinstance(value, list) else "an object"
        raise DataError(f"{what} is {kind}", fix="Write a text or a number")
    if _is_blank(value):
        raise DataError(f"{what} is empty", fix=fix)


def _is_blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _value(text: str) -> Decimal | None:
    """Return the value of a text that is a number and nothing else."""
    from pytest_evalplug.evaluation.textnorm import normalize_answer

    number = normalize_answer(text)
    return Decimal(number) if _NUMBER.fullmatch(number) else None
