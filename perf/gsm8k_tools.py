"""How each tool evaluates a server's model on GSM8K, and scores what it kept once more.

Every one gets the same rows from the same folder, the same number of requests in flight and the
settings that its documentation has for speed. Prompts and shots are each tool's own.
"""

from __future__ import annotations

__all__ = ["Tool", "data_folder", "tools"]

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from perf.measure import Measured, gsm8k, run, write_lines
from perf.peers import PEERS, executable, missing, own_python

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "test_gsm8k.py"
CONFIGS = Path(__file__).parent / "configs"
# No tool may wait for a network that isn't there.
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
Words = Sequence[str | Path]


@dataclass(frozen=True)
class Tool:
    """One tool, set up in a folder of its own; what it writes goes to ``out`` there."""

    name: str
    folder: Path
    asking: Words
    rescoring: Callable[[], Words]
    accuracy_in: str
    """Regular expression that finds the accuracy in its output, percent or share."""
    env: Mapping[str, str] = field(default_factory=dict)
    keeping: Words = ()
    """What a tool must be told so that it keeps enough to score again."""

    def ask(self, *, keep: bool = False) -> Measured:
        """Run the whole evaluation, from nothing."""
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        return self._run([*self.asking, *(self.keeping if keep else ())])

    def rescore(self) -> Measured:
        """Score the replies of the last :meth:`ask` again."""
        return self._run(self.rescoring())

    def _run(self, words: Words) -> Measured:
        # `datasets` knows a folder by its name, so that other rows of last time would be found.
        cache = {"HF_DATASETS_CACHE": str(self.folder / "cache")}
        return run(words, self.folder, {**OFFLINE, **cache, **self.env})

    def accuracy(self, output: str) -> float:
        """Return the accuracy in percent that ``output`` tells."""
        found = re.findall(self.accuracy_in, output)
        if not found:
            sys.exit(f"{output}\n{self.name} shows no accuracy")
        value = float(found[-1])
        return value * 100 if value <= 1 else value


@dataclass(frozen=True)
class Task:
    """What is asked: a folder with the rows, and the server."""

    data: Path
    url: str
    in_flight: int

    def fill(self, config: str) -> str:
        """Return the text of one of the files in ``configs``, completed."""
        text = (CONFIGS / config).read_text("utf-8")
        text = text.replace("DATA", str(self.data)).replace("URL", self.url)
        return text.replace("IN_FLIGHT", str(self.in_flight))


def data_folder(root: Path, samples: int) -> Path:
    """Write ``samples`` rows for every tool to read; past 1,319 the rows begin again."""
    folder = root / "data" / "gsm8k"
    rows = gsm8k()
    write_lines(folder / "test.jsonl", islice(cycle(rows[:1319]), samples))
    write_lines(folder / "train.jsonl", rows[1319:])
    splits = [{"split": split, "path": f"{split}.jsonl"} for split in ("train", "test")]
    card = {"configs": [{"config_name": "main", "data_files": splits}]}
    (folder / "README.md").write_text(f"---\n{json.dumps(card)}\n---\n")
    return folder


def tools(root: Path, data: Path, url: str, in_flight: int, names: Sequence[str]) -> Iterator[Tool]:
    """Yield ours, then those of the peers in ``names`` that are installed."""
    task = Task(data, url, in_flight)
    yield _ours(_made(root / "ours"), task)
    for name in names:
        if command := executable(name):
            yield _SETUPS[name](_made(root / name), task, command)
        else:
            print(missing(name), file=sys.stderr)


def _ours(folder: Path, task: Task) -> Tool:
    shutil.copy(BENCHMARK, folder)
    (folder / "pyproject.toml").write_text(task.fill("evalplug.toml.txt"))
    # -p no:randomly: a dependency of our tests, not of the plugin.
    words: list[str | Path] = [
        own_python(),
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        f"{BENCHMARK.name}::TestGSM8K",
    ]
    words += ["--data-dir", str(task.data.parent)]
    words += ["--work-dir", "out"]
    return Tool(
        "ours",
        folder,
        [*words, "--model", "fake"],
        lambda: [*words, "--mode", "eval", "--reuse"],
        r"accuracy +gen +([\d.]+)",
        # The project's own environment may say otherwise.
        {"PYTEST_ADDOPTS": ""},
    )


def _evalscope(folder: Path, task: Task, command: Path) -> Tool:
    words: list[str | Path] = [command, "eval", "--model", "fake", "--eval-type", "openai_api"]
    words += ["--api-url", task.url, "--api-key", "none", "--datasets", "gsm8k"]
    words += ["--dataset-args", json.dumps({"gsm8k": {"local_path": str(task.data)}})]
    words += ["--generation-config", json.dumps({"max_tokens": 512, "temperature": 0})]
    words += ["--eval-batch-size", str(task.in_flight), "--work-dir", "out", "--no-timestamp"]
    again = [*words, "--use-cache", "out", "--rerun-review"]
    return Tool("EvalScope", folder, words, lambda: again, r"main +│ +\d+ │ +([\d.]+)")


def _lm_eval(folder: Path, task: Task, command: Path) -> Tool:
    (folder / "gsm8k_local.yaml").write_text(task.fill("lm_eval.yaml.txt"))
    server = f"base_url={task.url}/chat/completions,num_concurrent={task.in_flight}"
    words: list[str | Path] = [command, "run", "--model", "local-chat-completions"]
    words += ["--model_args", f"model=fake,{server},tokenized_requests=False"]
    words += ["--apply_chat_template", "--tasks", "gsm8k_local", "--include_path", "."]
    words += ["--output_path", "out", "--log_samples"]
    # It scores nothing again; asking again with the replies cached comes nearest.
    cache: list[str | Path] = ["--use_cache", "out/replies"]
    shown = r"exact_match\|↑ +\|([\d.]+)"
    return Tool("lm-eval", folder, words, lambda: [*words, *cache], shown, keeping=cache)


def _inspect(folder: Path, task: Task, command: Path) -> Tool:
    (folder / "gsm8k.py").write_text(task.fill("inspect.py.txt"))
    words: list[str | Path] = [command, "eval", "gsm8k.py", "--model", "openai-api/fake/fake"]
    words += ["--max-connections", str(task.in_flight), "--max-samples", str(task.in_flight)]
    words += ["--max-tokens", "512", "--temperature", "0", "--display", "plain"]
    words += ["--no-log-realtime", "--no-score-display", "--log-dir", "out"]
    again: Words = [command, "score", "--action", "overwrite", "--overwrite", "--display", "plain"]
    return Tool(
        "Inspect",
        folder,
        words,
        lambda: [*again, next((folder / "out").glob("*.eval"))],
        r"accuracy +([\d.]+)",
        {"FAKE_BASE_URL": task.url, "FAKE_API_KEY": "none"},
    )


def _opencompass(folder: Path, task: Task, command: Path) -> Tool:
    (folder / "config.py").write_text(task.fill("opencompass.py.txt"))
    # It counts tokens with a tokenizer from the net; words will do.
    shutil.copytree(CONFIGS / "words", folder / "words", dirs_exist_ok=True)
    words: list[str | Path] = [command, "config.py", "--work-dir", "out", "--debug"]
    again = [*words, "--mode", "eval", "--reuse", "latest"]
    shown = r"gsm8k +\w+ +accuracy +gen +([\d.]+)"
    return Tool("OpenCompass", folder, words, lambda: again, shown, {"OPENAI_API_KEY": "none"})


_SETUPS: Mapping[str, Callable[[Path, Task, Path], Tool]] = {
    "evalscope": _evalscope,
    "lm-eval": _lm_eval,
    "inspect": _inspect,
    "opencompass": _opencompass,
}
assert list(_SETUPS) == list(PEERS)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
