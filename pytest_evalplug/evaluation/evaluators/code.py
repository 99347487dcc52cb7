"""Programs that pass their task's tests: HumanEval and MBPP."""

from __future__ import annotations

__all__ = ["HumanEvalEvaluator", "MBPPEvaluator"]

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from pytest_evalplug.errors import ConfigError, DataError
from pytest_evalplug.evaluation.base import BaseEvaluator
from pytest_evalplug.evaluation.postprocess.code import extract_program
from pytest_evalplug.evaluation.registry import evaluators
from pytest_evalplug.evaluation.sandbox import Limits, run_program
from pytest_evalplug.types import Sample


@dataclass(frozen=True, slots=True)
class _Task:
    test: str
    entry_point: str
    prompt: str = ""
    setup: str = ""


class _ProgramEvaluator(BaseEvaluator):
    """Right if the program in a reply passes the test of the sample's metadata, in the sandbox.

    Metric: ``pass@1``, percent; with repeats the unbiased pass@k follow from the verdicts. The
    detail's ``status`` (pass, fail, timeout, error), ``reason`` and ``sandbox`` say how it went. A
    reply without a program is wrong; a sandbox that can't be had makes the sample an *error*.
    """

    metric: ClassVar[str] = "pass@1"
    scale = MappingProxyType({"pass@1": 100.0})
    binary = frozenset({"pass@1"})

    def __init__(
        self,
        pred_postprocessor: Any = None,
        *,
        timeout: float = 10.0,
        memory_mb: int = Limits().memory // 2**20,
    ) -> None:
        if timeout <= 0 or memory_mb <= 0:
            raise ConfigError(f"timeout={timeout} and memory_mb={memory_mb} must be positive")
        super().__init__(pred_postprocessor)
        self.timeout = timeout
        self.limits = Limits(memory=memory_mb * 2**20)

    async def score_sample(self, prediction: Any, sample: Sample) -> dict[str, Any]:
        """Find the program, run it against the task's test.

        Raises DataError if the metadata lacks the test or it isn't Python, and EvalplugError if
        no sandbox works here.
        """
        task = self._task(sample.metadata or {})
        program = extract_program(prediction, entry_point=task.entry_point, prompt=task.prompt)
        if not program.strip():
            return self._result(False, program, status="error", reason="no program in the reply")
        verdict = await run_program(
            program, task.test, setup=task.setup, timeout=self.timeout, limits=self.limits
        )
        note = {"note": verdict.note} if verdict.note else {}
        return self._result(
            verdict.passed,
            program,
            status=verdict.status,
            reason=verdict.reason,
            sandbox=verdict.sandbox,
            **note,
        )

    def _result(self, passed: bool, program: str, **how: str) -> dict[str, Any]:
        return {self.metric: float(passed), "correct": passed, "pred": program, **how}

    def _task(self, metadata: Mapping[str, Any]) -> _Task:
        raise NotImplementedError


@evaluators.register("humaneval", "HumanEvalEvaluator", "HumanevalEvaluator")
class HumanEvalEvaluator(_ProgramEvaluator):
    """HumanEval (Chen et al. 2021, arXiv:2107.03374): ``check(entry_point)`` runs to its end.

    Metadata: ``prompt``, ``entry_point``, ``test``, as in the dataset. Imports and helpers that
    the prompt gives are the test's own, so a program that redefines them changes nothing there.
    Metric: ``pass@1``, percent; ``timeout`` is in seconds (the official harness: 3).
    """

    def _task(self, metadata: Mapping[str, Any]) -> _Task:
        test, name = (_text(metadata, key) for key in ("test", "entry_point"))
        prompt = str(metadata.get("prompt") or "")
        return _Task(f"{test}\n\ncheck({name})\n", name, prompt, _helpers(prompt, name))


@evaluators.register("mbpp", "MBPPEvaluator")
class MBPPEvaluator(_ProgramEvaluator):
    """MBPP (Austin et al. 2021, arXiv:2108.07732): all assertions of ``test_list`` hold.

    Metadata: ``test_list``, ``test_setup_code``, ``challenge_test_list`` (used if asked for), as in
    the dataset, and ``entry_point`` where it isn't the function that the tests call. Metric:
    ``pass@1``, percent; ``timeout`` is in seconds.
    """

    def __init__(
        self, pred_postprocessor: Any = None, *, challenge_tests: bool = False, **options: Any
    ) -> None:
        super().__init__(pred_postprocessor, **options)
        self.challenge_tests = challenge_tests

    def _task(self, metadata: Mapping[str, Any]) -> _Task:
        keys = ["test_list", "challenge_test_list"][: 1 + self.challenge_tests]
        tests = [test for key in keys for test in _texts(metadata.get(key))]
        if not tests:
            raise DataError("the sample's metadata has no test_list", where="code")
        setup = str(metadata.get("test_setup_code") or "")
        source = "\n".join("\n".join([setup, *tests]).splitlines()) + "\n"
        return _Task(source, str(metadata.get("entry_point") or _tested_name(tests)))


def _text(metadata: Mapping[str, Any], key: str) -> str:
    value = metadata.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DataError(
            f"the sample's metadata has no {key}",
            where="code",
            fix="Put the dataset's fields into Sample.metadata.",
        )
    return value


def _texts(value: Any) -> Sequence[str]:
    return [value] if isinstance(value, str) else [str(text) for text in value or ()]


def _helpers(prompt: str, entry_point: str) -> str:
    """Return the prompt without the function to write."""
    try:
        tree = ast.parse(prompt)
    except SyntaxError:
        return ""
    tree.body = [part for part in tree.body if getattr(part, "name", None) != entry_point]
    return ast.unparse(tree)


def _tested_name(tests: Sequence[str]) -> str:
    """Return the name of the function under test: the outermost that Python doesn't have."""
    try:
        nodes = list(ast.walk(ast.parse("\n".join(tests))))
    except SyntaxError:
        return ""
    called = [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    return next((name for name in called if not hasattr(builtins, name)), (called or [""])[0])
