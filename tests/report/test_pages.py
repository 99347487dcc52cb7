from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_evalplug.dataset.catalogue import Entry, find, find_all
from pytest_evalplug.report.pages import SHOWN, index, page

MODULE = '''
"""Quiz: short questions.

Data      hub owner/quiz: test 2
Metric    accuracy of <the> *word*, see https://example.org/a_b (and [here])
"""
from pytest_evalplug import *

@register_benchmark(
    BenchmarkMeta(
        name="quiz",
        pretty_name="Quiz",
        description="Short questions.",
        description_zh="简短的问题。",
        tags=["Math"],
        dataset_id="owner/quiz",
        revision="abc",
        license="MIT",
    )
)
class Quiz(MultiChoiceAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target="A", choices=["yes", "no"])
'''


@pytest.fixture
def entry(tmp_path: Path) -> Entry:
    path = tmp_path / "test_quiz.py"
    path.write_text(MODULE, encoding="utf-8")
    return find_all([path])[0]


def data(folder: Path, question: str) -> list[Path]:
    (folder / "quiz").mkdir(parents=True)
    rows = [{"q": question}, {"q": "second?"}]
    text = "\n".join(map(json.dumps, rows))
    (folder / "quiz" / "test.jsonl").write_text(text, encoding="utf-8")
    return [folder]


def test_a_page_says_what_the_benchmark_says(entry: Entry, tmp_path: Path) -> None:
    text = page(entry, data_dirs=data(tmp_path / "data", "first?"))
    assert text.startswith("# Quiz\n\nShort questions.\n\n| Name | `quiz` |\n| --- | --- |\n")
    for line in (
        "| Tags | Math |",
        "| Modes | `gen`, `ppl`, `ll` |",
        "| Samples | 2 |",
        "| Data | `owner/quiz` at revision `abc` |",
        "With `--eval-mode=gen`, subset `default`:",
        "first?",
        "A. yes",
        "The reference is `A`.",
        "⇒ B",
        f"    pytest {entry.path}::Quiz --model=MODEL --eval-mode=ll",
    ):
        assert f"\n{line}\n" in text
    assert "second?" not in text


def test_text_is_escaped_where_it_is_rendered(entry: Entry) -> None:
    shown = r"accuracy of &lt;the> \*word\*, see <https://example.org/a_b> (and \[here])"
    assert shown in page(entry)
    assert "accuracy of <the> *word*, see https://example.org/a_b (and [here])" in page(
        entry, rendered=False
    )


def test_in_chinese(entry: Entry) -> None:
    text = page(entry, "zh")
    assert text.startswith("# Quiz\n\n简短的问题。\n\n| 名称 | `quiz` |\n")
    assert "本地没有数据，故不展示。" in text
    assert "Short questions" not in text


def test_data_that_is_not_at_hand(entry: Entry, tmp_path: Path) -> None:
    assert "\n\nThe data is not at hand, so none is shown.\n\n" in page(entry)
    text = page(entry, made_up=data(tmp_path / "rows", "made up?"))
    assert "The data is not at hand: this is a row written by hand in its columns." in text
    assert "\nmade up?\n" in text
    assert "| Samples | 2 |" in text  # the sheet's


def test_a_prompt_can_neither_leave_its_block_nor_steer_a_terminal(
    entry: Entry, tmp_path: Path
) -> None:
    text = page(entry, data_dirs=data(tmp_path, "````\n# no heading \x1b[2J"))
    assert text.count("\n`````text\n````\n# no heading \\x1b[2J\n") == 2
    assert "\x1b" not in text


def test_a_long_prompt_loses_its_middle(entry: Entry, tmp_path: Path) -> None:
    text = page(entry, data_dirs=data(tmp_path, "x" * 10 * SHOWN))
    assert len(text) < 3 * SHOWN
    assert "characters ...]" in text


def test_a_shipped_benchmark_is_run_from_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = find("gsm8k")
    assert "    pytest benchmarks/test_gsm8k.py::TestGSM8K --model=MODEL\n" in page(entry)
    monkeypatch.setattr("pytest_evalplug.report.pages.INSTALLED", entry.path.parent)
    module = "--pyargs pytest_evalplug.benchmarks.test_gsm8k::TestGSM8K"
    assert f"    pytest {module} --model=MODEL\n" in page(entry)


def test_a_judge_is_asked_for() -> None:
    assert "`--judge-model=MODEL`" in page(find("truthfulqa_gen"))
    assert "--judge-model" not in page(find("gsm8k"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_index(language: str) -> None:
    entries = find_all()
    text = index(entries, language)
    for entry in entries:
        assert text.count(f"]({entry.name}.md)") == len(entry.meta.tags)
    assert "\n## Math\n" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_shipped_benchmark_has_a_page(language: str) -> None:
    for entry in find_all():
        text = page(entry, language)
        assert text.count("\n## ") >= 6, entry.name
        assert (language == "zh") == (entry.meta.description_zh in text)
