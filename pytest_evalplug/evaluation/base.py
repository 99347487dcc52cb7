"""What an Evaluator is."""

from __future__ import annotations

__all__ = ["BaseEvaluator", "evaluator_from"]

import inspect
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import fmean
from types import MappingProxyType
from typing import Any, ClassVar

from pytest_evalplug.errors import ConfigError
from pytest_evalplug.evaluation.columns import asks_for, named_parameters, pick_arguments
from pytest_evalplug.evaluation.outcome import BINARY, is_number, scale_of, to_score
from pytest_evalplug.evaluation.postprocessor import apply_steps, resolve_postprocessor
from pytest_evalplug.evaluation.waiting import wait_for
from pytest_evalplug.types import Score

_WAITING = 64
"""How many samples wait at once for an ``async`` ``score_sample``."""


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
    metric: ClassVar[str] = "score"
    """The name of a metric that ``score_sample`` returns as a bare number."""
    scale: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """What 0-1 values are multiplied by; accuracy, F1 and the like are percent anyway."""
    binary: ClassVar[frozenset[str]] = BINARY
    """Metrics whose value 1 means right and any other wrong."""

    def __init__(self, pred_postprocessor: Any = None) -> None:
        self.pred_postprocessor = resolve_postprocessor(pred_postprocessor)

    def score_sample(self, *args: Any, **kwargs: Any) -> Any:
        """Score one sample; a subclass that defines this names its arguments."""
        raise NotImplementedError

    def score(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Score the whole set; a subclass that defines this names its arguments.

        As it stands it takes ``predictions, references`` and further columns of the same length,
        and returns the means of ``score_sample`` with ``details``. Raises ConfigError for an
        empty set or columns of different lengths.
        """
        columns = {**dict(zip(("predictions", "references"), args, strict=False)), **kwargs}
        rows = self._score_rows(_rows(columns))
        means: dict[str, Any] = {
            name: self.scale_for(name) * fmean(r.value[name] for r in rows if name in r.value)
            for name in dict.fromkeys(name for row in rows for name in row.value)
        }
        means["details"] = [
            {"pred": r.extracted_prediction, **r.value, **(r.metadata or {})} for r in rows
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
        Raises ConfigError if something is asked for that isn't there.
        """
        if not self.judges_samples:
            return None
        pred = apply_steps(self.pred_postprocessor, available["prediction"])
        score = self._score_row({**available, "prediction": pred})
        if self.judges_sets:  # the set is judged again from the preds, and postprocessed then
            score.extracted_prediction = available["prediction"]
        return score

    def evaluate(
        self, k: int | Sequence[int], n: int, original_dataset: Any, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Return the metrics of ``n`` runs over one set, each its mean over the runs.

        Every column in ``score_kwargs`` holds run after run, each as long as the set;
        ``original_dataset`` has one entry a prediction. With ``n > 1`` names get the suffix
        `` (n runs average)`` and ``details`` has, per sample, one entry a run. ``k`` belongs to
        OpenCompass's signature; metrics that need it (G-Pass@k) aren't computed here.
        Raises ConfigError if the lengths don't divide into ``n`` runs.
        """
        total = len(score_kwargs["predictions"])
        if n < 1 or total % n or (original_dataset is not None and len(original_dataset) != total):
            raise ConfigError(f"{total} predictions do not make {n} runs over the set")
        size = total // n
        results = [
            self.evaluate_run(
                {key: _part(c, i * size, size, total) for key, c in score_kwargs.items()}
            )
            for i in range(n)
        ]
        if n == 1:
            return results[0]
        names = [name for name in results[0] if all(is_number(r.get(name)) for r in results)]
        means: dict[str, Any] = {
            f"{name} ({n} runs average)": fmean(r[name] for r in results) for name in names
        }
        if all(len(r.get("details") or ()) == size for r in results):
            means["details"] = [
                {"runs": list(runs)} for runs in zip(*(r["details"] for r in results), strict=True)
            ]
        return means

    def evaluate_run(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``score`` of one run over the set, after the Evaluator's own postprocessor."""
        preds = [apply_steps(self.pred_postprocessor, pred) for pred in columns["predictions"]]
        columns = {**columns, "predictions": preds}
        if not self._defines("score"):
            return self.score(**columns)
        return self.score(**pick_arguments(self.score, columns, where=type(self).__name__))

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

    def _score_rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Score]:
        if not self.waits:
            return [self._score_row(row) for row in rows]
        with ThreadPoolExecutor(_WAITING) as threads:
            return list(threads.map(self._score_row, rows))

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
        result = self.score(**pick_arguments(self.score, columns, where=type(self).__name__))
        details = result.get("details") or [{}]
        metrics = {
            name: value / self.scale_for(name) for name, value in result.items() if is_number(value)
        }
        verdict = {"correct": details[0]["correct"]} if "correct" in details[0] else {}
        error = {"error": result["error"]} if "error" in result else {}
        return {**metrics, **verdict, **error}


def evaluator_from(function: Callable[..., Any]) -> BaseEvaluator:
    """Return a plain function as an Evaluator: of the set if it reads ``predictions``."""
    method = "score" if asks_for(function, "predictions") else "score_sample"
    name = getattr(function, "__name__", "function")
    evaluator: BaseEvaluator = type(name, (BaseEvaluator,), {method: staticmethod(function)})()
    return evaluator


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    singular = {"predictions": "prediction", "references": "reference"}
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    size = lengths.get("predictions", 0)
    if not size or any(length != size for length in lengths.values()):
        raise ConfigError(f"columns must be equally long and not empty, not {lengths}")
    return [{singular.get(name, name): columns[name][i] for name in lengths} for i in range(size)]


def _part(column: Any, start: int, size: int, total: int) -> Any:
    if column is None or len(column) != total:
        return column
    if hasattr(column, "select"):  # a datasets.Dataset, whose slices are dicts of columns
        return column.select(range(start, start + size))
    return column[start : start + size]
