"""``[tool.evalplug]``: every mistake in it, not only the first."""

from __future__ import annotations

__all__ = ["tables"]

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.doctor.check import Check, of_error, ok
from pytest_evalplug.doctor.data import shipped
from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.model.spec import resolve_model
from pytest_evalplug.tool_table import mistakes, read_table

_NAME = "[tool.evalplug]"


def tables(path: Path) -> Iterator[Check]:
    """Say what is wrong in the file ``path``, table by table and key by key."""
    if not path.is_file():
        yield ok(_NAME, f"no {path.name} here: models as hf:<id-or-path>, openai:<model>@<url>")
        return
    table = read_table(path)
    found = list(mistakes(table, path))
    table = _well_formed(table)
    for check in (_models, _benchmarks, _gates, _summarizer):
        found += check(table)
    for error in found:
        yield of_error(_NAME, error)
    if not found:
        sizes = [f"{len(part)} in {name}" for name, part in table.items() if part]
        yield ok(_NAME, f"{path.name}: {', '.join(sizes) or 'empty'}")


def _well_formed(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts whose form is right, so that one mistake hides no other."""
    parts: dict[str, Any] = {}
    for name in ("models", "benchmarks"):
        entries = table.get(name)
        if isinstance(entries, dict):
            parts[name] = {key: part for key, part in entries.items() if isinstance(part, dict)}
    if isinstance(gates := table.get("gates"), list):
        parts["gates"] = [text for text in gates if isinstance(text, str)]
    if isinstance(summarizer := table.get("summarizer"), dict):
        parts["summarizer"] = summarizer
    return parts


def _models(table: Mapping[str, Any]) -> list[ConfigError]:
    from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor

    found: list[ConfigError] = []
    for name, options in table.get("models", {}).items():
        needed = {key: options[key] for key in ("backend", "model") if key in options}
        # each option beside what every table needs, for the first mistake hides the others
        parts = [needed, *({**needed, key: options[key]} for key in options if key not in needed)]
        errors = [_caught(resolve_model, name, {name: part}) for part in parts]
        if (postprocessor := options.get("pred_postprocessor")) is not None:
            where = f"[tool.evalplug.models.{name}] pred_postprocessor"
            errors.append(_caught(resolve_postprocessor, postprocessor, where=where))
        found += {str(error): error for error in errors if error is not None}.values()
    return found


def _benchmarks(table: Mapping[str, Any]) -> list[ConfigError]:
    """Check the settings of shipped benchmarks; one with another name may be the user's own."""
    settings = table.get("benchmarks", {})
    metas = shipped() if settings else {}
    errors = [
        _caught(metas[name].override, {key: value})
        for name, values in settings.items()
        if name in metas
        for key, value in values.items()
    ]
    return [error for error in errors if error is not None]


def _gates(table: Mapping[str, Any]) -> list[ConfigError]:
    from pytest_evalplug.summary.gates import Gate

    errors = [_caught(Gate.parse, text) for text in table.get("gates", ())]
    return [error for error in errors if error is not None]


def _summarizer(table: Mapping[str, Any]) -> list[ConfigError]:
    if "summarizer" not in table:
        return []
    from pytest_evalplug.summary.source import find_summarizer

    error = _caught(find_summarizer, None, [], table["summarizer"])
    return [] if error is None else [error]


def _caught(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ConfigError | None:
    try:
        function(*args, **kwargs)
    except ConfigError as error:
        return error
    except EvalplugError as error:
        return ConfigError(error.what, where=error.where, fix=error.fix)
    return None
