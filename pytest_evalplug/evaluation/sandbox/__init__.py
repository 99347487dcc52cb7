"""Running code that a model wrote, so that neither the run nor the verdict is in its hands."""

from pytest_evalplug.evaluation.sandbox.runner import Limits, Verdict, run, run_program

__all__ = ["Limits", "Verdict", "run", "run_program"]
