"""Labelled cases: small inputs with their right results, to check rules and Evaluators with.

A file of cases has one JSON object a line. What its rows hold tells what is checked:
:data:`KINDS` lists the kinds. Every row may also have ``id``, ``kind`` (what can go wrong) and
``why`` (one sentence). The simplest rows are of a postprocessor's own::

    {"id": "1", "input": "so it is #### 8", "expected": "8", "postprocessor": "last-number"}

``postprocessor`` is a name or ``{"type": name, option: value}``; without it, the one that
:func:`check_file` is given counts. The ``*.jsonl`` files in this folder are the shipped rules' own.
"""

from __future__ import annotations

__all__ = ["KINDS", "CaseFile", "Finding", "Outcome", "Report", "check_file", "shipped_files"]

from pytest_evalplug.evaluation.cases.files import CaseFile, check_file, shipped_files
from pytest_evalplug.evaluation.cases.kinds import KINDS
from pytest_evalplug.evaluation.cases.report import Finding, Outcome, Report
