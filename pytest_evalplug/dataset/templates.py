"""Prompt templates: literal replacement, so that braces in data and in LaTeX stay as they are."""

from __future__ import annotations

__all__ = ["fill", "placeholders"]

import re

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


def fill(template: str, **values: object) -> str:
    """Replace each ``{name}`` of ``values`` in one pass; everything else is left alone.

    Values are never looked into: a ``{name}`` that a question contains stays. There are no
    escapes and no format specifications.
    """
    return _PLACEHOLDER.sub(
        lambda match: str(values[match[1]]) if match[1] in values else match[0], template
    )


def placeholders(template: str) -> set[str]:
    """Return the names that :func:`fill` could replace in ``template``."""
    return set(_PLACEHOLDER.findall(template))
