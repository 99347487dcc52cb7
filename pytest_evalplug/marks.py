"""Marks: one for every benchmark, and one for each tag."""

from __future__ import annotations

__all__ = ["register_marks", "tag_mark"]

import re

import pytest

from pytest_evalplug.dataset.tags import Tags


def register_marks(config: pytest.Config) -> None:
    """Register the marks of the built-in tags and of ini ``evalplug_tags``."""
    config.addinivalue_line("markers", "evalplug(name): a benchmark's samples, by its name.")
    built_in = (value for name, value in vars(Tags).items() if not name.startswith("_"))
    for tag in (*built_in, *config.getini("evalplug_tags")):
        config.addinivalue_line("markers", f"{tag_mark(tag)}: benchmarks tagged {tag!r}.")


def tag_mark(tag: str) -> str:
    """Return the mark of a tag: ``tag_math`` for ``Math``."""
    return "tag_" + re.sub(r"\W+", "_", tag).strip("_").lower()
