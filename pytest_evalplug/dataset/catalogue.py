"""Which benchmarks there are, and what can be said of each without a model or a network."""

from __future__ import annotations

__all__ = ["INSTALLED", "Entry", "find", "find_all", "shipped_folder"]

import ast
import importlib.util
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.base import EvalMode
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.multi_choice import MultiChoiceAdapter
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError, nearest, one_line

INSTALLED = Path(__file__).resolve().parents[1] / "benchmarks"
"""Where the wheel has the shipped modules; in a checkout they lie beside the package."""
_HEADING = re.compile(r"(?m)^([A-Z][a-z]+) {2,}(?=\S)")


def shipped_folder() -> Path:
    """Return where the shipped modules lie: in the installed package, or beside its sources."""
    return INSTALLED if INSTALLED.is_dir() else INSTALLED.parents[1] / "benchmarks"


@dataclass(frozen=True)
class Entry:
    """A benchmark and the module that it stands in."""

    cls: type[DefaultDataAdapter]
    path: Path

    @property
    def meta(self) -> BenchmarkMeta:
        """The benchmark's metadata."""
        return self.cls.__evalplug_meta__

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.meta.name

    @cached_property
    def sheet(self) -> Mapping[str, str]:
        """The sections of the module's docstring, heading -> text on one line; may be empty."""
        docstring = ast.get_docstring(ast.parse(self.path.read_text(encoding="utf-8"))) or ""
        _, *parts = _HEADING.split(docstring)
        return {
            heading: " ".join(text.split())
            for heading, text in zip(parts[::2], parts[1::2], strict=True)
        }

    @property
    def modes(self) -> list[EvalMode]:
        """The evaluation modes that it is made for: likelihoods need something to compare."""
        compares = (
            issubclass(self.cls, MultiChoiceAdapter)
            or self.meta.choice_prompt_template is not None
            or self.adapter().overrides("continuations")
        )
        return [mode for mode in self.cls.modes if mode == "gen" or compares]

    @property
    def scored_by(self) -> list[str]:
        """The names of its Evaluators, or of the metrics that stand for them."""
        evaluator = self.meta.eval_cfg.get("evaluator")
        return [_type_name(spec) for spec in ([evaluator] if evaluator else self.meta.metric_list)]

    def published_samples(self) -> str:
        """Return how many samples the sheet gives the split (``1,319``, ``250 each``), or ``""``.

        Empty too where the module's benchmarks have sizes of their own.
        """
        number = r"((?:over )?\d+(?:,\d{3})*(?: each| in all)?)"
        size = rf"\b{re.escape(self.meta.eval_split)} {number}"
        found = re.findall(size, self.sheet.get("Data", ""))
        return found[0] if len(found) == 1 else ""

    def adapter(
        self, data_dirs: Sequence[Path] = (), mode: EvalMode = "gen", limit: int | None = None
    ) -> DefaultDataAdapter:
        """Return an adapter that reads local data only: a hub is never asked.

        Raises ConfigError for what the benchmark's own ``__init__`` raises.
        """
        options = AdapterOptions(
            data_dirs=tuple(data_dirs), eval_mode=mode, limit=limit, where=str(self.path)
        )
        with _located(self.path):
            adapter = self.cls(benchmark_meta=self.meta, options=options)
        if not (self.path.parent / adapter.dataset_id).exists():
            adapter.dataset_id = ""
        return adapter

    def sizes(self, data_dirs: Sequence[Path]) -> dict[str, int]:
        """Return the number of Samples of each subset whose data is at hand.

        Raises ConfigError for what the benchmark's own methods raise.
        """
        adapter = self.adapter(data_dirs)
        sizes = {}
        for subset in adapter.subset_list:
            with suppress(DataError), _located(self.path):
                sizes[subset] = adapter.available(subset)
        return sizes


def find_all(places: Iterable[Path] = ()) -> list[Entry]:
    """Return the benchmarks of modules and folders, by file and line; of those shipped if none.

    A module is imported only if its text speaks of ``register_benchmark``. Raises ConfigError for
    a place that isn't there and for a module that can't be imported.
    """
    entries = []
    for path in _modules([*places] or [shipped_folder()]):
        module = _import(path)
        entries += [
            Entry(value, path)
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, DefaultDataAdapter)
            and "__evalplug_meta__" in vars(value)
            and value.__module__ == module.__name__
        ]
    return entries


def find(name: str, places: Iterable[Path] = ()) -> Entry:
    """Return the benchmark ``name``; raises ConfigError with the nearest names."""
    entries = {entry.name: entry for entry in find_all(places)}
    if name not in entries:
        raise ConfigError(f"there is no benchmark {name!r}", fix=nearest(name, entries))
    return entries[name]


def _modules(places: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for place in places:
        if not place.exists():
            raise ConfigError("no such file or folder", where=str(place))
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        found += [
            path
            for path in files
            if path == place or path.name.startswith("test_") or path.name.endswith("_test.py")
        ]
    return [path for path in dict.fromkeys(found) if b"register_benchmark" in path.read_bytes()]


def _import(path: Path) -> ModuleType:
    """Import a module by its path, under a name that no other one has."""
    name = f"evalplug_catalogue.{path.resolve()}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError("is no Python module", where=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where a class looks for its module's file
    sys.path.insert(0, str(path.resolve().parent))  # as pytest does, for what lies beside it
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # pytest.skip() and sys.exit() are no Exceptions
        del sys.modules[name]
        raise ConfigError(f"can't be imported: {one_line(error)}", where=str(path)) from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


@contextmanager
def _located(path: Path) -> Iterator[None]:
    """Turn an exception of the author's code into one line that says which module it is in."""
    try:
        yield
    except EvalplugError:
        raise
    except Exception as error:
        raise ConfigError(one_line(error), where=str(path)) from error


def _type_name(spec: Any) -> str:
    kind = spec.get("type") if isinstance(spec, Mapping) else spec
    return kind if isinstance(kind, str) else getattr(kind, "__name__", type(kind).__name__)
