"""Options: command line, then environment, then ini, then default; one frozen RunConfig.

Nothing else in the package reads an option. A bad value is a ``ConfigError`` that names the
value, where it came from and what would work.
"""

from __future__ import annotations

__all__ = ["RunConfig", "add_options", "add_short_options"]

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_evalplug.errors import ConfigError, nearest
from pytest_evalplug.model.spec import ModelSpec, resolve_model

EvalMode = Literal["gen", "ppl", "ll"]
Stage = Literal["all", "infer", "eval", "viz"]


def _limit(text: str) -> int | float:
    number = float(text) if "." in text else int(text)
    if number <= 0 or (isinstance(number, float) and number >= 1):
        raise ValueError(text)
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _choice(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return parse


def _flag(text: str) -> bool:
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[
        text.lower()
    ]


@dataclass(frozen=True, slots=True)
class _Option:
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
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dest(self) -> str:
        return f"evalplug_{self.name}"

    @property
    def flag(self) -> str:
        return self.long or f"--eval-{self.name.replace('_', '-')}"


OPTIONS = (
    _Option(
        "model",
        "model to evaluate: a name from [tool.evalplug.models], 'smollm2', 'qwen', "
        "hf:<id-or-path>, or openai:<model>@<base_url>. Repeat it for one column each.",
        short="--model",
        repeatable=True,
        kwargs={"metavar": "MODEL"},
    ),
    _Option(
        "mode",
        "what the model is asked for: gen = generated text (default), ppl = lowest perplexity "
        "of context and choice, ll = highest log-probability of the choice.",
        _choice("gen", "ppl", "ll"),
        "gen, ppl or ll",
        "gen",
        kwargs={"metavar": "{gen,ppl,ll}"},
    ),
    _Option(
        "stage",
        "which stages to run: all (default), infer = only ask the model, eval = only score saved "
        "predictions, viz = only print the summary of a run.",
        _choice("all", "infer", "eval", "viz"),
        "all, infer, eval or viz",
        "all",
        short="--mode",
        kwargs={"metavar": "{all,infer,eval,viz}"},
    ),
    _Option(
        "reuse",
        "go on in an earlier run's directory: keep what was predicted, ask only for the rest. "
        "A run's timestamp, or 'latest' (the default when nothing follows).",
        short="--reuse",
        kwargs={"nargs": "?", "const": "latest", "metavar": "RUN"},
    ),
    _Option(
        "work_dir",
        "folder that holds the run directories (default: outputs).",
        default="outputs",
        short="--work-dir",
        kwargs={"metavar": "DIR"},
    ),
    _Option(
        "limit",
        "only the first N samples of each subset, or a fraction such as 0.1.",
        _limit,
        "a positive whole number or a fraction between 0 and 1",
        short="--limit",
        kwargs={"metavar": "N"},
    ),
    _Option(
        "subset",
        "only this subset: NAME or BENCHMARK/NAME. May be repeated.",
        short="--subset",
        repeatable=True,
        kwargs={"metavar": "NAME"},
    ),
    _Option(
        "data_dir",
        "folder looked in first for data sets, as <benchmark>/<split>.jsonl.",
        short="--data-dir",
        kwargs={"metavar": "DIR"},
    ),
    _Option(
        "set",
        "override a benchmark's setting: BENCHMARK.FIELD=VALUE, e.g. gsm8k.few_shot_num=0.",
        repeatable=True,
        kwargs={"metavar": "B.FIELD=VALUE"},
    ),
    _Option(
        "wrong",
        "how a wrong answer is reported: fail (default; outcome 'wrong', exit status stays 0) "
        "or xfail.",
        _choice("fail", "xfail"),
        "fail or xfail",
        "fail",
        kwargs={"metavar": "{fail,xfail}"},
    ),
    _Option(
        "strict",
        "exit with status 1 if any answer is wrong.",
        _flag,
        "true or false",
        False,
        kwargs={"action": "store_const", "const": "true"},
    ),
    _Option(
        "show_wrong",
        "show N wrong answers of each data set in the summary (default: 3).",
        _count,
        "a whole number",
        3,
        kwargs={"metavar": "N"},
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
        parser.addini(
            f"evalplug_{option.name}", f"default of {option.flag}", type=ini_type, default=None
        )
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
        except ValueError:
            continue  # the suite's own option keeps the name; --eval-<name> works all the same


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All settings of one run, resolved and checked."""

    models: tuple[ModelSpec, ...] = ()
    eval_mode: EvalMode = "gen"
    stage: Stage = "all"
    reuse: str | None = None
    work_dir: Path = Path("outputs")
    limit: int | float | None = None
    subsets: tuple[str, ...] = ()
    data_dirs: tuple[Path, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    meant: tuple[str, ...] = ()
    """The benchmarks that ``--eval-set`` names; each must be there."""
    wrong: str = "fail"
    strict: bool = False
    show_wrong: int = 3

    @property
    def is_evaluation(self) -> bool:
        """Tell whether the options alone say that something is evaluated."""
        return bool(self.models) or self.reuse is not None or self.stage != "all"

    @classmethod
    def from_pytest(cls, config: pytest.Config) -> RunConfig:
        """Resolve every option. Raises ConfigError for the first that is wrong."""
        value = {option.name: _resolve(config, option) for option in OPTIONS}
        tool = _tool_table(config.inipath, config.rootpath)
        tables = tool.get("models", {})
        if value["strict"] and value["wrong"] == "xfail":
            raise ConfigError(
                "wrong answers can't both fail the run and be expected",
                where="--eval-strict with --eval-wrong=xfail",
                fix="Drop one of the two",
            )
        models = _models(value["model"] or (), tables)
        _check_capabilities(models, value["mode"], value["stage"])
        return cls(
            models=models,
            eval_mode=value["mode"],
            stage=value["stage"],
            reuse=value["reuse"],
            work_dir=_absolute(value["work_dir"], config.invocation_params.dir),
            limit=value["limit"],
            subsets=tuple(value["subset"] or ()),
            data_dirs=tuple(
                _absolute(part, config.invocation_params.dir)
                for part in (value["data_dir"] or "").split(os.pathsep)
                if part
            ),
            overrides=_overrides(value["set"] or (), tool.get("benchmarks", {})),
            meant=tuple(setting.split(".")[0] for setting in value["set"] or ()),
            wrong=value["wrong"],
            strict=value["strict"],
            show_wrong=value["show_wrong"],
        )

    def to_wire(self) -> dict[str, Any]:
        """Return plain types only: for a worker, and for the run's snapshot."""
        return {
            **{f.name: getattr(self, f.name) for f in fields(self)},
            "models": {spec.name: spec.to_wire() for spec in self.models},
            "work_dir": str(self.work_dir),
            "subsets": list(self.subsets),
            "data_dirs": [str(path) for path in self.data_dirs],
            "overrides": {name: dict(table) for name, table in self.overrides.items()},
            "meant": list(self.meant),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> RunConfig:
        """Rebuild the configuration that :meth:`to_wire` described."""
        tables = wire["models"]
        return cls(
            **{
                **wire,
                "models": tuple(resolve_model(name, tables) for name in tables),
                "work_dir": Path(wire["work_dir"]),
                "subsets": tuple(wire["subsets"]),
                "meant": tuple(wire["meant"]),
                "data_dirs": tuple(Path(path) for path in wire["data_dirs"]),
            }
        )


def _resolve(config: pytest.Config, option: _Option) -> Any:
    """Return the first value that is set, parsed; the error names where it came from."""
    ini_name = f"evalplug_{option.name}"
    env_name = f"EVALPLUG_{option.name.upper()}"
    env = os.environ.get(env_name)
    sources = (
        (config.getoption(option.dest), option.short or option.flag),
        (env.split(",") if env and option.repeatable else env, f"environment variable {env_name}"),
        (config.getini(ini_name), f"ini option {ini_name}"),
    )
    for raw, source in sources:
        if raw in (None, "", []):
            continue
        if option.repeatable:
            return tuple(raw)
        try:
            return option.parse(str(raw))
        except (ValueError, KeyError):
            raise ConfigError(f"must be {option.accepts}, got {str(raw)!r}", where=source) from None
    return option.default


def _absolute(text: str, base: Path) -> Path:
    path = Path(text).expanduser()
    return path if path.is_absolute() else base / path


def _tool_table(inipath: Path | None, rootpath: Path) -> Mapping[str, Any]:
    """Return ``[tool.evalplug]`` of the pyproject.toml beside the ini file or in the root."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    folder = inipath.parent if inipath else rootpath
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    try:
        with path.open("rb") as file:
            table = tomllib.load(file).get("tool", {}).get("evalplug", {})
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML ({error})", where=str(path)) from None
    known = ("models", "benchmarks")
    for key in table:
        if key not in known:
            raise ConfigError(
                f"unknown key {key!r} in [tool.evalplug]", where=str(path), fix=nearest(key, known)
            )
    result: Mapping[str, Any] = table
    return result


def _models(names: tuple[str, ...], tables: Mapping[str, Any]) -> tuple[ModelSpec, ...]:
    specs: dict[str, ModelSpec] = {}
    for name in names:
        spec = resolve_model(name, tables)
        if spec.name in specs:
            raise ConfigError(
                f"two models would share the column {spec.name!r}",
                where="--model",
                fix="Name one of them in [tool.evalplug.models.<name>]",
            )
        if spec.pred_postprocessor is not None:
            from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor

            resolve_postprocessor(
                spec.pred_postprocessor,
                where=f"[tool.evalplug.models.{spec.name}] pred_postprocessor",
            )
        specs[spec.name] = spec
    return tuple(specs.values())


def _check_capabilities(models: tuple[ModelSpec, ...], mode: str, stage: str) -> None:
    if mode == "gen" or stage in ("eval", "viz"):
        return
    for spec in models:
        if "loglikelihood" not in spec.capabilities:
            raise ConfigError(
                f"backend {spec.backend!r} of model {spec.name!r} gives no token probabilities",
                where=f"--eval-mode={mode}",
                fix="Use --eval-mode=gen, or a model with backend 'hf'",
            )


def _overrides(
    settings: tuple[str, ...], tables: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Merge ``[tool.evalplug.benchmarks]`` with ``--eval-set``, which wins."""
    merged = {name: dict(table) for name, table in tables.items()}
    for setting in settings:
        target, equals, value = setting.partition("=")
        name, dot, key = target.rpartition(".")
        if not (equals and dot and name and key):
            raise ConfigError(
                f"{setting!r} is not BENCHMARK.FIELD=VALUE",
                where="--eval-set",
                fix="For example --eval-set gsm8k.few_shot_num=0",
            )
        merged.setdefault(name, {})[key] = _literal(value)
    return merged


def _literal(text: str) -> Any:
    """Read a JSON value; anything else is the text itself."""
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
