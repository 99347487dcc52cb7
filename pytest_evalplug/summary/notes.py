"""What a score alone would hide: errors, partial runs, cut replies."""

from __future__ import annotations

__all__ = ["notes_for"]

from collections.abc import Iterator, Sequence

from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.summary.averages import missing_subsets
from pytest_evalplug.summary.rows import DatasetRef, Results, first_metric, metrics_in_order

_SHOWN = 5


def notes_for(models: Sequence[str], datasets: Sequence[DatasetRef], results: Results) -> list[str]:
    """Return one line for each thing that a reader of the table has to know."""
    notes = [
        f"{result.dataset} {result.model}: {line}"
        for dataset in datasets
        for model in models
        if (result := results.get((model, dataset.name)))
        for line in _of_result(result)
    ]
    benchmarks = {dataset.benchmark: dataset for dataset in datasets}
    for dataset in benchmarks.values():
        for model in models:
            notes += _missing(dataset, model, results)
    for benchmark, model, parts in _by_benchmark(models, datasets, results):
        notes += [f"{benchmark} {model}: {line}" for line in _of_benchmark(parts)]
    return notes


def _of_result(result: ResultFile) -> Iterator[str]:
    if result.error is not None:
        yield f"no metrics, {result.error}"
    if result.num_scored < result.num_samples:
        yield _coverage(result)
    if result.k and result.num_correct is not None:
        yield from _too_few_replies(result)
    for unit, stats in (result.res_length or {}).items():
        figures = ", ".join(f"{name} {stats[name]:.0f}" for name in ("median", "p95", "max"))
        yield f"reply length in {unit}: mean {stats['mean']:.1f}, {figures} (n = {stats['n']})"


def _too_few_replies(result: ResultFile) -> Iterator[str]:
    """Yield which of pass@k and maj@n are without some samples."""
    by_count: dict[int, list[str]] = {}
    for name in dict.fromkeys([*(f"pass@{k}" for k in result.k), f"maj@{result.repeats}"]):
        if name in result.metrics and name not in result.metric_samples:
            continue  # an Evaluator's own pass@1, a mean over all that was scored
        by_count.setdefault(result.metric_samples.get(name, 0), []).append(name)
    for count, names in by_count.items():
        if count < result.num_distinct:
            yield (
                f"{', '.join(names)} over {count} of {result.num_distinct} samples; "
                "the others have too few measured replies"
            )


def _coverage(result: ResultFile) -> str:
    metric = first_metric(m for m in metrics_in_order(result) if m in result.scores)
    parts = [_scored(result, metric)]
    if result.num_errors:
        parts.append(f"{result.num_errors} {'error' if result.num_errors == 1 else 'errors'}")
    if result.num_skipped:
        parts.append(f"{result.num_skipped} skipped")
    if metric in result.if_errors_wrong:
        parts.append(f"{result.if_errors_wrong[metric]:.1f} if errors count as wrong")
    return "; ".join(parts)


def _scored(result: ResultFile, metric: str | None) -> str:
    if metric is None:
        return f"{result.num_scored} of {result.num_samples} scored"
    value = result.metrics[metric]
    if result.num_correct is None:
        return f"{result.num_scored} of {result.num_samples} scored, {metric} {value:.1f}"
    right = f"{result.num_correct} right of {result.num_scored} scored"
    is_share = abs(value - 100 * result.num_correct / result.num_scored) < 0.05
    return f"{right} = {value:.1f}" if is_share else f"{right}, {metric} {value:.1f}"


def _missing(dataset: DatasetRef, model: str, results: Results) -> list[str]:
    missing = missing_subsets(dataset, model, results)
    if not missing or len(dataset.subsets) == 1:
        return []
    named = ", ".join(missing[:_SHOWN])
    rest = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    there = len(dataset.subsets) - len(missing)
    coverage = f"{there} of {len(dataset.subsets)} subsets have a result"
    return [f"{dataset.benchmark} {model}: no average, {coverage}; missing: {named}{rest}"]


def _by_benchmark(
    models: Sequence[str], datasets: Sequence[DatasetRef], results: Results
) -> list[tuple[str, str, list[ResultFile]]]:
    """Return each benchmark and model with its subsets' results."""
    parts: dict[tuple[str, str], list[ResultFile]] = {}
    for dataset in datasets:
        for model in models:
            if result := results.get((model, dataset.name)):
                parts.setdefault((dataset.benchmark, model), []).append(result)
    return [(*key, found) for key, found in parts.items()]


def _of_benchmark(parts: Sequence[ResultFile]) -> Iterator[str]:
    repeated = [part for part in parts if part.repeats > 1]
    if repeated:
        distinct, times = sum(p.num_distinct for p in repeated), repeated[0].repeats
        yield f"each of {distinct} samples asked {times} times; means are over all runs"
    if cut := sum(part.num_truncated for part in parts):
        yield f"{cut} of {sum(part.num_replies for part in parts)} replies were cut at max_tokens"
    if imported := sum(part.num_imported for part in parts):
        yield f"{imported} replies were imported: they are to another tool's prompts"
    if some := sum(part.num_samples for part in parts if part.partial):
        shards = dict.fromkeys(f" (shard {part.shard})" for part in parts if part.shard)
        yield f"partial run{''.join(shards)}, {some} samples; not the benchmark's score"
