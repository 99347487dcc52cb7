"""GSM8K and MMLU-Pro of EvalScope's tutorial, with the changes that the guide lists."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

MODEL = '''
import pytest

class Fake:
    """Says 18, or B where there are choices."""

    name = "fake"
    capabilities = frozenset({"generate"})

    def generate(self, prompts, params):
        (HERE / "asked.txt").write_text(prompts[0], encoding="utf-8")
        return ["So.\\nANSWER: B" if "Options:" in p else "So.\\nANSWER: 18" for p in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()

from pathlib import Path
HERE = Path(__file__).parent
'''


@pytest.fixture
def tutorial(seed: Callable[[str], str]) -> Callable[[str, str], str]:
    """Return the code between two lines of the tutorial."""

    def code(start: str, end: str) -> str:
        text = seed("004")
        begin = text.index(start)
        return text[begin : text.index(end, begin)]

    return code


def run(pytester: pytest.Pytester, *args: str) -> dict[str, object]:
    """Run pytest and return the results of the only dataset."""
    pytester.makeconftest(MODEL)
    result = pytester.runpytest_inprocess("-p", "no:randomly", *args)
    assert result.ret == 0, str(result.stdout)
    (path,) = pytester.path.glob("outputs/*/results/fake/*.json")
    content: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_gsm8k(
    tutorial: Callable[[str, str], str],
    moved: Callable[[str, str], str],
    data_dir: Path,
    pytester: pytest.Pytester,
) -> None:
    code = moved(tutorial("from typing import Any, Dict\n", "\n多项选择\n"), "EvalScope")
    assert "evalscope" not in code
    pytester.makepyfile(test_ported_gsm8k=code)
    found = run(pytester, f"--data-dir={data_dir}", "--limit=2")
    assert found["accuracy"] == 50
    asked = (pytester.path / "asked.txt").read_text(encoding="utf-8")
    assert asked.count("\n\nReasoning:\n") == 5
    assert "#### " not in asked


def test_mmlu_pro(
    tutorial: Callable[[str, str], str],
    moved: Callable[[str, str], str],
    pytester: pytest.Pytester,
) -> None:
    begin = "from typing import Any, Dict\nfrom evalscope.api.benchmark import BenchmarkMeta, Multi"
    code = moved(tutorial(begin, "\n关键差异说明"), "EvalScope")
    assert "evalscope" not in code
    if sys.version_info < (3, 12):
        with pytest.raises(SyntaxError):
            compile(code, "test_mmlu_pro.py", "exec")
    backslash = r"{'\n'.join(opt_str_list)}"  # the first point of the guide's list
    assert code.count(backslash) == 1
    code = code.replace(backslash, "{lines}")
    code = code.replace(
        "        opt_str = ", r"        lines = '\n'.join(opt_str_list); opt_str = "
    )
    pytester.makepyfile(test_ported_mmlu_pro=code)
    write_rows(pytester.path / "data" / "mmlu_pro")
    found = run(pytester, "--data-dir=data", "--subset=math")
    assert found["accuracy"] == 25
    asked = (pytester.path / "asked.txt").read_text(encoding="utf-8")
    assert asked.count("Let's think. ANSWER: ") == 5
    assert "one of A, B, C, D. Think" in asked
    assert "Computer" not in asked


def write_rows(folder: Path) -> None:
    """Write rows by hand in the hub's columns, five a category to learn from."""
    folder.mkdir(parents=True)
    for split, number in [("test", 4), ("validation", 5)]:
        rows = [
            {
                "question_id": n,
                "question": f"{category} {split} question {n}?",
                "options": [f"option {i} {{x}}" for i in range(4)],
                "answer": "ABCD"[n % 4],
                "cot_content": f"A: Let's think. The answer is ({'ABCD'[n % 4]}).",
                "category": category,
            }
            for n in range(number)
            for category in ("Math", "Computer Science")
        ]
        (folder / f"{split}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
