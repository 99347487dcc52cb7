"""``[tool.evalplug]``: every mistake in it, not only the first."""

from __future__ import annotations

__all__ = ["tables"]

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_evalplug.dataset.catalogue import find_all
from pytest_evalplug.doctor.check import Check, of_error, ok
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
    if not found:
        for look in (_models, _benchmarks, _gates, _summarizer):
            found += look(table)
    for error in found:
        yield of_error(_NAME, error)
    if not found:
        sizes = [
            f"{len(part)} {name}"
            for name in ("models", "benchmarks", "gates", "summarizer")
            if (part := table.get(name))
        ]
        yield ok(_NAME, f"{path.name}: {', '.join(sizes) or 'empty'}")


def _models(table: Mapping[str, Any]) -> list[ConfigError]:
    from pytest_evalplug.evaluation.postprocessor import resolve_postprocessor

    found: list[ConfigError] = []
    for name, options in table.get("models", {}).items():
        needed = {key: options[key] for key in ("backend", "model") if key in options}
        # each option beside what every table needs, for the first mistake hides the others
        parts = [needed, *({**needed, key: options[key]} for key in options.keys() - needed.keys())]
        errors = [_caught(resolve_model, name, {name: part}) for part in parts]
        if (postprocessor := options.get("pred_postprocessor")) is not None:
            where = f"[tool.evalplug.models.{name}] pred_postprocessor"
            errors.append(_caught(resolve_postprocessor, postprocessor, where=where))
        found += {str(error): error for error in errors if error is not None}.values()
    return found


def _benchmarks(table: Mapping[str, Any]) -> list[ConfigError]:
    """Check the settings of shipped benchmarks; one with another name may be the user's own."""
    settings = table.get("benchmarks", {})
    metas = {entry.name: entry.meta for entry in find_all()} if settings else {}
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
