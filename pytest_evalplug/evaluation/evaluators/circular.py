"""CircularEval: a question is right only if it is under every rotation of its choices."""

from __future__ import annotations

__all__ = ["CircularEvaluator"]

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalplug.errors import ConfigError, EvalplugError
from pytest_evalplug.evaluation.evaluators.accuracy import AccEvaluator
from pytest_evalplug.evaluation.registry import evaluators


@evaluators.register("circular", "CircularEvaluator")
class CircularEvaluator(AccEvaluator):
    """Scores the rotated versions of each question together; each is judged as by AccEvaluator.

    Versions are told by two keys of ``Sample.metadata``, which ``circular = True`` of a
    MultiChoiceAdapter sets: ``qid``, the question, and ``circular_pattern``, the letters that the
    original choices now have (``BCDA``). Metrics, percent, with OpenCompass's names:

    - ``perf_circular``: questions of which all versions are right,
    - ``more_<k>_circular``: of which at least k are; only if all questions have equally many,
    - ``acc_circular``: the accuracy of all versions,
    - ``acc_origin``: the accuracy of those in the original order.

    A question of which a version is missing (an error, ``-k``) is in none of them. Source: Liu et
    al. 2023, MMBench, arXiv:2307.06281; OpenCompass's CircularEvaluator.
    """

    def score_sample(self, prediction: Any, reference: Any) -> dict[str, Any]:
        """Return the verdict of one version alone."""
        return {"correct": super().score_sample(prediction, reference)["correct"]}

    def score(
        self,
        predictions: Sequence[Any],
        references: Sequence[Any],
        test_set: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Score the set.

        Raises ConfigError for columns of different lengths and samples without the two keys,
        EvalplugError if no question is there with all its versions.
        """
        if not len(predictions) == len(references) == len(test_set):
            raise ConfigError(
                f"{len(predictions)} predictions, {len(references)} references and "
                f"{len(test_set)} rows do not belong together"
            )
        questions: dict[Any, dict[str, bool]] = {}
        for prediction, reference, row in zip(predictions, references, test_set, strict=True):
            qid, pattern = _version(row)
            verdict = self.score_sample(prediction, reference)["correct"]
            questions.setdefault(qid, {})[pattern] = verdict
        return _metrics([q for q in map(_rotated, questions.values()) if q])


def _version(row: Mapping[str, Any]) -> tuple[Any, str]:
    try:
        return row["qid"], "".join(row["circular_pattern"])
    except KeyError as error:
        raise ConfigError(
            f"a sample's metadata has no {error}",
            where="CircularEvaluator",
            fix="Set circular = True in a MultiChoiceAdapter.",
        ) from None


def _rotated(question: Mapping[str, bool]) -> list[bool]:
    """Return the verdicts under all rotations, the original order first; empty if one lacks."""
    letters = "".join(sorted(next(iter(question))))
    patterns = [letters[i:] + letters[:i] for i in range(len(letters))]
    return [question[p] for p in patterns] if question.keys() >= {*patterns} else []


def _metrics(questions: Sequence[Sequence[bool]]) -> dict[str, Any]:
    if not questions:
        raise EvalplugError("no question has all its versions", where="CircularEvaluator")
    right = [*map(sum, questions)]
    sizes = [*map(len, questions)]
    metrics = {"perf_circular": _percent([r == n for r, n in zip(right, sizes, strict=True)])}
    if len({*sizes}) == 1:
        for k in range(1, sizes[0]):
            metrics[f"more_{k}_circular"] = _percent([r >= k for r in right])
    metrics["acc_circular"] = 100 * sum(right) / sum(sizes)
    metrics["acc_origin"] = _percent([question[0] for question in questions])
    return metrics


def _percent(flags: Sequence[bool]) -> float:
    return 100 * sum(flags) / len(flags)
