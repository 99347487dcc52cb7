"""Whole runs compared: which model beside which, dataset by dataset."""

from __future__ import annotations

__all__ = ["Comparison", "Line", "Side", "compare_sides", "pair_sides"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError, nearest
from pytest_evalplug.evaluation.paired import holm
from pytest_evalplug.run.results import ResultFile
from pytest_evalplug.run.saved_run import SavedRun
from pytest_evalplug.summary.comparison import Difference, compare_results, metric_pairs
from pytest_evalplug.summary.pooled import pooled


@dataclass(frozen=True, slots=True)
class Side:
    """One model in one run; without ``model`` whichever is compared.

    ``unpaired`` are models of the run that none of the other run's was found for.
    """

    run: SavedRun
    model: str | None = None
    unpaired: tuple[str, ...] = ()

    @property
    def models(self) -> list[str]:
        """The models that may be meant."""
        if self.model is not None:
            return [self.model]
        return list(dict.fromkeys(model for model, _ in self.run.tables()))

    def of(self, model: str) -> Side:
        """Return the side with a model. Raises ConfigError if the run has no results of it."""
        known = Side(self.run).models
        if model not in known:
            raise ConfigError(
                f"no results of model {model!r}",
                where=str(self.run.path),
                fix=nearest(model, known),
            )
        return replace(self, model=model)


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one dataset; ``adjusted_p`` allows for how many there are (Holm).

    A benchmark's line has ``parts``: its subsets, each with lines of its own.
    """

    dataset: str
    difference: Difference
    adjusted_p: float | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two sides, and what a reader of it has to know."""

    old: Side
    new: Side
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    @property
    def num_tests(self) -> int:
        """How many p-values there are."""
        return sum(line.difference.p_value is not None for line in self.lines)


def pair_sides(sides: Sequence[Side], models: Sequence[str] = ()) -> list[tuple[Side, Side]]:
    """Return what is compared with what; the first side is the baseline of all others.

    ``models`` holds for sides that name none: one model is meant in every run, several are meant
    side by side, in the one run there is or one in each. Without any, each model is compared with
    itself, or the only one of a run with the only one of the other. Raises ConfigError if that
    leaves open what is meant.
    """
    if len(models) > 1:
        if len(sides) not in (1, len(models)):
            raise ConfigError(
                f"{len(models)} models for {len(sides)} runs",
                where="--model",
                fix="Give one run, or as many as models",
            )
        runs = list(sides) if len(sides) > 1 else list(sides) * len(models)
        sides = [side.of(model) for side, model in zip(runs, models, strict=True)]
    elif models:
        sides = [side if side.model else side.of(models[0]) for side in sides]
    for side in sides:
        if not side.models:
            raise ConfigError(
                "the run has no results",
                where=str(side.run.path),
                fix="Score it first; another tool's predictions with evalplug import",
            )
    if len(sides) < 2:
        raise ConfigError(
            "there is nothing to compare with",
            fix="Give two runs, or one run and --model A --model B",
        )
    return [pair for side in sides[1:] for pair in _pairs(sides[0], side)]


def _pairs(old: Side, new: Side) -> list[tuple[Side, Side]]:
    shared = [model for model in old.models if model in new.models]
    if shared:
        if old.model is None and new.model is None:  # else the others are left out on purpose
            old, new = (
                replace(side, unpaired=tuple(m for m in side.models if m not in shared))
                for side in (old, new)
            )
        return [(replace(old, model=model), replace(new, model=model)) for model in shared]
    if len(old.models) == len(new.models) == 1:
        return [(replace(old, model=old.models[0]), replace(new, model=new.models[0]))]
    raise ConfigError(
        f"the runs have no model in common: {', '.join(old.models)}; {', '.join(new.models)}",
        where=f"{old.run.name}, {new.run.name}",
        fix="Say which: RUN:MODEL, or --model A --model B",
    )


def compare_sides(old: Side, new: Side, datasets: Mapping[str, str] | None = None) -> Comparison:
    """Compare all metrics of the datasets that both sides have.

    ``datasets`` leaves only these, and maps what the first side calls a dataset to what the other
    one does. Raises ConfigError if a side lacks one of them.
    """
    lines: list[Line] = []
    notes = [
        f"not compared, only in {side.run.name}: {', '.join(side.unpaired)}"
        for side in (old, new)
        if side.unpaired
    ]
    parts: dict[tuple[str, str], list[tuple[ResultFile, ResultFile]]] = {}
    for theirs, ours in _datasets(old, new, datasets, notes):
        results = _result(old, theirs), _result(new, ours)
        if bare := [s.run for s, r in zip((old, new), results, strict=True) if r.details is None]:
            notes += (f"{ours}: not compared: {_without_details(run)}" for run in bare)
            continue
        found = _compare(ours, *results, notes)
        if found:
            lines += found
            parts.setdefault((results[0].benchmark, results[1].benchmark), []).append(results)
    for (_, benchmark), pairs in parts.items():
        if len(pairs) > 1 and (whole := _whole(benchmark, pairs)):
            last = max(i for i, line in enumerate(lines) if line.dataset in whole.parts)
            lines.insert(last + 1, whole)
    return Comparison(old, new, tuple(_adjusted(lines)), tuple(notes))


def _compare(dataset: str, old: ResultFile, new: ResultFile, notes: list[str]) -> list[Line]:
    try:
        found = [
            Line(dataset, compare_results(old, new, metric, old_metric=old_metric))
            for old_metric, metric in metric_pairs(old, new)
        ]
    except EvalplugError as error:
        notes.append(f"{dataset}: not compared: {error.what}")
        return []
    if not found:
        notes.append(f"{dataset}: not compared: there is no metric that both have")
        return []
    notes += [f"{dataset}: {note}" for note in _cautions(old, new)]
    notes += [f"{dataset}: {note}" for note in _coverage(found[0].difference)]
    return found


def _whole(benchmark: str, pairs: Sequence[tuple[ResultFile, ResultFile]]) -> Line | None:
    """Return the line of a benchmark as a whole, over the samples of all its compared subsets."""
    old_metric, metric = metric_pairs(*pairs[0])[0]
    old, new = pooled([o for o, _ in pairs], old_metric), pooled([n for _, n in pairs], metric)
    if old is None or new is None:
        return None
    return Line(benchmark, compare_results(old, new), parts=tuple(r.dataset for _, r in pairs))


def _datasets(
    old: Side, new: Side, chosen: Mapping[str, str] | None, notes: list[str]
) -> list[tuple[str, str]]:
    there, here = ([d for m, d in side.run.tables() if m == side.model] for side in (old, new))
    if chosen:
        for side, known, names in ((old, there, chosen), (new, here, chosen.values())):
            for name in names:
                if name not in known:
                    raise ConfigError(
                        f"no results of {side.model} on {name!r}",
                        where=str(side.run.path),
                        fix=nearest(name, known),
                    )
        return list(chosen.items())
    for side, known, other in ((old, there, here), (new, here, there)):
        if missing := [dataset for dataset in known if dataset not in other]:
            notes.append(f"only in {side.run.name}: {', '.join(missing)}")
    return [(dataset, dataset) for dataset in there if dataset in here]


def _result(side: Side, dataset: str) -> ResultFile:
    assert side.model is not None
    result = side.run.result(side.model, dataset)
    if result is None:  # deleted since the tables were listed
        raise ConfigError(f"no results of {side.model} on {dataset!r}", where=str(side.run.path))
    return result


def _without_details(run: SavedRun) -> str:
    return f"{run.name} was scored without details. Score it again: --reuse {run.name} --mode eval"


def _cautions(old: ResultFile, new: ResultFile) -> Iterator[str]:
    """Yield why the two may not be comparable."""
    for what, before, after in (
        ("versions, so other data, prompts or shots", old.version, new.version),
        ("modes", old.mode, new.mode),
        ("numbers of repeats", old.repeats, new.repeats),
    ):
        if before != after and before and after:
            yield f"other {what}: {before} and {after}"
    if imported := [name for name, r in (("old", old), ("new", new)) if r.num_imported]:
        yield f"imported replies ({' and '.join(imported)}), to another tool's prompts"
    fewer = [r.num_fewer_shots for r in (old, new)]
    if any(fewer):
        yield f"prompts sent with fewer shots: {fewer[0]} and {fewer[1]}"
    partial = [name for name, r in (("old", old), ("new", new)) if r.partial]
    if partial:
        yield f"partial run ({' and '.join(partial)}), not the benchmark's score"
    if differing := _other_references(old, new):
        yield f"{differing} samples have other references; are they the same samples?"


def _other_references(old: ResultFile, new: ResultFile) -> int:
    """Count the samples of one index whose references are other texts.

    Another tool may keep the reference in another form (the solution that ends in it, 1,000 for
    1000), so there it is only said if it holds for most.
    """
    theirs = {detail.index: detail for detail in old.details or ()}
    pairs = [(theirs[d.index], d) for d in new.details or () if d.index in theirs]
    same_tool = any(before.sample_id == after.sample_id for before, after in pairs)
    differing = sum(_differ(before.answer, after.answer) for before, after in pairs)
    return differing if same_tool or 2 * differing > len(pairs) else 0


def _differ(old: Any, new: Any) -> bool:
    if not (isinstance(old, str) and isinstance(new, str)):
        return False
    short, long = sorted(("".join(text.replace(",", "").split()) for text in (old, new)), key=len)
    return not (short and long.casefold().endswith(short.casefold()))


def _coverage(found: Difference) -> Iterator[str]:
    """Yield what is known of samples that could not be compared."""
    left_out = [
        (found.only_old, "only in old"),
        (found.only_new, "only in new"),
        (found.old_errors, "not measured in old"),
        (found.new_errors, "not measured in new"),
    ]
    said = [f"{count} {where}" for count, where in left_out if count]
    if said:
        yield f"{found.num_pairs} samples compared; {', '.join(said)}"


def _adjusted(lines: Sequence[Line]) -> Iterator[Line]:
    p_values = [p for line in lines if (p := line.difference.p_value) is not None]
    adjusted = iter(holm(p_values))
    for line in lines:
        tested = line.difference.p_value is not None
        yield replace(line, adjusted_p=next(adjusted) if tested else None)
