"""The end of a run, in the one process that sees all of it: details become metrics and files."""

from __future__ import annotations

__all__ = ["Outcome", "finish", "view"]

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_evalplug.collection import Benchmark, authors_error
from pytest_evalplug.dataset.adapter import DefaultDataAdapter
from pytest_evalplug.dataset.ids import base_index
from pytest_evalplug.errors import DataError, EvalplugError, StorageError
from pytest_evalplug.gating import check_required, unchecked
from pytest_evalplug.masking import mask_argument
from pytest_evalplug.options import RunConfig
from pytest_evalplug.report.viewer.report import write_report
from pytest_evalplug.run.details import DetailStore
from pytest_evalplug.run.directory import RunDirectory
from pytest_evalplug.run.predictions import JudgementStore, PredictionStore
from pytest_evalplug.run.saved_run import open_own
from pytest_evalplug.run.snapshot import write_snapshot
from pytest_evalplug.summary.gates import GateResult
from pytest_evalplug.summary.result import build_result
from pytest_evalplug.summary.rows import DatasetRef
from pytest_evalplug.summary.run_table import known, summarize
from pytest_evalplug.summary.table import Table
from pytest_evalplug.types import AggScore, Detail
from pytest_evalplug.wire import Manifest, Part

if TYPE_CHECKING:
    from pytest_evalplug.session import EvalSession
    from pytest_evalplug.summary.summarizer import Summarizer

NOT_RUN = "not run: the session ended before this sample"


@dataclass(slots=True)
class Outcome:
    """What the terminal shows of a finished run."""

    run: RunDirectory
    table: Table | None = None
    wrong: dict[tuple[str, str], list[tuple[Detail, dict[str, Any]]]] = field(default_factory=dict)
    """(dataset, model) -> some wrong answers with their prediction records."""
    num_wrong: dict[tuple[str, str], int] = field(default_factory=dict)
    scores: dict[tuple[str, str], list[AggScore]] = field(default_factory=dict)
    """(benchmark, model) -> the metrics of all its subsets."""
    notes: list[str] = field(default_factory=list)
    gates: list[GateResult] = field(default_factory=list)
    page: Path | None = None
    """The page for browsers, if it was written."""
    failed: bool = False
    """Something could not be computed, so the session may not end well."""

    def fail(self, note: str) -> None:
        """Say what could not be computed."""
        self.notes.append(note)
        self.failed = True


def finish(
    config: RunConfig,
    run: RunDirectory,
    manifest: Manifest,
    session: EvalSession | None,
) -> Outcome:
    """Merge the journals, compute every metric once, write results and summary.

    ``session`` has what this process collected and wrote; the controller of pytest-xdist has
    none: it reads the workers' journals and imports the manifest's modules.
    """
    outcome = Outcome(run)
    benchmarks = session.benchmarks if session else {}
    store = (session and session.store) or PredictionStore(run)
    details = (session and session.details) or DetailStore(run)
    for predicted in (store, JudgementStore(run)):
        try:
            predicted.merge()
        except StorageError as error:  # the journals have it all
            outcome.fail(str(error))
        outcome.notes += [f"damaged: {what}" for what in predicted.broken]
    if config.stage == "infer":
        outcome.gates = unchecked(config, "skipped", "nothing is scored in --mode infer")
        return outcome
    details.refresh()
    written = True
    models = _models(config, manifest, details, run)
    for part in manifest.parts:
        if not part.indices:
            continue
        for model in [part.model] if part.model else models:
            benchmark = _benchmark(part, manifest, benchmarks, config, outcome)
            written &= _finish_part(part, model, benchmark, store, details, outcome, config)
    _report(outcome, benchmarks)
    outcome.notes += _applied_twice(manifest, benchmarks)
    outcome.notes += _problems(manifest)
    try:
        outcome.table = summarize(run, models, datasets_of(manifest), config.summarizer)
        outcome.gates, notes = check_required(config, run, outcome.table)
        outcome.notes += notes
    except EvalplugError as error:
        outcome.fail(str(error))
        outcome.gates = unchecked(config, "failed", f"can't be checked: {error}")
    if written and config.shard is None:  # else 'evalplug merge' reads them
        try:
            details.clear()
        except StorageError as error:  # the results are written
            outcome.notes.append(str(error))
    _write_page(outcome, store)
    return outcome


def _write_page(outcome: Outcome, store: PredictionStore) -> None:
    """Write the page for browsers; a run is one without it, too."""
    try:
        gates = [asdict(result) for result in outcome.gates]
        outcome.page = write_report(open_own(outcome.run.path, store), gates=gates)
    except (EvalplugError, OSError) as error:
        outcome.notes.append(f"no report/index.html: {error}")


def view(run: RunDirectory, summarizer: Summarizer | None = None) -> Outcome:
    """Return a finished run's table again, written as ``viz_<time>`` beside its own summary.

    Raises DataError if it has no results.
    """
    models, datasets = known(run)
    if not datasets:
        raise DataError(
            "the run has no results yet", where=str(run.path), fix="Score it: --reuse --mode eval"
        )
    try:
        return Outcome(run, summarize(run, models, datasets, summarizer, "viz"))
    except StorageError as error:  # to read a run is not to write in it
        from pytest_evalplug.summary.summarizer import Summarizer as Plain

        table = (summarizer or Plain()).on(run, models, datasets).table()
        return Outcome(run, table, notes=[f"the summary is not saved: {error}"])


def datasets_of(manifest: Manifest) -> list[DatasetRef]:
    """Return the rows that the table has, measured or not."""
    refs = (DatasetRef(p.benchmark, p.subset, tuple(p.subsets)) for p in manifest.parts if p.subset)
    return list(dict.fromkeys(refs))


def _models(
    config: RunConfig, manifest: Manifest, details: DetailStore, run: RunDirectory
) -> list[str]:
    parts = [part.model for part in manifest.parts if part.model]
    seen = [model for model, _ in details.tables()]
    named = list(dict.fromkeys([*config.columns, *parts, *seen]))
    if not named:  # the run was stopped before the first verdict
        from pytest_evalplug.inference.saved import saved_models

        named = list(saved_models(run))
    return named or ["model"]


def _finish_part(
    part: Part,
    model: str,
    benchmark: Benchmark | None,
    store: PredictionStore,
    details: DetailStore,
    outcome: Outcome,
    config: RunConfig,
) -> bool:
    """Compute one table of results and write it; False if that can't be written."""
    found = details.details(model, part.dataset)
    every = list(_details(part, found))
    skipped = [d for d in every if (d.metadata or {}).get("skipped")]
    measured = [d for d in every if not (d.metadata or {}).get("skipped")]
    saved = store.records(model, part.dataset)
    records = _Rows(saved, measured)
    scores: Sequence[AggScore] = []
    repeats: dict[str, Any] = {}
    failure: str | None = None
    if benchmark is not None:
        try:
            repeats = _repeats(benchmark.adapter, part.subset, measured)
            scores = benchmark.scorer.aggregate(
                part.subset,
                measured,
                records,
                _test_set(benchmark, part, measured),
                benchmark.adapter.repeats,
            )
        except Exception as caught:
            failure = str(authors_error(caught, benchmark.file))
            outcome.failed = True  # the table's notes say why
    result = build_result(
        scores,
        measured,
        records,
        model=model,
        dataset=part.dataset,
        benchmark=part.benchmark,
        subset=part.subset,
        version=part.version,
        mode=config.eval_mode,
        num_skipped=len(skipped),
        partial=len(part.indices) < part.available or any(d.error == NOT_RUN for d in measured),
        shard=config.shard and "{}/{}".format(*config.shard),
        error=failure,
        keep_details=config.dump_eval_details,
        with_extract_rate=config.dump_extract_rate,
        with_res_length=config.dump_res_length,
        **repeats,
    )
    written = True
    try:
        result.write(outcome.run)
    except StorageError as error:
        written = False
        numbers = ", ".join(f"{name} {value:.2f}" for name, value in result.metrics.items())
        of = f"over {result.num_scored} of {result.num_samples} samples"
        outcome.fail(f"{part.dataset} {model}: {numbers or 'no metrics'} {of}; {error}")
    outcome.scores.setdefault((part.benchmark, model), []).extend(scores)
    if kinds := _sandboxes(measured):
        outcome.notes.append(f"{part.dataset} {model}: programs ran in {kinds}")
    if shorter := result.num_fewer_shots:
        outcome.notes.append(
            f"{part.dataset} {model}: {shorter} of {len(measured)} prompts were too long "
            "and were sent with fewer shots"
        )
    wrong = [d for d in measured if d.correct is False]
    shown = [d for d in wrong[: config.show_wrong] if d.index in saved]
    outcome.num_wrong[part.dataset, model] = len(wrong)
    outcome.wrong[part.dataset, model] = [(d, saved[d.index]) for d in shown]
    return written


def _details(part: Part, found: dict[str, Detail]) -> Iterator[Detail]:
    """Take the verdict of each selected sample, in order; one that was not run is an error.

    The names are the manifest's own: a hundred thousand texts need not be there twice.
    """
    for index, sample_id in zip(part.indices, part.sample_ids, strict=True):
        detail = found.pop(index, None) or Detail(index, sample_id, part.subset, error=NOT_RUN)
        detail.index, detail.sample_id, detail.subset = index, sample_id, part.subset
        yield detail


class _Rows(Sequence[Mapping[str, Any]]):
    """The prediction records of details, in their order, each read when it is asked for."""

    def __init__(self, saved: Mapping[str, Mapping[str, Any]], details: Sequence[Detail]) -> None:
        self._saved = saved
        self._details = details

    def __len__(self) -> int:
        return len(self._details)

    def __getitem__(self, position: Any) -> Any:
        index = self._details[position].index
        return self._saved.get(index, {"index": index})


def _repeats(
    adapter: DefaultDataAdapter, subset: str, measured: Sequence[Detail]
) -> dict[str, Any]:
    """Return how often samples were asked, and how many there are, for a result."""
    if adapter.repeats == 1:
        return {}
    rows = adapter.row_count(subset)
    distinct = {base_index(d.index, rows) for d in measured}
    ks = () if adapter.overrides("aggregate_scores") else adapter.k or (adapter.repeats,)
    return {"repeats": adapter.repeats, "k": ks, "num_distinct": len(distinct), "num_rows": rows}


def _sandboxes(details: Sequence[Detail]) -> str:
    """Return the kinds of sandbox that programs ran in, and what is weak about one."""
    found = {m["sandbox"]: m.get("note") for d in details if "sandbox" in (m := d.metadata or {})}
    return "; ".join(f"{kind} ({note})" if note else kind for kind, note in found.items())


def _report(outcome: Outcome, benchmarks: dict[str, Benchmark]) -> None:
    """Let adapters that want to report their metrics, once for each benchmark and model."""
    hooks = ("_on_generate_report", "_on_generate_report_end", "generate_report")
    for (name, model), scores in outcome.scores.items():
        benchmark = benchmarks.get(name)
        if benchmark is None or not any(map(benchmark.adapter.overrides, hooks)):
            continue
        try:
            benchmark.adapter.generate_report(scores, model, str(outcome.run.path))
        except Exception as caught:
            outcome.fail(f"{name} {model}: no report, {authors_error(caught, benchmark.file)}")


def _test_set(
    benchmark: Benchmark, part: Part, details: Sequence[Detail]
) -> Callable[[], list[dict[str, Any]]]:
    """Return what loads the test set, row by row beside the details, if an Evaluator asks."""

    def load() -> list[dict[str, Any]]:
        samples = {s.index: s for s in benchmark.adapter.samples(part.subset)}
        rows = benchmark.adapter.row_count(part.subset)
        return [benchmark.scorer.test_row(samples[base_index(d.index, rows)]) for d in details]

    return load


def _benchmark(
    part: Part,
    manifest: Manifest,
    known: dict[str, Benchmark],
    config: RunConfig,
    outcome: Outcome,
) -> Benchmark | None:
    """Return the benchmark; imports its module where this process has not collected it."""
    if part.benchmark not in known:
        module, file, root, name = manifest.modules[part.benchmark]
        try:
            cls = _custom(part.benchmark, Path(file), config)
            if cls is None:
                cls = attrgetter(name)(_import(module, Path(file), root))
        except Exception as error:
            outcome.fail(f"{part.benchmark}: {file} can't be imported here: {error}")
            return None
        known[part.benchmark] = Benchmark.build(cls, cls.__evalplug_meta__, file, config)
    return known[part.benchmark]


def _custom(name: str, path: Path, config: RunConfig) -> Any:
    """Return the benchmark of a user's own data, which no module holds; None for any other."""
    for data in config.custom:
        if data.name == name:
            from pytest_evalplug.dataset.custom import benchmark_of

            return benchmark_of(replace(data, path=path))
    return None


def _import(name: str, file: Path, root: str) -> Any:
    """Import a test module as the workers did, without collecting it."""
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    if root not in sys.path:
        sys.path.insert(0, root)
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _applied_twice(manifest: Manifest, benchmarks: dict[str, Benchmark]) -> list[str]:
    """Return a line for each benchmark whose predictions go through a postprocessor twice."""
    names = dict.fromkeys(part.benchmark for part in manifest.parts if part.indices)
    return [
        f"{name}: predictions go through {', '.join(twice)} twice; it is configured in eval_cfg "
        "and in its evaluator"
        for name in names
        if (benchmark := benchmarks.get(name)) and benchmark.error is None
        if (twice := benchmark.scorer.config.applied_twice)
    ]


def _problems(manifest: Manifest) -> list[str]:
    """Return a line for what could not be run at all; the items' errors say why."""
    missing = [p.dataset for p in manifest.parts if p.problem and not p.skipped]
    skipped = [p for p in manifest.parts if p.skipped]
    notes = []
    if missing:
        notes.append(f"no result, see the errors above: {_some(missing)}")
    if skipped:
        why = (skipped[0].problem or "").split(": ", 1)[-1]
        notes.append(f"skipped: {_some([p.dataset for p in skipped])} ({why})")
    return notes


def _some(names: Sequence[str], shown: int = 5) -> str:
    """Return the first names, and how many more there are."""
    unique = list(dict.fromkeys(names))
    more = f" and {len(unique) - shown} more" if len(unique) > shown else ""
    return ", ".join(unique[:shown]) + more


def snapshot(config: RunConfig, run: RunDirectory, arguments: Sequence[str]) -> None:
    """Write what this session was started with, secrets masked."""
    shown = [mask_argument(argument) for argument in arguments]
    write_snapshot(run, {"arguments": shown, **config.to_wire()})
