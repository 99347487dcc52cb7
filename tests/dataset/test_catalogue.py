from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.catalogue import Entry, find, find_all, shipped_folder
from pytest_evalplug.errors import ConfigError, DataError

SHEET = '''
"""Quiz: short questions.

Paper     none
Data      hub owner/quiz: test 1,234 in all,
          dev 5 (the shots)
Metric    accuracy; Not a heading
"""
'''
QUIZ = """
from pytest_evalplug import *

class Shared(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"], choices=record.get("choices"))

@register_benchmark(BenchmarkMeta(name="quiz", dataset_id="owner/quiz", subset_list=["a", "b"]))
class Quiz(Shared):
    pass
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.strip() + "\n", encoding="utf-8")
    return path


def one(tmp_path: Path, text: str) -> Entry:
    (entry,) = find_all([write(tmp_path / "test_quiz.py", SHEET + QUIZ + text)])
    return entry


def test_the_shipped_benchmarks() -> None:
    entries = find_all()
    assert len({entry.name for entry in entries}) == len(entries) > 30
    assert {"gsm8k", "gsm8k_0shot"} <= {entry.name for entry in entries}
    assert all(entry.path.parent == shipped_folder() for entry in entries)


def test_modules_of_folders(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "test_quiz.py", QUIZ)
    write(tmp_path / "quiz_test.py", QUIZ.replace('"quiz"', '"other"'))
    write(tmp_path / "test_ordinary.py", "raise SystemExit('is not imported')")
    write(tmp_path / "helpers.py", "raise SystemExit('register_benchmark')")
    write(tmp_path / "test_imports.py", "# register_benchmark\nfrom test_quiz import Quiz")
    with pytest.raises(ConfigError, match=r"test_imports.py: can't be imported: ModuleNotFound"):
        find_all([tmp_path])
    (tmp_path / "test_imports.py").unlink()
    assert [entry.name for entry in find_all([tmp_path])] == ["quiz", "other"]
    assert find("other", [tmp_path / "quiz_test.py"]).path.name == "quiz_test.py"


def test_mistakes(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: no such file or folder"):
        find_all([tmp_path / "nowhere"])
    with pytest.raises(ConfigError, match=r"there is no benchmark 'gsm8'. Did you mean 'gsm8k'\?"):
        find("gsm8")


def test_what_lies_beside_a_module_is_found(tmp_path: Path) -> None:
    write(tmp_path / "beside_it.py", "NAME = 'quiz'")
    code = QUIZ.replace('"quiz"', "NAME").replace(
        "import *", "import *\nfrom beside_it import NAME"
    )
    assert find_all([write(tmp_path / "test_quiz.py", code)])[0].name == "quiz"


@pytest.mark.parametrize(
    "code",
    [
        "    def __init__(self, **kwargs): raise KeyError('mine')",
        "    def load_subset(self, subset): raise KeyError('mine')",
    ],
)
def test_an_author_s_mistake_is_one_line(tmp_path: Path, code: str) -> None:
    with pytest.raises(ConfigError, match=r"test_quiz.py: KeyError: 'mine'"):
        one(tmp_path, code).sizes([])


def test_a_module_that_skips_itself(tmp_path: Path) -> None:
    path = write(tmp_path / "test_x.py", QUIZ + "import pytest\npytest.importorskip('no_such')")
    with pytest.raises(ConfigError, match=r"test_x.py: can't be imported: Skipped: .*no_such"):
        find_all([path])


def test_an_imported_class_and_an_undecorated_one_are_none(tmp_path: Path) -> None:
    code = "\nclass Sub(Quiz): pass\nfrom pytest_evalplug import MultiChoiceAdapter as Imported\n"
    assert one(tmp_path, code).cls.__name__ == "Quiz"


def test_the_sheet(tmp_path: Path) -> None:
    entry = one(tmp_path, "")
    assert entry.sheet == {
        "Paper": "none",
        "Data": "hub owner/quiz: test 1,234 in all, dev 5 (the shots)",
        "Metric": "accuracy; Not a heading",
    }
    assert entry.published_samples() == "1,234 in all"


def test_sizes_are_those_at_hand_and_no_hub_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "pytest_evalplug.dataset.loading.load_from_hub", lambda *_: pytest.fail("asked")
    )
    write(tmp_path / "data/quiz/b/test.jsonl", '{"q": "x", "a": "y"}\n' * 3)
    entry = one(tmp_path, "")
    assert entry.sizes([tmp_path / "data"]) == {"b": 3}
    with pytest.raises(DataError, match="there is no dataset_id"):
        entry.adapter([tmp_path / "data"]).samples("a")


@pytest.mark.parametrize(
    ("body", "modes"),
    [
        ("", ["gen"]),
        ("    modes = ('ll',)\n    def continuations(self, sample): return ['x']\n", ["ll"]),
        ("    def continuations(self, sample): return ['x']\n", ["gen", "ppl", "ll"]),
    ],
)
def test_modes(tmp_path: Path, body: str, modes: list[str]) -> None:
    assert one(tmp_path, body).modes == modes


def test_modes_are_those_in_which_the_data_can_be_asked(data_dir: Path) -> None:
    at_hand = [entry for entry in find_all() if entry.sizes([data_dir])]
    assert len(at_hand) > 20
    for entry in at_hand:
        adapter = entry.adapter([data_dir], "ll", limit=5)
        assert asked(adapter) == ("ll" in entry.modes), entry.name


def asked(adapter: DefaultDataAdapter) -> bool:
    """Tell whether some sample at hand has something to compare."""
    for subset in adapter.subset_list:
        try:
            samples = adapter.samples(subset)
        except DataError:
            continue
        if any(map(adapter.continuations, samples)):
            return True
    return False


def test_what_scores_it(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        @register_benchmark(BenchmarkMeta(name="named", eval_cfg=dict(evaluator=dict(type="f1"))))
        class Named(Shared): pass

        @register_benchmark(BenchmarkMeta(name="own", eval_cfg=dict(evaluator=BaseEvaluator)))
        class Own(Shared): pass

        @register_benchmark(BenchmarkMeta(name="metrics", metric_list=["bleu", "chrf"]))
        class Metrics(Shared): pass
        """
    )
    entries = find_all([write(tmp_path / "test_x.py", QUIZ + code)])
    assert {entry.name: entry.scored_by for entry in entries} == {
        "quiz": ["accuracy"],
        "named": ["f1"],
        "own": ["BaseEvaluator"],
        "metrics": ["bleu", "chrf"],
    }
