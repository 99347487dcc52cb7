"""Options: command line, then environment, then ini, then default; one frozen RunConfig.

Nothing else in the package reads an option. A bad value is a ``ConfigError`` that names the
value, where it came from and what would work.
"""

from __future__ import annotations

__all__ = ["UNSET", "RunConfig", "resolve"]

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.model.price import check_priced
from pytest_evalplug.model.spec import ModelSpec, resolve_model
from pytest_evalplug.option_table import OPTIONS, Option, pyproject_file
from pytest_evalplug.settings import merged_settings, parse_setting
from pytest_evalplug.tool_table import tool_table

if TYPE_CHECKING:
    from pytest_evalplug.dataset.custom import CustomData
    from pytest_evalplug.summary.summarizer import Summarizer

EvalMode = Literal["gen", "ppl", "ll"]
Stage = Literal["all", "infer", "eval", "viz"]

UNSET = object()
"""What an option is that nothing sets."""


@dataclass(frozen=True, slots=True)
class RunConfig:
    """All settings of one run, resolved and checked."""

    models: tuple[ModelSpec, ...] = ()
    judge: ModelSpec | None = None
    eval_mode: EvalMode = "gen"
    stage: Stage = "all"
    reuse: str | None = None
    work_dir: Path = Path("outputs")
    limit: int | float | None = None
    subsets: tuple[str, ...] = ()
    data_dirs: tuple[Path, ...] = ()
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: tuple[tuple[str, str, Any], ...] = ()
    """What ``--eval-set`` gives: benchmark, field, value. Each benchmark must be there."""
    wrong: str = "fail"
    strict: bool = False
    show_wrong: int = 3
    dump_extract_rate: bool = False
    dump_res_length: bool = False
    dump_eval_details: bool = True
    summarizer: Summarizer | None = None
    """What makes the summary; only the controlling process has it."""
    gates: tuple[str, ...] = ()
    baseline: str | None = None
    max_drop: float | None = None
    significance: float | None = None
    shard: tuple[int, int] | None = None
    custom: tuple[CustomData, ...] = ()
    max_tokens: int | None = None
    max_cost: float | None = None
    sample_timeout: float | None = None
    json_file: Path | None = None
    junit: str = "properties"
    saved: tuple[str, ...] = ()
    """The models of the run that is scored, where ``--model`` names none."""
    given: tuple[str, ...] = ()
    """The options that a command line, an environment variable or an ini value set."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The models' names, one a column; empty where a ``model_backend`` fixture has it."""
        return tuple(spec.name for spec in self.models) or self.saved

    @property
    def is_evaluation(self) -> bool:
        """Tell whether the options alone say that something is evaluated."""
        asked = self.models or self.custom or self.reuse is not None
        return bool(asked) or self.stage != "all"

    @classmethod
    def from_pytest(cls, config: pytest.Config) -> RunConfig:
        """Resolve every option. Raises ConfigError for the first that is wrong."""
        given = {o.name: found for o in OPTIONS if (found := _resolve(config, o)) is not UNSET}
        value = {**{option.name: option.default for option in OPTIONS}, **given}
        tool = tool_table(pyproject_file(config))
        tables = tool.get("models", {})
        if value["strict"] and value["wrong"] == "xfail":
            raise ConfigError(
                "wrong answers can't both fail the run and be expected",
                where="--eval-strict with --eval-wrong=xfail",
                fix="Drop one of the two",
            )
        settings = [parse_setting(text) for text in value["set"] or ()]
        work_dir = _absolute(value["work_dir"], config.invocation_params.dir)
        models = _models(value["model"] or (), tables)
        judge = _judge(value["judge_model"], tables)
        custom, mode = _custom(config, value, "mode" in given)
        if value["max_cost"] is not None:
            check_priced(models, judge, value["stage"])
        if value["custom_infer"]:
            given.setdefault("mode", mode)
        _check_capabilities(models, mode, value["stage"])
        return cls(
            models=models,
            judge=judge,
            eval_mode=mode,
            stage=value["stage"],
            reuse=value["reuse"],
            work_dir=work_dir,
            limit=value["limit"],
            subsets=tuple(value["subset"] or ()),
            data_dirs=tuple(
                Path(part) for part in (value["data_dir"] or "").split(os.pathsep) if part
            ),
            overrides=merged_settings(settings, tool.get("benchmarks", {})),
            settings=tuple(settings),
            wrong=value["wrong"],
            strict=value["strict"],
            show_wrong=value["show_wrong"],
            dump_extract_rate=value["dump_extract_rate"],
            dump_res_length=value["dump_res_length"],
            dump_eval_details=value["dump_eval_details"],
            summarizer=_summarizer(config, value["summarizer"], tool),
            gates=_gates(value["gate"] or tool.get("gates", ())),
            baseline=_baseline(value, work_dir),
            max_drop=value["max_drop"],
            significance=value["significance"],
            shard=value["shard"],
            custom=custom,
            max_tokens=value["max_tokens"],
            max_cost=value["max_cost"],
            sample_timeout=value["sample_timeout"],
            json_file=Path(value["json"]) if value["json"] else None,
            junit=value["junit"],
            given=tuple(given),
        )

    def following(
        self, saved: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]
    ) -> RunConfig:
        """Return the settings to score a saved run: what it was made with, where none is given.

        That is its mode, its samples and shard, its custom data, its judge and its ``--eval-set``,
        field by field. What ``tables`` say of the judge now counts: ``saved`` has no secrets.
        Raises ConfigError if ``saved``, which may be anybody's, chooses a server or code to run.
        """
        from pytest_evalplug.run.trust import refuse_reach

        follow: dict[str, Any] = {}
        if "mode" not in self.given:
            follow["eval_mode"] = saved["eval_mode"]
        if not {"limit", "subset"} & set(self.given):
            follow.update(limit=saved["limit"], subsets=tuple(saved["subsets"]))
        if "custom" not in self.given:
            follow["custom"] = _custom_from(saved.get("custom", ()))
        if "shard" not in self.given and saved.get("shard"):
            follow["shard"] = tuple(saved["shard"])
        keys = {str(table.get("api_key_env")) for table in tables.values()}
        own = {(name, key) for name, key, _ in self.settings}
        made_with = [
            (name, key, value)
            for name, key, value in saved.get("settings") or ()
            if (name, key) not in own
        ]
        for name, key, value in made_with:
            fix = f"Give it: --eval-set {name}.{key}=..."
            refuse_reach({key: value}, f"{name}.{key}", fix, keys)
        follow["overrides"] = merged_settings([*made_with, *self.settings], self.overrides)
        if "judge_model" not in self.given:
            judges = saved.get("judge") or {}
            for name in judges.keys() - tables.keys():
                fix = (
                    "Give it: --judge-model=openai:<model>@<url>, or a table "
                    f"[tool.evalplug.models.{name}]"
                )
                refuse_reach(judges[name], f"the judge {name!r}", fix, keys)
            known = {**judges, **tables}
            follow["judge"] = next((resolve_model(name, known) for name in judges), None)
            if self.max_cost is not None:
                check_priced((), follow["judge"], self.stage)
        return replace(self, **follow)

    def to_wire(self) -> dict[str, Any]:
        """Return plain types only: for a worker, and for the run's snapshot."""
        return {
            **{f.name: getattr(self, f.name) for f in fields(self)},
            "models": {spec.name: spec.to_wire() for spec in self.models},
            "judge": {self.judge.name: self.judge.to_wire()} if self.judge else {},
            "work_dir": str(self.work_dir),
            "subsets": list(self.subsets),
            "data_dirs": [str(path) for path in self.data_dirs],
            "overrides": {name: dict(table) for name, table in self.overrides.items()},
            "settings": [list(setting) for setting in self.settings],
            "summarizer": self.summarizer and self.summarizer.to_wire(),
            "gates": list(self.gates),
            "shard": list(self.shard) if self.shard else None,
            "custom": [data.to_wire() for data in self.custom],
            "json_file": self.json_file and str(self.json_file),
            "saved": list(self.saved),
            "given": list(self.given),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> RunConfig:
        """Rebuild the configuration that :meth:`to_wire` described."""
        tables, judge = wire["models"], wire["judge"]
        return cls(
            **{
                **wire,
                "models": tuple(resolve_model(name, tables) for name in tables),
                "judge": next((resolve_model(name, judge) for name in judge), None),
                "work_dir": Path(wire["work_dir"]),
                "subsets": tuple(wire["subsets"]),
                "settings": tuple((n, key, value) for n, key, value in wire["settings"]),
                "summarizer": None,
                "gates": tuple(wire["gates"]),
                "custom": _custom_from(wire["custom"]),
                "shard": wire["shard"] and (wire["shard"][0], wire["shard"][1]),
                "json_file": Path(wire["json_file"]) if wire["json_file"] else None,
                "saved": tuple(wire["saved"]),
                "given": tuple(wire["given"]),
                "data_dirs": tuple(Path(path) for path in wire["data_dirs"]),
            }
        )


def _resolve(config: pytest.Config, option: Option) -> Any:
    there = config.inipath.parent if config.inipath else config.rootpath
    given, ini = config.getoption(option.dest), config.getini(option.ini_name)
    return resolve(option, given, ini, here=config.invocation_params.dir, there=there)


def resolve(option: Option, given: Any, ini: Any, *, here: Path, there: Path) -> Any:
    """Return the first value that is set, parsed, or UNSET.

    ``given`` stands on a command line typed in the folder ``here``, ``ini`` in a file in the folder
    ``there``; between them comes the environment. Raises ConfigError that names the source.
    """
    env = os.environ.get(option.env_name)
    sources = (
        (given, option.short or option.flag, here),
        (_split(env, option), f"environment variable {option.env_name}", here),
        (ini, f"ini option {option.ini_name}", there),
    )
    for raw, source, base in sources:
        if raw in (None, "", []):
            continue
        if option.paths == "named":
            from pytest_evalplug.custom_options import rooted

            return tuple(rooted(text, base) for text in raw)
        if option.repeatable:
            return tuple(raw)
        if option.paths == "or name" and Path(str(raw)).stem == str(raw):
            return str(raw)
        if option.paths:
            return _rooted(str(raw), base, several=option.paths == "several")
        try:
            return option.parse(str(raw))
        except (ValueError, KeyError):
            raise ConfigError(f"must be {option.accepts}, got {str(raw)!r}", where=source) from None
    return UNSET


def _split(text: str | None, option: Option) -> str | list[str] | None:
    return text.split(",") if text and option.repeatable else text


def _rooted(text: str, base: Path, *, several: bool) -> str:
    parts = text.split(os.pathsep) if several else [text]
    return os.pathsep.join(str(_absolute(part, base)) for part in parts if part)


def _absolute(text: str, base: Path) -> Path:
    path = Path(text).expanduser()
    return path if path.is_absolute() else base / path


def model_tables(config: pytest.Config) -> Mapping[str, Mapping[str, Any]]:
    """Return ``[tool.evalplug.models]``."""
    tables: Mapping[str, Mapping[str, Any]] = tool_table(pyproject_file(config)).get("models", {})
    return tables


def _custom(
    config: pytest.Config, value: Mapping[str, Any], mode_given: bool
) -> tuple[tuple[CustomData, ...], EvalMode]:
    """Return the user's own data, and the run's mode, which it may say."""
    if not (value["custom"] or value["custom_type"] or value["custom_infer"]):
        return (), value["mode"]
    from pytest_evalplug.custom_options import find_all, mode_of

    custom = find_all(value, config.rootpath)
    return custom, mode_of(value, custom, mode_given)


def _custom_from(wire: Sequence[Mapping[str, Any]]) -> tuple[CustomData, ...]:
    if not wire:
        return ()
    from pytest_evalplug.dataset.custom import CustomData

    return tuple(map(CustomData.from_wire, wire))


def _gates(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the gates once each, all of them readable."""
    if texts:
        from pytest_evalplug.summary.gates import Gate

        for text in texts:
            Gate.parse(text)
    return tuple(dict.fromkeys(texts))


def _baseline(value: Mapping[str, Any], work_dir: Path) -> str | None:
    """Return the folder of the run to compare with, found before a new run is made."""
    drop, level = value["max_drop"] is not None, value["significance"] is not None
    flags = ("--eval-max-drop", "--eval-significance")
    if drop and level:
        raise ConfigError(
            "a drop can't be judged in two ways",
            where=" with ".join(flags),
            fix="Drop one of the two",
        )
    if not value["baseline"]:
        if drop or level:
            raise ConfigError(
                "there is nothing to compare with",
                where=flags[level],
                fix="Add --eval-baseline RUN",
            )
        return None
    from pytest_evalplug.run.saved_run import open_saved

    try:
        return str(open_saved(value["baseline"], work_dir).path.absolute())
    except EvalplugError as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        raise ConfigError(what, where="--eval-baseline", fix=error.fix) from None


def _summarizer(
    config: pytest.Config, given: str | None, tool: Mapping[str, Any]
) -> Summarizer | None:
    """Return what the option says, else a conftest, else ``[tool.evalplug.summarizer]``."""
    modules = [plugin for _, plugin in config.pluginmanager.list_name_plugin()]
    conftests = [
        m for m in modules if Path(getattr(m, "__file__", None) or "").name == "conftest.py"
    ]
    conftests = [conftest for conftest in conftests if hasattr(conftest, "summarizer")]
    if not (given or conftests or "summarizer" in tool):
        return None
    from pytest_evalplug.summary.source import find_summarizer

    return find_summarizer(given, conftests, tool.get("summarizer"))


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


def _judge(name: str | None, tables: Mapping[str, Mapping[str, Any]]) -> ModelSpec | None:
    try:
        return resolve_model(name, tables) if name else None
    except ConfigError as error:
        where = error.where.replace("--model", "--judge-model")
        raise ConfigError(error.what, where=where, fix=error.fix) from None


def _check_capabilities(models: tuple[ModelSpec, ...], mode: str, stage: str) -> None:
    if mode == "gen" or stage in ("eval", "viz"):
        return
    for spec in models:
        if "loglikelihood" not in spec.capabilities:
            raise ConfigError(
                f"backend {spec.backend!r} of model {spec.name!r} gives no token probabilities",
                where=f"--eval-mode={mode}",
                fix="Use --eval-mode=gen, or a model with backend 'hf' or api = 'completions'",
            )
