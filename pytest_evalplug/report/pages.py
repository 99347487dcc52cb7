"""A benchmark's page, and the index of all, as Markdown in English and Chinese."""

from __future__ import annotations

__all__ = ["LANGUAGES", "index", "page"]

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.base import EvalMode
from pytest_evalplug.dataset.catalogue import INSTALLED, Entry, shipped_folder
from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.report.text import clean
from pytest_evalplug.types import LoglikelihoodQuery, Prompt

SHOWN = 3000
"""Characters of a prompt that a page shows: its start, and twice as much of its end."""

_ENGLISH = SimpleNamespace(
    index="Benchmarks",
    installed="In a checkout they are run as the pages say. Installed, they are"
    " `pytest --pyargs pytest_evalplug.benchmarks.test_gsm8k` and so on.",
    index_head=["Benchmark", "What is asked", "Samples", "Modes"],
    name="Name",
    tags="Tags",
    modes="Modes",
    samples="Samples",
    at_hand="{count} at hand",
    subsets="Subsets",
    shots="Shots",
    shots_from="{count}, from split `{split}`",
    scored_by="Scored by",
    data="Data",
    revision="`{id}` at revision `{revision}`",
    licence="Licence",
    paper="Paper",
    sheet={
        "Data": "Data",
        "Prompt": "Prompt",
        "Metric": "How it is scored",
        "Score": "Known score",
        "Differs": "What differs from the original",
        "Paper": "Paper",
    },
    sheet_language="",
    prompt="A prompt as it is sent",
    asked={
        "gen": "With `--eval-mode=gen`, subset `{subset}`:",
        "ll": "With `--eval-mode={modes}`, subset `{subset}`, the context and what may follow it:",
    },
    reference="The reference is `{target}`.",
    left_out="[... {count} characters ...]",
    no_prompt="The data is not at hand, so none is shown.",
    made_up="The data is not at hand: this is a row written by hand in its columns.",
    run="Run it",
    judge="A judge model reads the replies: `--judge-model=MODEL`.",
)
_CHINESE = SimpleNamespace(
    index="评测基准",
    installed="各页给出的是在源码目录中的运行方法；安装后请用"
    " `pytest --pyargs pytest_evalplug.benchmarks.test_gsm8k` 等。",
    index_head=["基准", "内容", "样本数", "模式"],
    name="名称",
    tags="标签",
    modes="评测模式",
    samples="样本数",
    at_hand="本地已有 {count} 条",
    subsets="子集",
    shots="少样本示例",
    shots_from="{count} 条，取自 `{split}` 划分",
    scored_by="评分方式",
    data="数据集",
    revision="`{id}`，版本 `{revision}`",
    licence="许可证",
    paper="论文",
    sheet={
        "Data": "数据说明",
        "Prompt": "提示词来源",
        "Metric": "评分方法",
        "Score": "已知得分",
        "Differs": "与原版的差异",
        "Paper": "论文",
    },
    sheet_language="以下说明取自该基准模块的英文数据单。",
    prompt="实际发送的提示词",
    asked={
        "gen": "`--eval-mode=gen`，子集 `{subset}`：",
        "ll": "`--eval-mode={modes}`，子集 `{subset}`：上文，以及其后被比较的各个选项：",
    },
    reference="参考答案：`{target}`",
    left_out="[……省略 {count} 个字符……]",
    no_prompt="本地没有数据，故不展示。",
    made_up="本地没有数据：以下为按其字段手写的示例。",
    run="运行方法",
    judge="回答由裁判模型评定：`--judge-model=MODEL`。",
)
LANGUAGES = {"en": _ENGLISH, "zh": _CHINESE}
"""Language -> the words of a page."""


def page(
    entry: Entry,
    language: str = "en",
    data_dirs: Sequence[Path] = (),
    *,
    made_up: Sequence[Path] = (),
    rendered: bool = True,
) -> str:
    """Return the page of a benchmark, with a prompt of its first sample at hand.

    Where the data is not at hand the prompt comes from ``made_up``, data directories of rows
    written by hand, and says so. Not ``rendered``, nothing is escaped: for reading as it is.
    """
    words, meta = LANGUAGES[language], entry.meta
    shown = (lambda text: _linked(_escaped(text))) if rendered else str
    description = (language == "zh" and meta.description_zh) or meta.description
    parts = [f"# {meta.pretty_name or meta.name}", description, _facts(entry, words, data_dirs)]
    sections = [
        f"## {words.sheet[heading]}\n\n{shown(entry.sheet[heading])}"
        for heading in words.sheet
        if heading in entry.sheet
    ]
    if sections and words.sheet_language:
        parts.append(words.sheet_language)
    prompts = _prompts(entry, words, data_dirs)
    if not prompts and (prompts := _prompts(entry, words, made_up)):
        prompts = [words.made_up, *prompts]
    parts += [*sections, f"## {words.prompt}", *(prompts or [words.no_prompt])]
    parts += [f"## {words.run}", _commands(entry)]
    if _needs_judge(entry):
        parts.append(words.judge)
    return clean("\n\n".join(part for part in parts if part)) + "\n"


def index(entries: Sequence[Entry], language: str = "en") -> str:
    """Return the page that lists the benchmarks by tag, linking ``<name>.md`` beside it."""
    words = LANGUAGES[language]
    parts = [f"# {words.index}", words.installed]
    for tag in sorted({tag for entry in entries for tag in entry.meta.tags}):
        rows = [
            (
                f"[{entry.meta.pretty_name or entry.name}]({entry.name}.md)",
                (language == "zh" and entry.meta.description_zh) or entry.meta.description,
                entry.published_samples(),
                " ".join(entry.modes),
            )
            for entry in entries
            if tag in entry.meta.tags
        ]
        parts += [f"## {tag}", _rows([words.index_head, *rows])]
    return "\n\n".join(parts) + "\n"


def _facts(entry: Entry, words: Any, data_dirs: Sequence[Path]) -> str:
    meta, at_hand = entry.meta, sum(entry.sizes(data_dirs).values())
    samples = [entry.published_samples()]
    if at_hand and f"{at_hand:,}" not in samples[0]:
        samples.append(words.at_hand.format(count=f"{at_hand:,}"))
    shots = str(meta.few_shot_num)
    if meta.few_shot_num and meta.train_split:
        shots = words.shots_from.format(count=shots, split=meta.train_split)
    data = f"`{meta.dataset_id}`" if meta.dataset_id else ""
    if meta.revision:
        data = words.revision.format(id=meta.dataset_id, revision=meta.revision)
    facts = [
        (words.name, f"`{entry.name}`"),
        (words.tags, ", ".join(meta.tags)),
        (words.modes, ", ".join(f"`{mode}`" for mode in entry.modes)),
        (words.samples, ", ".join(filter(None, samples))),
        (words.subsets, _several(meta.subset_list)),
        (words.shots, shots),
        (words.scored_by, ", ".join(f"`{name}`" for name in entry.scored_by)),
        (words.data, data),
        (words.licence, meta.license),
        (words.paper, "" if "Paper" in entry.sheet else meta.paper_url),
    ]
    return _rows([fact for fact in facts if fact[1]])


def _prompts(entry: Entry, words: Any, data_dirs: Sequence[Path]) -> list[str]:
    """Return the first sample's prompt in each way in which it may be asked, ``[]`` if none."""
    parts: list[str] = []
    modes: tuple[EvalMode, ...] = ("gen", "ll")
    for mode in modes:
        if mode not in entry.modes:
            continue
        found = _first(entry.adapter(data_dirs, mode, limit=1), mode)
        if found is None:
            continue
        subset, target, asked = found
        by_likelihood = "|".join(mode for mode in entry.modes if mode != "gen")
        heading = words.asked[mode].format(subset=subset, modes=by_likelihood)
        parts += [heading, _fenced(_text(asked), words)]
        if mode == "gen" and len(str(target)) <= 80:
            parts.append(words.reference.format(target=target))
    return parts


def _first(
    adapter: DefaultDataAdapter, mode: EvalMode
) -> tuple[str, Any, Prompt | LoglikelihoodQuery] | None:
    """Return the first subset at hand, its first sample's reference, and what is asked."""
    build = adapter.build_prompt if mode == "gen" else adapter.build_query
    for subset in adapter.subset_list:
        try:
            sample = adapter.samples(subset)[0]
            return subset, sample.target, build(sample, subset)
        except EvalplugError:  # no data, or nothing to compare
            continue
    return None


def _text(asked: Prompt | LoglikelihoodQuery) -> str:
    if isinstance(asked, LoglikelihoodQuery):
        contexts = asked.contexts or [asked.context] * len(asked.continuations)
        if asked.contexts:
            pairs = zip(contexts, asked.continuations, strict=True)
            return "\n".join(f"{_text(context)} ⇒{text}" for context, text in pairs)
        return "\n".join([_text(asked.context), *(f"⇒{text}" for text in asked.continuations)])
    if isinstance(asked, str):
        return asked
    return "\n\n".join(f"<{message['role']}>\n{message['content']}" for message in asked)


def _fenced(text: str, words: Any) -> str:
    """Return a text as a block of code, its middle left out if it is long."""
    start, end = SHOWN // 3, SHOWN * 2 // 3
    if len(text) > SHOWN + 200:
        left_out = words.left_out.format(count=f"{len(text) - start - end:,}")
        text = f"{text[:start]}\n\n{left_out}\n\n{text[-end:]}"
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _commands(entry: Entry) -> str:
    item = f"benchmarks/{entry.path.name}::{entry.cls.__name__}"
    if entry.path.parent == INSTALLED:
        item = f"--pyargs pytest_evalplug.benchmarks.{entry.path.stem}::{entry.cls.__name__}"
    elif entry.path.parent != shipped_folder():
        item = f"{entry.path}::{entry.cls.__name__}"
    return "\n".join(
        f"    pytest {item} --model=MODEL" + ("" if mode == "gen" else f" --eval-mode={mode}")
        for mode in entry.modes
    )


def _needs_judge(entry: Entry) -> bool:
    try:
        return entry.adapter().scorer.needs_judge
    except ConfigError:  # its Evaluator needs an extra that isn't installed
        return False


def _several(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:12])
    return shown if len(names) <= 12 else f"{len(names)}: {shown}, ..."


def _rows(rows: Sequence[Sequence[str]]) -> str:
    head, *body = [
        "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows
    ]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


def _escaped(text: str) -> str:
    """Return a line of plain text so that Markdown shows it as it is."""
    return re.sub(r"([\\`*\[])", r"\\\1", text).replace("&", "&amp;").replace("<", "&lt;")


def _linked(text: str) -> str:
    """Make links of web addresses."""
    return re.sub(r"https?://[^\s,;)]*[^\s,;).]", lambda match: f"<{match[0]}>", text)
