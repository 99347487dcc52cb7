"""Numbers (being written)."""

from __future__ import annotations


def canonical_number(text: str) -> str:
    """Return the canonical form."""
    return ""
