"""Rules first, a judge for what they call wrong."""

from __future__ import annotations

__all__ = ["CascadeEvaluator"]

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_evalplug.errors import ConfigError, FatalModelError, ModelError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.types import Score

if TYPE_CHECKING:
    from pytest_evalplug.evaluation.judge.judge import Judge


@evaluators.register("cascade", "CascadeEvaluator")
class CascadeEvaluator(BaseEvaluator):
    """Right if ``rule_evaluator`` says so, else if ``llm_evaluator`` does.

    Both are whatever ``eval_cfg`` takes as an Evaluator, and must give verdicts. The judge is
    asked only about what the rules call wrong, or with ``parallel`` about everything; then it
    is also reported where the two disagree. Metrics, percent: ``accuracy``; ``rule_accuracy``
    over all samples; ``judged``, the share that the judge was asked about; ``llm_accuracy``
    over those; with ``parallel``, ``disagreement``.
    """

    unranked = frozenset({"judged", "llm_accuracy", "disagreement"})
    scale: ClassVar[Mapping[str, float]] = MappingProxyType(
        dict.fromkeys(("rule_accuracy", "judged", "llm_accuracy", "disagreement"), 100.0)
    )

    def __init__(
        self,
        rule_evaluator: Any,
        llm_evaluator: Any,
        *,
        parallel: bool = False,
        pred_postprocessor: Any = None,
    ) -> None:
        from pytest_evalplug.evaluation.config import resolve_evaluator

        super().__init__(pred_postprocessor)
        self.rule = resolve_evaluator(rule_evaluator, where="rule_evaluator")
        self.llm = resolve_evaluator(llm_evaluator, where="llm_evaluator")
        self.parallel = parallel
        for name, evaluator in (("rule", self.rule), ("llm", self.llm)):
            if not evaluator.judges_samples:
                raise ConfigError(f"{name}_evaluator {type(evaluator).__name__} has no verdicts")

    @property
    def judges_samples(self) -> bool:
        """It has verdicts, as its parts do."""
        return True

    @property
    def waits(self) -> bool:
        """It waits if a part does."""
        return self.rule.waits or self.llm.waits

    @property
    def needs_judge(self) -> bool:  # type: ignore[override]
        """It needs a judge if a part does."""
        return self.rule.needs_judge or self.llm.needs_judge

    def share_judges(self, shared: Callable[[Judge], Judge]) -> None:
        """Let both parts use what a run gives for their own judges."""
        self.rule.share_judges(shared)
        self.llm.share_judges(shared)

    def check(self, where: str = "") -> None:
        """Its parts have been checked."""

    def _score_row(self, row: Mapping[str, Any]) -> Score:
        rule = self._verdict(self.rule, row)
        by_rule = rule.metadata["correct"]
        value, metadata = {"rule_accuracy": float(by_rule)}, {"rule": rule.metadata}
        correct, by_llm = by_rule, None
        if self.parallel or not by_rule:
            try:
                llm = self._verdict(self.llm, row)
            except ModelError as error:
                if not by_rule or isinstance(error, FatalModelError):
                    raise
                metadata["llm"] = {"error": str(error)}  # the rules have settled it
            else:
                by_llm = llm.metadata["correct"]
                correct = by_rule or by_llm
                value["llm_accuracy"] = float(by_llm)
                metadata["llm"] = llm.metadata
        if self.parallel and by_llm is not None:
            value["disagreement"] = float(by_rule != by_llm)
        return Score(
            {"accuracy": float(correct), **value, "judged": float(by_llm is not None)},
            rule.extracted_prediction,
            metadata={
                "correct": correct,
                "rule_correct": by_rule,
                "llm_correct": by_llm,
                "cascade_correct": correct,
                **metadata,
            },
        )

    @staticmethod
    def _verdict(evaluator: BaseEvaluator, row: Mapping[str, Any]) -> Any:
        """Return a part's Score, the verdict in its metadata."""
        score = evaluator.judge(row)
        assert score is not None
        metadata = dict(score.metadata or {})
        if not isinstance(metadata.get("correct"), bool):
            binary = [v for name, v in score.value.items() if name in evaluator.binary]
            if not binary:
                raise ConfigError(f"{type(evaluator).__name__} gives no verdict", where="cascade")
            metadata["correct"] = binary[0] == 1
        score.metadata = metadata
        return score
