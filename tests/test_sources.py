from __future__ import annotations

from typing import Any

import pytest

from pytest_evalplug.sources import Sources


class Model:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.closed = False

    def close(self) -> None:
        self.closed = True
        if self.error:
            raise self.error


def test_a_model_that_can_not_be_closed_is_not_in_the_others_way(
    caplog: pytest.LogCaptureFixture,
) -> None:
    models: dict[str, Any] = {"a": Model(RuntimeError("stuck")), "b": Model()}
    nothing: Any = None
    sources = Sources(nothing, nothing, nothing, str)
    sources._backends.update(models)
    sources.close()
    assert all(model.closed for model in models.values())
    assert caplog.messages == ["model a can't be closed"]
    assert "stuck" in caplog.text
