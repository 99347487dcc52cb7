"""The options: their names, their help, what they accept."""

from __future__ import annotations

__all__ = ["OPTIONS", "Option", "add_options", "add_short_options", "any_given", "pyproject_file"]

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import pytest

from pytest_evalplug.option_values import (
    at_least_one,
    choice,
    count,
    flag,
    limit,
    number,
    positive,
    shard,
    share,
)


class Option(NamedTuple):
    """One option: ``--eval-<name>``, ``EVALPLUG_<NAME>`` and ini ``evalplug_<name>``."""

    name: str
    help: str
    parse: Callable[[str], Any] = str
    accepts: str = "text"
    default: Any = None
    short: str = ""
    """A second flag that users of evaluation tools already type."""
    long: str = ""
    repeatable: bool = False
    paths: Literal["", "one", "several", "named", "or name"] = ""
    """Whether it is a path: on the command line and in the environment relative to the current
    folder, in an ini file to that file. Several are joined as in ``PATH``; a named one may stand
    behind ``NAME=``; a name in the place of one has neither folder nor suffix."""
    kwargs: Mapping[str, Any] = MappingProxyType({})

    @property
    def dest(self) -> str:
        """The attribute of ``config.option``."""
        return f"evalplug_{self.name}"

    @property
    def env_name(self) -> str:
        """The environment variable."""
        return f"EVALPLUG_{self.name.upper()}"

    @property
    def ini_name(self) -> str:
        """The name in an ini file."""
        return f"evalplug_{self.name}"

    @property
    def flag(self) -> str:
        """The flag that always works."""
        return self.long or f"--eval-{self.name.replace('_', '-')}"


OPTIONS = (
    Option(
        "model",
        "model to evaluate: a name from [tool.evalplug.models], 'smollm2', 'qwen', "
        "hf:<id-or-path>, or openai:<model>@<base_url>. Repeat it for one column each.",
        short="--model",
        repeatable=True,
        kwargs={"metavar": "MODEL"},
    ),
    Option(
        "mode",
        "what the model is asked for: gen = generated text (default), ppl = lowest perplexity "
        "of context and choice, ll = highest log-probability of the choice.",
        choice("gen", "ppl", "ll"),
        "gen, ppl or ll",
        "gen",
        kwargs={"metavar": "{gen,ppl,ll}"},
    ),
    Option(
        "judge_model",
        "model that judges replies where a benchmark asks for one; named as for --model.",
        short="--judge-model",
        kwargs={"metavar": "MODEL"},
    ),
    Option(
        "stage",
        "which stages to run: all (default), infer = only ask the model, eval = only score saved "
        "predictions, viz = only print the summary of a run.",
        choice("all", "infer", "eval", "viz"),
        "all, infer, eval or viz",
        "all",
        short="--mode",
        kwargs={"metavar": "{all,infer,eval,viz}"},
    ),
    Option(
        "reuse",
        "go on in an earlier run's directory: keep what was predicted, ask only for the rest. "
        "A run's timestamp, or 'latest' (the default when nothing follows).",
        short="--reuse",
        kwargs={"nargs": "?", "const": "latest", "metavar": "RUN"},
    ),
    Option(
        "work_dir",
        "folder that holds the run directories (default: outputs).",
        default="outputs",
        short="--work-dir",
        paths="one",
        kwargs={"metavar": "DIR"},
    ),
    Option(
        "limit",
        "only the first N samples of each subset, or a fraction such as 0.1.",
        limit,
        "a positive whole number or a fraction between 0 and 1",
        short="--limit",
        kwargs={"metavar": "N"},
    ),
    Option(
        "subset",
        "only this subset: NAME or BENCHMARK/NAME. May be repeated.",
        short="--subset",
        repeatable=True,
        kwargs={"metavar": "NAME"},
    ),
    Option(
        "data_dir",
        "folder looked in first for datasets, as <benchmark>/<split>.jsonl.",
        short="--data-dir",
        paths="several",
        kwargs={"metavar": "DIR"},
    ),
    Option(
        "custom",
        "your own questions as a benchmark: a CSV or JSON lines file, or a folder of them. "
        "May be repeated.",
        repeatable=True,
        paths="named",
        kwargs={"metavar": "[NAME=]PATH"},
    ),
    Option(
        "custom_type",
        "what --eval-custom holds (default: what its columns say): mcq = columns question, A, B, "
        "..., answer; qa = question, answer.",
        choice("mcq", "qa"),
        "mcq or qa",
        kwargs={"metavar": "{mcq,qa}"},
    ),
    Option(
        "custom_infer",
        "what the model is asked for by --eval-custom: gen or ppl (default: as --eval-mode).",
        choice("gen", "ppl"),
        "gen or ppl",
        kwargs={"metavar": "{gen,ppl}"},
    ),
    Option(
        "set",
        "override a benchmark's setting: BENCHMARK.FIELD=VALUE, e.g. gsm8k.few_shot_num=0.",
        repeatable=True,
        kwargs={"metavar": "B.FIELD=VALUE"},
    ),
    Option(
        "wrong",
        "how a wrong answer is reported: fail (default; outcome 'wrong', exit status stays 0) "
        "or xfail.",
        choice("fail", "xfail"),
        "fail or xfail",
        "fail",
        kwargs={"metavar": "{fail,xfail}"},
    ),
    Option(
        "strict",
        "exit with status 1 if any answer is wrong.",
        flag,
        "true or false",
        False,
        kwargs={"action": "store_const", "const": "true"},
    ),
    Option(
        "dump_extract_rate",
        "report the percentage of samples in whose replies an answer was found.",
        flag,
        "true or false",
        False,
        short="--dump-extract-rate",
        kwargs={"action": "store_const", "const": "true"},
    ),
    Option(
        "dump_res_length",
        "report how long the replies are: mean, median, 95th percentile, maximum.",
        flag,
        "true or false",
        False,
        short="--dump-res-length",
        kwargs={"action": "store_const", "const": "true"},
    ),
    Option(
        "dump_eval_details",
        "keep each sample's verdict in the results file (default: true); switch it off with "
        "--dump-eval-details=false.",
        flag,
        "true or false (joined by '=')",
        True,
        short="--dump-eval-details",
        kwargs={"nargs": "?", "const": "true", "metavar": "{true,false}"},
    ),
    Option(
        "show_wrong",
        "show N wrong answers of each dataset in the summary (default: 3).",
        count,
        "a whole number",
        3,
        kwargs={"metavar": "N"},
    ),
    Option(
        "summarizer",
        "which rows and groups the summary has: a preset's name, a TOML or JSON file, or a Python "
        "file. Else a conftest's 'summarizer', or [tool.evalplug.summarizer].",
        paths="or name",
        kwargs={"metavar": "NAME|FILE"},
    ),
    Option(
        "gate",
        "fail the run unless a score is reached: NAME[/METRIC]>=VALUE, e.g. 'gsm8k>=70'. "
        "May be repeated.",
        repeatable=True,
        kwargs={"metavar": "'NAME>=VALUE'"},
    ),
    Option(
        "baseline",
        "fail the run where a score is lower than an earlier run's (a timestamp or a folder).",
        kwargs={"metavar": "RUN"},
    ),
    Option(
        "max_drop",
        "how far below --eval-baseline a score may be, in its own unit (default: 0).",
        number,
        "a number, 0 or more",
        kwargs={"metavar": "POINTS"},
    ),
    Option(
        "significance",
        "fail only where the drop below --eval-baseline is significant at this level, e.g. 0.05.",
        share,
        "a number between 0 and 1",
        kwargs={"metavar": "ALPHA"},
    ),
    Option(
        "shard",
        "run only the I-th of N equal parts of the samples; 'evalplug merge' joins the runs.",
        shard,
        "I/N with 1 <= I <= N",
        kwargs={"metavar": "I/N"},
    ),
    Option(
        "max_tokens",
        "stop asking models and judges when this session has used N tokens, of prompts and replies "
        "together; what is saved by then is kept, and --reuse goes on.",
        at_least_one,
        "a whole number, 1 or more",
        kwargs={"metavar": "N"},
    ),
    Option(
        "max_cost",
        "stop asking likewise when this session has cost AMOUNT, by the 'price' in the table of "
        "each model.",
        positive,
        "a number above 0",
        kwargs={"metavar": "AMOUNT"},
    ),
    Option(
        "sample_timeout",
        "how long a sample may wait for its reply, retries included, and as long again for its "
        "score; then it is an error and the others go on.",
        positive,
        "a number of seconds above 0",
        kwargs={"metavar": "SECONDS"},
    ),
    Option(
        "json",
        "write the summary as JSON to this file, for dashboards.",
        paths="one",
        kwargs={"metavar": "FILE"},
    ),
    Option(
        "junit",
        "how JUnit XML carries a sample's properties: properties (default), or strict = as "
        "system-out, for servers that check a schema.",
        choice("properties", "strict"),
        "properties or strict",
        "properties",
        kwargs={"metavar": "{properties,strict}"},
    ),
)


def add_options(parser: pytest.Parser) -> None:
    """Register the ``--eval-*`` flags and the ini names."""
    group = parser.getgroup("evalplug", "LLM benchmark evaluation (pytest-evalplug)")
    for option in OPTIONS:
        kwargs = dict(option.kwargs)
        if option.repeatable:
            kwargs["action"] = "append"
        group.addoption(option.flag, dest=option.dest, default=None, help=option.help, **kwargs)
        ini_type: Literal["args", "string"] = "args" if option.repeatable else "string"
        parser.addini(option.ini_name, f"default of {option.flag}", type=ini_type, default=None)
    parser.addini(
        "evalplug_tags", "further benchmark tags, each usable as -m tag_<name>", type="args"
    )


def add_short_options(parser: pytest.Parser) -> None:
    """Register the short flags that no other plugin or conftest has taken."""
    group = parser.getgroup("evalplug")
    for option in OPTIONS:
        if not option.short:
            continue
        kwargs = dict(option.kwargs)
        if option.repeatable:
            kwargs["action"] = "append"
        try:
            group.addoption(
                option.short,
                dest=option.dest,
                default=None,
                help=f"short for {option.flag}",
                **kwargs,
            )
        except (ValueError, argparse.ArgumentError):
            continue  # the suite's own option keeps the name; --eval-<name> works all the same


def any_given(config: pytest.Config) -> bool:
    """Tell whether a command line, the environment or a configuration file speaks to us.

    If nothing does, and no benchmark is collected, the run need not import what evaluates.
    """
    return any(
        getattr(config.option, option.dest, None) is not None
        or os.environ.get(option.env_name)
        or config.getini(option.ini_name)
        for option in OPTIONS
    ) or _is_configured(pyproject_file(config))


def pyproject_file(config: pytest.Config) -> Path:
    """Return where ``[tool.evalplug]`` may stand: beside the ini file, or in the root."""
    return (config.inipath.parent if config.inipath else config.rootpath) / "pyproject.toml"


def _is_configured(pyproject: Path) -> bool:
    try:
        return b"evalplug" in pyproject.read_bytes()
    except OSError:
        return False
