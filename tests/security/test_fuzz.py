"""Whatever stands in a file, an option or a reply: an EvalplugError in words, or a good value.

``FUZZ_EXAMPLES=5000 pytest tests/security/test_fuzz.py`` hunts; the suite tries a few of each.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_evalplug.errors import EvalplugError
from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor
from pytest_evalplug.evaluation.registry import postprocessors
from pytest_evalplug.masking import Secrets, mask, mask_argument
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.report.text import clean, clean_log, shorten
from pytest_evalplug.run.jsonio import dumps
from pytest_evalplug.run.merged import MergedFile
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.saved_run import open_foreign
from pytest_evalplug.settings import parse_setting
from pytest_evalplug.summary.gates import Gate
from pytest_evalplug.summary.source import make_summarizer
from pytest_evalplug.tool_table import tool_table
from pytest_evalplug.wire import Manifest
from tests.report.viewer.runs import Given, make_run

from .checks import SEEDS, TARGETS

FOREIGN = Path(__file__).parents[1] / "run" / "foreign" / "data"
NAMES = [n for n in postprocessors if n not in ("after", "regex", "match_answer_pattern")]
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", 25))
SLOW = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from([10**400, -1, 2**63, "\ud800", "../x", "NaN", "[" * 2000])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
pieces = st.sampled_from(
    ["\\boxed{", "}", "{", '"', "```", "\n", "the answer is ", "A", "(B)", "12,345.6e7", "\u0661",
     "####", "<think>", "</think>", "<answer>", "\\frac", "$", "def f(x):\n ", "'''", "\x00", "[["]
)  # fmt: skip
texts = st.lists(pieces | st.text(max_size=8), max_size=12).map("".join)


@pytest.mark.parametrize("target", TARGETS)
@given(data=st.data())
@SLOW
def test_the_parsers_hold_what_they_promise(target: str, data: st.DataObject) -> None:
    seeds = st.sampled_from(SEEDS[target])
    text = data.draw(seeds.flatmap(_cut) | texts | values.map(dumps))
    TARGETS[target](text.encode("utf-8", "surrogatepass"))


def _cut(seed: str) -> st.SearchStrategy[str]:
    """Yield a text with something else in the place of a part of it."""
    places = st.integers(0, len(seed))
    return st.builds(lambda i, j, new: seed[:i] + new + seed[j:], places, places, texts)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"choices": [{"message": {"content": 5}, "finish_reason": {}}], "usage": {"x": true}}',
        b'{"choices": [{"text": {}, "logprobs": 1e999}], "error": []}',
        b'{"choices": {"0": 1}, "error": {"message": {"a": 1}, "code": 1e999}}',
        b'{"data": [{"id": []}, 5]}',
        b"1" * 5000,
        b"(" * 3000,
        b"x" + b"-" * 5000,
    ],
    ids=range(11),
)
def test_known_troublemakers(target: str, body: bytes) -> None:
    TARGETS[target](body)


@given(text=texts)
@example("```\n'''\\boxed{{{<think>" * 50)
@SLOW
def test_any_text_goes_through_any_rule(text: str) -> None:
    for name in NAMES:
        (step,) = resolve_postprocessor(name)
        assert isinstance(step(text), str)


@given(text=texts | values.map(str))
@SLOW
def test_text_can_be_shown(text: str) -> None:
    for shown in (clean(text), clean_log(text), shorten(text, 5)):
        shown.encode()
        assert all(char.isprintable() or char in "\n\t" for char in shown)
    assert isinstance(Secrets(environment={"KEY": "abc12345"}).hide(text), str)
    assert isinstance(mask_argument(f"--x={text}"), str)


def refused(call: Callable[[], Any]) -> None:
    """Call; an EvalplugError, which is one that a user can read, is fine."""
    with suppress(EvalplugError):
        call()


@given(
    table=st.dictionaries(
        st.sampled_from(
            ["backend", "model", "base_url", "headers", "generation", "price", "concurrency",
             "timeout", "extra_body", "pred_postprocessor", "device", "replicas", "oops"]
        ),
        values | st.sampled_from(["openai", "hf", "http://[::1", "http://h:99999", "m"]),
        max_size=5,
    )
)  # fmt: skip
@SLOW
def test_any_model_table(table: dict[str, Any]) -> None:
    refused(lambda: resolve_model("m", {"m": {"backend": "openai", "model": "x", **table}}))
    refused(lambda: resolve_model("m", {"m": table}))
    json.dumps(mask(table))


@given(
    text=texts | st.from_regex(r"\A[a-z.]{1,8}(=|>=|>|%| )[-0-9.e%\[{]{0,8}\Z") | values.map(dumps)
)
@SLOW
def test_any_option_text(text: str) -> None:
    refused(lambda: parse_setting(text))
    refused(lambda: Gate.parse(text))
    refused(lambda: resolve_model(text, {}))


@given(table=st.dictionaries(
    st.sampled_from(["type", "dataset_abbrs", "summary_groups", "prompt_db", "layout", "x"]),
    values | st.lists(st.fixed_dictionaries(
        {"name": scalars, "subsets": values},
        optional={"weights": values, "transform": values, "std": values, "sum": values},
    ), max_size=2),
    max_size=4,
))  # fmt: skip
@SLOW
def test_any_summarizer_table(table: dict[str, Any]) -> None:
    refused(lambda: make_summarizer(table, where="[tool.evalplug.summarizer]"))


@given(content=values | st.dictionaries(
    st.sampled_from(["models", "gates", "summarizer", "benchmarks", "x"]), values, max_size=3
))  # fmt: skip
@SLOW
def test_any_tool_table(content: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pyproject.toml"
        text = json.dumps(content).replace("null", "0").replace(":", " =")
        path.write_text(f"[tool]\nevalplug = {text}\n")
        refused(lambda: tool_table(path))


def mutants(document: Any) -> st.SearchStrategy[Any]:
    """Yield the document with another value in one place."""

    def put(place: tuple[Any, ...], value: Any) -> Any:
        if not place:
            return value
        changed = copy.deepcopy(document)
        inner = changed
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = value
        return changed

    return st.builds(put, st.sampled_from(list(_places(document))), values)


def _places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in steps:
        if isinstance(inner, (dict, list)):
            yield from _places(inner, (*above, step))
        else:
            yield (*above, step)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    return make_run(folder, {("m", "main"): [Given("a"), Given("b", correct=False)]}).path


@given(data=st.data())
@SLOW
def test_any_file_of_a_run(saved: Path, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(saved.glob("*/m/*.json"))))
    document = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / path.name
        changed.write_text(dumps(data.draw(mutants(document))), encoding="utf-8")
        refused(lambda: ResultFile.load(changed))
        refused(lambda: ResultFile.load(changed, details=False))
        refused(lambda: [record["prediction"] for record in MergedFile(changed).values()
                         if "prediction" in record])  # fmt: skip


@given(data=st.data())
@SLOW
def test_any_run_of_another_tool(data: st.DataObject) -> None:
    original = data.draw(st.sampled_from([p for p in sorted(FOREIGN.rglob("*.json"))]))
    tool = original.relative_to(FOREIGN).parts[0]
    document = json.loads(original.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FOREIGN / tool, Path(folder) / tool)
        changed = Path(folder) / original.relative_to(FOREIGN)
        changed.write_text(dumps(data.draw(mutants(document))), encoding="utf-8")
        root = Path(folder) / tool
        refused(lambda: _read_all(root if tool == "lm_eval" else next(root.iterdir())))


def _read_all(folder: Path) -> None:
    run = open_foreign(folder)
    for table in run.tables():
        refused(lambda table=table: run.result(*table))  # type: ignore[misc]
        refused(lambda table=table: dumps(dict(run.records(*table))))  # type: ignore[misc]


@given(text=st.text(max_size=20), numbers=st.lists(st.integers(), max_size=3))
@SLOW
def test_what_crosses_to_a_worker_comes_back(text: str, numbers: list[int]) -> None:
    wire = Manifest(modules={text: [text]}).to_wire()
    assert Manifest.from_wire(json.loads(dumps(wire))).to_wire() == json.loads(dumps(wire))
    assert json.loads(dumps({text: numbers})) == {text: numbers}
