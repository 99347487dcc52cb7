"""A benchmark class in a test module becomes parametrized items."""

from __future__ import annotations

__all__ = [
    "Benchmark",
    "BenchmarkClass",
    "Placeholder",
    "case_of",
    "make_benchmark",
    "parametrize",
    "select",
]

import hashlib
import inspect
import json
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from typing import Any

import pytest

from pytest_evalplug.dataset.adapter import AdapterOptions, DefaultDataAdapter
from pytest_evalplug.dataset.ids import item_ids, safe_id
from pytest_evalplug.dataset.meta import BenchmarkMeta
from pytest_evalplug.dataset.shards import shard_numbers
from pytest_evalplug.errors import ConfigError, DataError, EvalplugError, NotApplicable, nearest
from pytest_evalplug.evaluation.scoring import Scorer
from pytest_evalplug.inference.case import Case, dataset_of
from pytest_evalplug.marks import tag_mark
from pytest_evalplug.options import RunConfig
from pytest_evalplug.run.results import shared_dataset
from pytest_evalplug.types import Sample

CARRIERS = ("evalplug_case", "evaluation")
"""The fixtures that may carry the case: the first of them that a test asks for, even indirectly.

A test that asks for ``evaluation`` alone is parametrized with that: every fixture more costs a
fifth of what pytest does for an item.
"""


@dataclass(slots=True, eq=False)
class Placeholder:
    """Stands for a benchmark or subset without samples, and says why when it is run."""

    benchmark: str
    subset: str
    error: EvalplugError
    model: str | None = None


@dataclass
class Benchmark:
    """A collected benchmark: its one adapter in this process, and what became of its subsets."""

    meta: BenchmarkMeta
    cls: type[DefaultDataAdapter]
    file: str
    adapter: DefaultDataAdapter
    error: EvalplugError | None = None
    """What is wrong with the whole benchmark."""
    missing: dict[str, EvalplugError] = field(default_factory=dict)
    """What is wrong with single subsets."""
    _cases: tuple[list[str], list[Case | Placeholder]] | None = None

    @classmethod
    def build(
        cls, klass: type[DefaultDataAdapter], meta: BenchmarkMeta, file: str, config: RunConfig
    ) -> Benchmark:
        """Make the adapter; a mistake of the author's is kept in ``error``, never raised."""
        error: EvalplugError | None = None
        try:
            meta = meta.override(config.overrides.get(meta.name, {}))
            adapter = klass(benchmark_meta=meta, options=_adapter_options(config, file))
            benchmark = cls(meta, klass, file, adapter)
            benchmark.scorer.check()
            if benchmark.scorer.needs_judge and config.judge is None and config.stage != "infer":
                raise ConfigError(
                    "its answers are judged by a model",
                    where=f"{file}: {meta.name}",
                    fix="Name one: --judge-model (or only ask the model: --mode infer)",
                )
            return benchmark
        except Exception as caught:
            error = authors_error(caught, file)
        return cls(
            meta, klass, file, _NoAdapter(benchmark_meta=BenchmarkMeta(name=meta.name)), error
        )

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return self.meta.name

    @cached_property
    def scorer(self) -> Scorer:
        """Scores this benchmark's predictions. Raises ConfigError for a bad ``eval_cfg``."""
        return self.adapter.scorer

    def scorer_for(self, model_postprocessor: Any) -> Scorer:
        """Return the scorer for a model with a postprocessor of its own, applied first."""
        if model_postprocessor is None:
            return self.scorer
        return Scorer(self.adapter, model_postprocessor)

    def version(self, subset: str) -> str:
        """Return the first six characters of the hash of the prompt configuration."""
        config = json.dumps(self.adapter.prompt_config(subset), sort_keys=True, default=str)
        return hashlib.sha256(config.encode("utf-8", "surrogatepass")).hexdigest()[:6]

    def dataset(self, subset: str) -> str:
        """Return the name that files and tables use for a subset."""
        return dataset_of(self.adapter, subset)

    def cases(self, config: RunConfig) -> tuple[list[str], list[Case | Placeholder]]:
        """Return the ids and the cases of all items; all test functions share the cases.

        Those of other shards are not made, or each shard would need the memory of all.
        """
        if self._cases is None:
            ids: list[str] = []
            cases: list[Case | Placeholder] = []
            for item_id, case in self._make_cases(config):
                ids.append(item_id)
                cases.append(case)
            if not cases:
                elsewhere = NotApplicable("all its samples are in other shards", where=self.name)
                ids, cases = ["unselected"], [Placeholder(self.name, "", elsewhere)]
            self._cases = ids, cases
        return self._cases

    def collected(self, items: Iterable[pytest.Item]) -> None:
        """Let go of what only collecting needs: the items' own ids are copies of ours."""
        self._cases = None
        for item in items:
            case = case_of(item)
            if isinstance(case, Case) and case.item_id == item.callspec.id:  # type: ignore[attr-defined]
                case.item_id = item.callspec.id  # type: ignore[attr-defined]

    def _make_cases(self, config: RunConfig) -> Iterator[tuple[str, Case | Placeholder]]:
        if self.error:
            yield "error", Placeholder(self.name, "", self.error)
            return
        try:
            subsets = self.adapter.subsets()
        except Exception as caught:
            self.error = authors_error(caught, self.file)
            yield "missing", Placeholder(self.name, "", self.error)
            return
        if not subsets:
            unselected = NotApplicable("no subset of this benchmark is selected", where=self.name)
            yield "unselected", Placeholder(self.name, "", unselected)
        models: list[str | None] = [*config.columns]
        for model in models or [None]:
            prefix = f"{safe_id(model)}-" if model and len(models) > 1 else ""
            for subset in subsets:
                yield from self._subset_cases(subset, model, prefix, config.shard)

    def _subset_cases(
        self, subset: str, model: str | None, prefix: str, shard: tuple[int, int] | None
    ) -> Iterator[tuple[str, Case | Placeholder]]:
        adapter = self.adapter
        try:
            if subset in self.missing:
                raise self.missing[subset]
            adapter.check_mode(subset)
            samples = adapter.samples(subset)
        except Exception as caught:
            error = self.missing[subset] = authors_error(caught, self.file)
            error.where = error.where or self.dataset(subset)
            kind = "skipped" if isinstance(error, NotApplicable) else "missing"
            yield f"{prefix}{safe_id(subset)}-{kind}", Placeholder(self.name, subset, error, model)
            return
        number, count = shard or (1, 1)
        numbers = shard_numbers(samples, self.dataset(subset), count) if shard else cycle([1])
        ids = item_ids(samples, subset, adapter.subset_list)
        for sample, item_id, own in zip(samples, ids, numbers):  # noqa: B905 - without end
            if own != number:
                continue
            for repeat in range(adapter.repeats):
                suffix = f"-r{repeat}" if adapter.repeats > 1 else ""
                name = safe_id(f"{prefix}{item_id}{suffix}") if prefix or suffix else item_id
                yield name, Case(adapter, subset, sample, item_id, repeat, model)


def authors_error(error: Exception, file: str) -> EvalplugError:
    """Return an exception of the author's own code as one line that says where it came from."""
    if isinstance(error, EvalplugError):
        return error
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    where = f"{file}:{own[-1].lineno}, in {own[-1].name}" if own else file
    return ConfigError(f"{type(error).__name__}: {error}", where=where)


class _NoAdapter(DefaultDataAdapter):
    """Takes the place of an adapter that could not be made."""

    def record_to_sample(self, record: dict[str, Any]) -> Sample:
        raise NotImplementedError


class BenchmarkClass(pytest.Class):
    """Collects a benchmark class, whatever its name and its ``__init__``."""

    benchmark: Benchmark

    def collect(self) -> list[pytest.Item | pytest.Collector]:
        """Return the items; those of the inherited test are located at the benchmark's class."""
        nodes = list(super().collect())
        items = [node for node in nodes if isinstance(node, pytest.Item)]
        if len(items) == len(nodes):  # else a class within will want the same cases
            self.benchmark.collected(items)
        if self.benchmark.cls.test_sample is not DefaultDataAdapter.test_sample:
            return nodes
        line = _line_of(self.benchmark.cls)
        file, *names = self.nodeid.split("::")
        path = ".".join(names)
        for item in items:
            if getattr(item, "originalname", "") == "test_sample":
                item.location = (file, line, f"{path}.{item.name}")
        return nodes

    def newinstance(self) -> DefaultDataAdapter:
        """Return the one adapter of this process, for every item."""
        return self.benchmark.adapter


def _line_of(cls: type) -> int | None:
    """Return the line (from 0) where a class is defined."""
    try:
        return inspect.findsource(cls)[1]
    except (OSError, TypeError):
        return None


def make_benchmark(
    collector: pytest.Module | pytest.Class,
    name: str,
    cls: type[Any],
    config: RunConfig,
    known: dict[str, Benchmark],
) -> pytest.Class | list[pytest.Item]:
    """Return the collector for a decorated class; nothing for a subclass or an imported one."""
    meta = cls.__dict__.get("__evalplug_meta__")
    if meta is None or cls.__module__ != collector.obj.__name__:
        return []
    benchmark = Benchmark.build(cls, meta, str(collector.path), config)
    other = known.setdefault(meta.name, benchmark)
    if other is not benchmark and (other.file, other.cls.__qualname__) != (
        benchmark.file,
        cls.__qualname__,
    ):
        benchmark.error = ConfigError(
            f"benchmark name {meta.name!r} is taken by {other.cls.__qualname__} in {other.file}",
            where=f"{collector.path}::{name}",
            fix="Give one of them another name",
        )
    else:
        others = {b.name: b.adapter.subset_list for b in known.values()}
        shared = shared_dataset(meta.name, benchmark.adapter.subset_list, others)
        benchmark.error = benchmark.error or shared
    node: BenchmarkClass = BenchmarkClass.from_parent(collector, name=name)
    node.benchmark = benchmark
    # pytest refuses classes with an __init__; this stand-in has everything else of the class
    node.obj = type(cls.__name__, (cls,), {"__init__": object.__init__, "__doc__": cls.__doc__})
    for mark in getattr(cls, "pytestmark", ()):
        node.add_marker(getattr(pytest.mark, mark.name)(*mark.args, **mark.kwargs))
    node.add_marker(pytest.mark.evalplug(name=meta.name))
    for tag in meta.tags:
        node.add_marker(tag_mark(tag))
    return node


def parametrize(metafunc: pytest.Metafunc, config: RunConfig) -> None:
    """Make one item for every case of the benchmark that the test function belongs to."""
    carrier = next((name for name in CARRIERS if name in metafunc.fixturenames), None)
    if carrier is not None:
        node = metafunc.definition.getparent(BenchmarkClass)
        if node is not None:
            ids, cases = node.benchmark.cases(config)
            metafunc.parametrize(carrier, cases, ids=ids, indirect=True)
    elif "model_backend" in metafunc.fixturenames and len(config.models) > 1:
        names = list(config.columns)
        metafunc.parametrize("model_backend", names, indirect=True, scope="session")


def case_of(item: pytest.Item) -> Case | Placeholder | None:
    """Return what an item stands for, or None for an ordinary test."""
    callspec = getattr(item, "callspec", None)
    if callspec is None:
        return None
    params = callspec.params
    for carrier in CARRIERS:
        if carrier in params:
            case = params[carrier]
            return case if isinstance(case, (Case, Placeholder)) else None
    return None


def _adapter_options(config: RunConfig, file: str) -> AdapterOptions:
    return AdapterOptions(
        data_dirs=config.data_dirs,
        subsets=config.subsets,
        limit=config.limit,
        eval_mode=config.eval_mode,
        where=file,
    )


def select(
    config: pytest.Config, items: list[pytest.Item], run: RunConfig, known: dict[str, Benchmark]
) -> None:
    """Leave out benchmarks of which nothing is selected; order items by model.

    A ``--subset`` that no benchmark has, or an ``--eval-set`` for a benchmark that isn't there, is
    an error of one item for each benchmark it could have meant, and the others do not run.
    """
    mistake = _unknown_override(run, known) or _unknown_subset(run, known)
    blamed: set[str] = set()
    kept, left_out = [], []
    for item in items:
        case = case_of(item)
        if case is not None and mistake and _replace(item, case, mistake, blamed):
            kept.append(item)
        elif case is not None and (mistake or _unselected(case)):
            left_out.append(item)
        else:
            kept.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    if len(run.columns) > 1:
        order = {name: rank for rank, name in enumerate(run.columns)}
        kept.sort(key=lambda item: order.get(getattr(case_of(item), "model", None) or "", -1))
    items[:] = kept


def _unselected(case: Case | Placeholder) -> bool:
    """Tell whether the case stands for a benchmark of which no subset or sample is selected."""
    return (
        isinstance(case, Placeholder) and isinstance(case.error, NotApplicable) and not case.subset
    )


def _replace(
    item: pytest.Item, case: Case | Placeholder, error: EvalplugError, blamed: set[str]
) -> bool:
    """Make a benchmark's first item report the error instead; False for its further ones."""
    name = case.benchmark if isinstance(case, Placeholder) else case.adapter.meta.name
    if name in blamed:
        return False
    blamed.add(name)
    params: dict[str, Any] = item.callspec.params  # type: ignore[attr-defined]
    params[next(name for name in CARRIERS if name in params)] = Placeholder(name, "", error)
    return True


def _unknown_subset(run: RunConfig, known: dict[str, Benchmark]) -> DataError | None:
    """Return the error for a subset that nobody has."""
    have = {
        name for b in known.values() for s in b.adapter.subset_list for name in (s, f"{b.name}/{s}")
    }
    missing = [name for name in run.subsets if name not in have]
    if not missing:
        return None
    return DataError(
        f"no benchmark has the subset {missing[0]!r}",
        where="--subset",
        fix=nearest(missing[0], have),
    )


def _unknown_override(run: RunConfig, known: dict[str, Benchmark]) -> ConfigError | None:
    """Return the error for an ``--eval-set`` that changes nothing."""
    missing = [name for name, _, _ in run.settings if name not in known]
    if not missing:
        return None
    return ConfigError(
        f"there is no benchmark {missing[0]!r} here",
        where="--eval-set",
        fix=nearest(missing[0], known),
    )
