"""Hooks that a conftest or another plugin may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_evalplug.finish import Outcome
    from pytest_evalplug.verdicts import Evaluation


def pytest_evalplug_scored(item: pytest.Item, evaluation: Evaluation) -> None:
    """Called in the process that runs ``item``, when its sample has a verdict.

    Example, one more property in JUnit XML::

        def pytest_evalplug_scored(item, evaluation):
            usage = evaluation.record.get("usage") or {}
            item.user_properties.append(("tokens", usage.get("completion_tokens")))
    """


def pytest_evalplug_finished(config: pytest.Config, outcome: Outcome) -> None:
    """Called once a run, on the controller, when its results and summary are written.

    Example, the Markdown table in a file of one's own::

        def pytest_evalplug_finished(config, outcome):
            if outcome.table is not None:
                Path("scores.md").write_text(outcome.table.markdown())
    """
