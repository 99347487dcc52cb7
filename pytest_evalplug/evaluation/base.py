"""What an Evaluator is."""

from __future__ import annotations

__all__ = ["BaseEvaluator", "evaluator_from"]

import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.columns import asks_for, named_parameters, pick_arguments
from pytest_evalplug.evaluation.outcome import (
    BINARY,
    checked_result,
    is_number,
    scale_of,
    to_score,
    verdict_of,
)
from pytest_evalplug.evaluation.postprocessor import (
    Postprocessor,
    apply_steps,
    resolve_postprocessor,
)
from pytest_evalplug.evaluation.repeats import average_runs
from pytest_evalplug.evaluation.waiting import wait_for
from pytest_evalplug.types import Score

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge

_WAITING = 64
"""How many samples wait at once for an ``async`` ``score_sample``."""
_UNEVEN = "columns must be equally long and not empty, not {}"


class BaseEvaluator:
    """Compares predictions with references.

    A subclass defines either method, with just the arguments it reads; they are picked by name:

    - ``score_sample(prediction, reference, ...)`` for one sample, plain or ``async``, returning
      a Score, a dict of metrics on a 0-1 scale, or one number (then called ``metric``). A dict's
      ``correct`` is the verdict; its other entries that are no numbers are kept as metadata. The
      set's metrics are the means.
    - ``score(predictions, references, ...)`` for the whole set, returning metrics on their own
      scale and, if it likes, ``details``, one dict a sample.

    Both may ask for any column of the prediction file (``origin_prompt``, ``gold``, ``choices``,
    ``ppl``, ...), and for ``prompt``, ``res_length`` and ``all_input_length``; ``score`` also for
    ``test_set``, a sequence of dicts, and ``score_sample`` for ``original_prediction``,
    ``sample`` and ``task_state``.
    """

    per_sample: ClassVar[bool] = False
    """Whether ``score`` means something on one sample, and so may give an item's verdict."""
    needs_judge: bool = False
    """Whether it asks a judge model and brings none, so that a run must have one."""
    unranked: ClassVar[frozenset[str]] = frozenset()
    """Metrics that say nothing of right or wrong, and so nothing of errors counted as wrong."""
    metric: ClassVar[str] = "score"
    """The name of a metric that ``score_sample`` returns as a bare number."""
    scale: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """What 0-1 values are multiplied by; accuracy, F1 and the like are percent anyway."""
    binary: ClassVar[frozenset[str]] = BINARY
    """Metrics whose value 1 means right and any other wrong."""

    pred_postprocessor: tuple[Postprocessor, ...] = ()
    """The Evaluator's own steps, after those of ``eval_cfg``."""

    def __init__(self, pred_postprocessor: Any = None) -> None:
        self.pred_postprocessor = resolve_postprocessor(pred_postprocessor)

    def share_judges(self, shared: Callable[[Judge], Judge]) -> None:
        """Replace an own judge by what a run gives for it, with a store and shared limits."""
        return None

    def score_sample(self, *args: Any, **kwargs: Any) -> Any:
        """Score one sample; a subclass that defines this names its arguments."""
        raise NotImplementedError

    def score(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Score the whole set; a subclass that defines this names its arguments.

        As it stands it takes ``predictions, references`` and further columns of the same length
        (what is no column goes to every sample as it is), and returns the means of
        ``score_sample`` with ``details``. A sample that can't be scored has an ``error`` there
        and no part in the means. Raises ConfigError for an empty set or columns of different
        lengths, and the first error where no sample could be scored.
        """
        columns = {**dict(zip(("predictions", "references"), args, strict=False)), **kwargs}
        every = self._score_rows(_rows(columns, type(self).__name__))
        scores = [score for score in every if isinstance(score, Score)]
        means: dict[str, Any] = {
            name: self.scale_for(name) * fmean(s.value[name] for s in scores if name in s.value)
            for name in dict.fromkeys(name for score in scores for name in score.value)
        }
        means["details"] = [
            {"pred": s.extracted_prediction, **s.value, **(s.metadata or {})}
            if isinstance(s, Score)
            else {"error": str(s)}
            for s in every
        ]
        return means

    @property
    def judges_samples(self) -> bool:
        """Whether :meth:`judge` has something to say about a single sample."""
        return self._defines("score_sample") or self.per_sample

    @property
    def waits(self) -> bool:
        """Whether ``score_sample`` is ``async``: it is then called ahead, for many samples."""
        return inspect.iscoroutinefunction(self.score_sample)

    @property
    def judges_sets(self) -> bool:
        """Whether the set's metrics are more than means over its samples."""
        return self._defines("score")

    def scale_for(self, metric: str) -> float:
        """Return what a 0-1 value of ``metric`` is multiplied by."""
        return self.scale.get(metric, scale_of(metric))

    def judge(self, available: Mapping[str, Any]) -> Score | None:
        """Score one sample from what is known of it, or return ``None`` if only a set can be.

        ``available`` holds ``prediction``, ``reference`` and all else that may be asked for.
        Where the set is judged as well, the Score's ``extracted_prediction`` is what was given,
        and the Evaluator's own postprocessor's result is ``pred`` in the metadata.
        Raises ConfigError if something is asked for that isn't there.
        """
        given = available["prediction"]
        pred = apply_steps(self.pred_postprocessor, given)
        own = {"pred": pred} if self.judges_sets and self.pred_postprocessor else {}
        if not self.judges_samples:
            return Score({}, given, metadata=own) if own else None
        score = self._score_row({**available, "prediction": pred})
        if self.judges_sets:  # the set is judged again from what was given, postprocessed then
            score.extracted_prediction = given
            score.metadata = {**(score.metadata or {}), **own} or None
        return score

    def evaluate(
        self, k: int | Sequence[int], n: int, original_dataset: Any, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Return the metrics of ``n`` runs over one set, as OpenCompass's method does.

        Every column in ``score_kwargs`` holds run after run, each as long as the set, and
        ``original_dataset``, if given, one row a prediction; what is no column is passed on as it
        is. With ``n > 1`` the result is that of :func:`average_runs`: means called
        ``<metric> (n runs average)``, which need no ``details``, and from the details' verdicts
        pass@k, G-Pass@k and majority vote for each ``k``.

        Raises ConfigError for an empty set, for columns of different lengths, for lengths that
        don't divide into ``n`` runs and for a ``k`` below 1, and as :meth:`evaluate_run` does.
        """
        where = type(self).__name__
        ks = [k] if isinstance(k, int) else list(k)
        if n < 1 or not all(isinstance(k, int) and k > 0 for k in ks):
            raise ConfigError(f"k and n must be 1 or more, not {k!r} and {n!r}", where=where)
        lengths = {name: len(c) for name, c in score_kwargs.items() if _is_column(c)}
        if original_dataset is not None:
            lengths["original_dataset"] = len(original_dataset)
        total = lengths.get("predictions", 0)
        if not total or any(length != total for length in lengths.values()):
            raise ConfigError(_UNEVEN.format(lengths), where=where)
        if total % n:
            raise ConfigError(f"{total} predictions do not make {n} runs over the set", where=where)
        size = total // n
        results = [
            self.evaluate_run({key: _part(c, i, size) for key, c in score_kwargs.items()})
            for i in range(n)
        ]
        return results[0] if n == 1 else average_runs(results, ks, original_dataset)

    def evaluate_run(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``score`` of one run over the set, after the Evaluator's own postprocessor.

        Raises ConfigError if ``score`` asks for what isn't there, and EvalplugError for metrics
        that aren't finite and for ``details`` that aren't one dict a sample.
        """
        where = type(self).__name__
        preds = [apply_steps(self.pred_postprocessor, pred) for pred in columns["predictions"]]
        columns = {**columns, "predictions": preds}
        if self.judges_sets:
            columns = pick_arguments(self.score, columns, where=where)
        return checked_result(self.score(**columns), len(preds), where=where)

    def asks_for(self, name: str) -> bool:
        """Tell whether ``score`` reads the column ``name``."""
        return self.judges_sets and asks_for(self.score, name)

    def check(self, where: str = "") -> None:
        """Raise ConfigError if neither method is defined, or one can't be called by names.

        Whether a run has what they ask for shows only then: inferencers write any columns.
        """
        methods = [name for name in ("score", "score_sample") if self._defines(name)]
        if not methods:
            raise ConfigError(
                f"{type(self).__name__} defines neither score() nor score_sample()", where=where
            )
        for name in methods:
            named_parameters(getattr(self, name), where=where)

    def _defines(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(BaseEvaluator, method)

    def _score_rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Score | EvalplugError]:
        """Return each row's Score, or its error; raises the first if there is nothing else."""

        def attempt(row: Mapping[str, Any]) -> Score | EvalplugError:
            try:
                return self._score_row(row)
            except EvalplugError as error:
                return error

        if self.waits:
            with ThreadPoolExecutor(_WAITING) as threads:
                results = list(threads.map(attempt, rows))
        else:
            results = list(map(attempt, rows))
        if not any(isinstance(result, Score) for result in results):
            raise next(result for result in results if isinstance(result, EvalplugError))
        return results

    def _score_row(self, row: Mapping[str, Any]) -> Score:
        where = type(self).__name__
        if self._defines("score_sample"):
            result = self.score_sample(**pick_arguments(self.score_sample, row, where=where))
            if inspect.isawaitable(result):
                result = wait_for(result)
        else:
            result = self._score_alone(row)
        return to_score(result, row["prediction"], metric=self.metric, where=where)

    def _score_alone(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``score`` of a set of one, its metrics brought back to 0-1."""
        columns: dict[str, Any] = {name: [value] for name, value in row.items()}
        columns |= {"predictions": [row["prediction"]], "references": [row["reference"]]}
        where = type(self).__name__
        result = self.score(**pick_arguments(self.score, columns, where=where))
        result = checked_result(result, 1, where=where)
        details = result.get("details") or [{}]
        metrics = {
            name: value / self.scale_for(name) for name, value in result.items() if is_number(value)
        }
        correct = verdict_of(details[0])
        verdict = {} if correct is None else {"correct": correct}
        error = {"error": result["error"]} if "error" in result else {}
        return {**metrics, **verdict, **error}


def evaluator_from(function: Callable[..., Any]) -> BaseEvaluator:
    """Return a plain function as an Evaluator: of the set if it reads ``predictions``."""
    method = "score" if asks_for(function, "predictions") else "score_sample"
    name = getattr(function, "__name__", "function")
    evaluator: BaseEvaluator = type(name, (BaseEvaluator,), {method: staticmethod(function)})()
    return evaluator


def _rows(columns: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    singular = {"predictions": "prediction", "references": "reference"}
    lengths = {name: len(column) for name, column in columns.items() if _is_column(column)}
    size = lengths.get("predictions", 0)
    if not size or any(length != size for length in lengths.values()):
        raise ConfigError(_UNEVEN.format(lengths), where=where)
    same = {name: value for name, value in columns.items() if name not in lengths}
    return [
        {**same, **{singular.get(name, name): columns[name][i] for name in lengths}}
        for i in range(size)
    ]


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))


def _part(column: Any, run: int, size: int) -> Any:
    """Return one run's part of a column."""
    if not _is_column(column):
        return column
    if hasattr(column, "select"):  # a datasets.Dataset, whose slices are dicts of columns
        return column.select(range(run * size, (run + 1) * size))
    return column[run * size : (run + 1) * size]
