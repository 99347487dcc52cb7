"""What several instructions' rules have in common."""

from __future__ import annotations

__all__ = ["compare", "pattern"]

import re
from functools import lru_cache

from pytest_evalplug.errors import DataError


def compare(count: int, relation: str, number: int) -> bool:
    """Tell whether ``count`` is ``less than`` or ``at least`` ``number``, as ``relation`` says.

    Raises DataError for any other relation.
    """
    if relation == "less than":
        return count < number
    if relation == "at least":
        return count >= number
    raise DataError(f"unknown relation {relation!r}", fix="Use 'less than' or 'at least'.")


@lru_cache(maxsize=1024)
def pattern(words: str, before: str = "", after: str = "", flags: int = 0) -> re.Pattern[str]:
    r"""Return what finds ``words`` between the expressions ``before`` and ``after``.

    The data's words are regular expressions in the reference, and so here; such as are no valid
    ones (``C++``) are plain text.
    """
    try:
        return re.compile(f"{before}{words}{after}", flags)
    except re.error:
        return re.compile(f"{before}{re.escape(words)}{after}", flags)
