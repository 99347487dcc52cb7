"""The blocks of the guides are run, in the order in which a reader comes to them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pytest_evalplug.cli import _parse, main
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.tool_table import tool_table

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
BLOCK = re.compile(r"(?:`([^`\s]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODEL = """
import pytest

class Fake:
    name = "fake"
    capabilities = frozenset({"generate", "loglikelihood"})

    def generate(self, prompts, params):
        return ["ANSWER: Paris" for prompt in prompts]

    def loglikelihood(self, queries):
        from pytest_evalplug.model.base import Choice
        return [[Choice(-float(n), 1) for n, _ in enumerate(q.continuations)] for q in queries]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()
"""


class Block(NamedTuple):
    file: str
    """What it is to be written to, as the line before it says: `` `test_x.py`: ``."""
    language: str
    text: str


def blocks(text: str) -> Iterator[Block]:
    return (Block(*match) for match in BLOCK.findall(text))


PAGES = [GUIDES.parent / "index.md", *sorted(GUIDES.glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.stem))
def test_guide(page: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(pytester.path)
    for name in ("EVALPLUG_DATA_DIR", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    write(pytester.path, "conftest.py", MODEL)
    names: dict[str, Any] = {}
    found = list(blocks(page.read_text(encoding="utf-8")))
    assert found
    for block in found:
        if block.file:
            write(pytester.path, block.file, block.text)
        elif block.language == "python":
            exec(compile(block.text, page.name, "exec"), names)
        elif block.language == "bash":
            for line in block.text.splitlines():
                command(pytester, *shlex.split(line, comments=True))
        else:
            raise AssertionError(f"nothing is done with {block}")


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def command(pytester: pytest.Pytester, program: str, *words: str) -> None:
    """Run a command where all that it names is there, else only parse it."""
    if program == "evalplug":
        if words[0] in ("new", "list", "docs", "cases"):
            assert main(words) == 0, words
        else:
            _parse(words)
        return
    if program == "pip":
        return
    assert program == "pytest"
    files = list(takewhile(lambda word: not word.startswith("-"), words))
    if not files or not all((pytester.path / file).is_file() for file in files):
        pytester.parseconfig(*words)
        return
    own = [word for word in words if not word.startswith("--model=")]
    result = pytester.runpytest_inprocess("-p", "no:randomly", *own)
    assert result.ret == 0, str(result.stdout)
    assert "error" not in result.parseoutcomes()


def test_the_models_are_such_as_there_may_be(tmp_path: Path) -> None:
    text = (GUIDES / "models.md").read_text(encoding="utf-8")
    (table,) = [block.text for block in blocks(text) if block.language == "toml"]
    write(tmp_path, "pyproject.toml", table)
    models = tool_table(tmp_path / "pyproject.toml")["models"]
    assert {name: resolve_model(name, models).backend for name in models} == {
        "llama": "hf",
        "served": "openai",
    }


REFERENCE = [GUIDES.parents[1] / "README.md", *sorted(GUIDES.parent.glob("*.md"))]


@pytest.mark.parametrize("page", REFERENCE, ids=lambda path: str(path.stem))
def test_the_options_that_the_reference_shows_are_there(
    page: Path, pytester: pytest.Pytester
) -> None:
    text = re.sub(r" *\\\n +", " ", page.read_text(encoding="utf-8"))
    for line in re.findall(r"^ {4}((?:pytest|evalplug) .*)", text, re.MULTILINE):
        program, *words = shlex.split(re.split(r" {3}", line)[0], comments=True)
        if program == "evalplug":
            _parse(words)
        else:
            pytester.parseconfig(*words)
