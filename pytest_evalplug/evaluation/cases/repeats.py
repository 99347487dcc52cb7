"""Cases of what several replies to one sample say."""

from __future__ import annotations

__all__ = ["check_pass_at_k"]

from pytest_evalplug.dataset.table import Record
from pytest_evalplug.evaluation.cases.report import Finding
from pytest_evalplug.evaluation.repeats import pass_at_k


def check_pass_at_k(row: Record, steps: tuple[()]) -> Finding:
    """Compare the unbiased estimate, to 1e-6; null: there is none."""
    n, c, k, expected = (row[name] for name in ("n", "c", "k", "expected"))
    got = pass_at_k(n, c, k)
    defined = got is not None and expected is not None
    right = abs(got - expected) <= 1e-6 if defined else got is expected
    return Finding(f"n={n}, c={c}, k={k}", expected, got, right)
