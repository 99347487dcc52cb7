"""Every dataset in EvalScope's report table, with scores from 0 to 1."""

from __future__ import annotations

from typing import Any

summarizer: dict[str, Any] = dict(type="EvalScopeSummarizer")
