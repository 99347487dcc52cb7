"""The BBH configuration of OpenCompass's page on answer extraction, moved by the guide's list."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions
from pytest_evalplug.dataset.catalogue import find_all
from pytest_evalplug.evaluation.postprocess.opencompass import oc_bbh_mcq

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "moving.md"
SUBSETS = ("geometric_shapes", "snarks")
MODULE = """
import re

from pytest_evalplug import *

{postprocessor}

{config}

@register_benchmark(BenchmarkMeta(
    name="bbh",
    dataset_id="opencompass/bbh",
    subset_list={subsets!r},
    few_shot_num=1,
    prompt_template="Q: {{question}}\\nA: Let's think step by step.",
    few_shot_prompt_template="Follow the examples.\\n{{fewshot}}\\n\\n{{prompt}}",
    eval_cfg=bbh_eval_cfg,
    generation=dict(max_tokens=512),
))
class TestBBH(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["input"], target=record["target"])

    def few_shots(self, sample, subset):
        return [self.find_file(subset, "cot_prompt.txt").read_text().rpartition("-----\\n")[2]]
"""
MODEL = """
import json
from pathlib import Path
import pytest

REPLIES = json.loads(Path(__file__).with_name("replies.json").read_text(encoding="utf-8"))

class Fake:
    name = "fake"
    capabilities = frozenset({"generate"})

    def generate(self, prompts, params):
        return [REPLIES[prompt.rpartition("Q: ")[2].rpartition("\\nA: ")[0]] for prompt in prompts]

@pytest.fixture(scope="session")
def model_backend():
    return Fake()
"""


def test_bbh(
    seed: Callable[[str], str],
    moved: Callable[[str, str], str],
    data_dir: Path,
    pytester: pytest.Pytester,
) -> None:
    text = seed("000")
    (postprocessor,) = re.findall(r"^@TEXT_POSTPROCESSORS.*?^    return ans$", text, re.M | re.S)
    (config,) = re.findall(r"^bbh_eval_cfg = dict\(.*?\)\)$", text, re.M | re.S)
    code = MODULE.format(postprocessor=postprocessor, config=config, subsets=list(SUBSETS))
    code = moved(code, "OpenCompass")
    assert "register('my-bbh-mcq')" in code
    pytester.makepyfile(test_ported_bbh=code)
    pytester.makeconftest(MODEL)
    rows = {subset: read(data_dir, subset) for subset in SUBSETS}
    replies = {row["input"]: row["prediction"] for subset in SUBSETS for row in rows[subset]}
    (pytester.path / "replies.json").write_text(json.dumps(replies), encoding="utf-8")
    result = pytester.runpytest_inprocess(
        "-p", "no:randomly", f"--data-dir={data_dir}", "--limit=40"
    )
    assert result.ret == 0, str(result.stdout)
    for subset in SUBSETS:
        (path,) = pytester.path.glob(f"outputs/*/results/fake/bbh-{subset}.json")
        found = json.loads(path.read_text(encoding="utf-8"))
        right = sum(oc_bbh_mcq(r["prediction"]) == oc_bbh_mcq(r["target"]) for r in rows[subset])
        assert 0 < right < 40
        assert found["accuracy"] == 100 * right / 40


def read(data_dir: Path, subset: str) -> list[dict[str, str]]:
    """Return the first rows with the published replies to them."""
    files = (data_dir / "bbh" / subset / "test.jsonl", data_dir / f"replies/bbh/cot/{subset}.jsonl")
    columns = [path.read_text(encoding="utf-8").split("\n")[:40] for path in files]
    return [{**json.loads(a), **json.loads(b)} for a, b in zip(*columns, strict=True)]


def test_the_guide_s_example(data_dir: Path, tmp_path: Path) -> None:
    (code,) = re.findall(
        r"^`test_bbh_port.py`:\n\n```python\n(.*?)^```$", GUIDE.read_text(), re.M | re.S
    )
    path = tmp_path / "test_bbh_port.py"
    path.write_text(code, encoding="utf-8")
    (entry,) = find_all([path])
    adapter = entry.cls(options=AdapterOptions(data_dirs=(data_dir,), limit=1))
    for subset in adapter.subsets():
        header = (data_dir / "bbh" / subset / "cot_prompt.txt").read_text(encoding="utf-8")
        (sample,) = adapter.samples(subset)
        assert adapter.build_prompt(sample, subset) == (
            "Follow the given examples and answer the question.\n"
            + header.partition("-----\n")[2]
            + f"\n\nQ: {sample.input}\nA: Let's think step by step."
        )
