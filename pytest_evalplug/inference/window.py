"""How far the engine may be ahead of the items: what waits for them is held in memory."""

from __future__ import annotations

__all__ = ["Window"]

import threading

from pytest_evalplug.inference.records import Record

COUNT = 8192
"""How many predictions may wait for their item: bounds memory, never speed."""
CHARACTERS = 1 << 26
"""How long these may be together, prompts and replies."""
ROOM = 256
"""How many of them must be fetched before the engine goes on, where ``COUNT`` wait."""


class Window:
    """Counts what waits, and says when that is enough.

    :meth:`arrived` is called by the engine's thread alone, :meth:`fetched` by any.
    """

    def __init__(self) -> None:
        self._arrived = 0
        self._fetched = 0
        self._lock = threading.Lock()

    def arrived(self, record: Record) -> None:
        """Take note of a prediction that waits for its item."""
        self._arrived += _characters(record)

    def fetched(self, record: Record) -> None:
        """Take note of one that waits no more."""
        with self._lock:
            self._fetched += _characters(record)

    def is_full(self, count: int) -> bool:
        """Tell whether nothing more may be asked while ``count`` predictions wait."""
        return count >= COUNT or self._arrived - self._fetched >= CHARACTERS

    def has_room(self, count: int) -> bool:
        """Tell whether there is room for many again, so that waking the engine pays."""
        few = count <= max(COUNT - ROOM, COUNT // 2)
        return few and self._arrived - self._fetched <= CHARACTERS // 2


def _characters(record: Record) -> int:
    """Return about how long a prediction is: its texts, but not what is said about them."""
    texts = (record.get("origin_prompt"), record.get("prediction"))
    return sum(len(text if isinstance(text, str) else str(text)) for text in texts)
