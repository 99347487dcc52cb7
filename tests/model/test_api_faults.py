"""Each fault of a server on its own: how often it is asked, what the sample says, what goes on."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from pytest_evalplug.errors import FatalModelError, ModelError, NoReplyError, TooLongError
from pytest_evalplug.types import ModelOutput
from tests.http_faults import (
    FATAL,
    HANGING,
    HARMLESS,
    LASTING,
    PASSING,
    TOO_LONG,
    Fault,
    faulty,
    stale,
)
from tests.model.asking import FAST, ask, make, output
from tests.servers import Action, Call, OpenAIServer, api_server

__all__ = ["api_server"]


def each(faults: dict[str, Fault]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("fault", faults.values(), ids=faults)


def is_readable(error: ModelError, server: OpenAIServer) -> bool:
    """One line that names the model and its server, and says what can be done."""
    line = str(error)
    start = f"model fake ({server.url}): "
    return line.startswith(start) and line.isprintable() and bool(error.fix) and len(line) < 500


@each({**PASSING, **LASTING, **TOO_LONG})
def test_a_fault_that_stays_is_that_sample_s_error(api_server: OpenAIServer, fault: Fault) -> None:
    api_server.script = faulty(fault.act)
    before, bad, after = ask(make(api_server, concurrency=1), "before", "bad", "after")
    assert isinstance(before, ModelOutput)
    assert isinstance(after, ModelOutput)
    late = fault in (PASSING["408"], PASSING["504"])
    usual = NoReplyError if late else ModelError
    assert type(bad) is (TooLongError if fault in TOO_LONG.values() else usual)
    assert fault.says in str(bad)
    assert is_readable(bad, api_server), str(bad)
    assert api_server.prompts == ["before", *["bad"] * fault.requests, "after"]
    assert api_server.model_lists == 0


@each(PASSING)
def test_a_fault_that_passes_costs_only_the_retry(api_server: OpenAIServer, fault: Fault) -> None:
    api_server.script = faulty(fault.act, times=1)
    assert output(make(api_server, concurrency=1), "bad").completion == "4"
    assert api_server.prompts == ["bad", "bad"]


def test_what_hangs_is_bounded_by_the_timeout(api_server: OpenAIServer) -> None:
    def script(call: Call) -> Action | str:
        name, _, passes = call.prompt.partition(", then passes")
        return "4" if passes and call.attempt else HANGING[name].act

    api_server.script = lambda call: script(call) if call.prompt != "good" else "4"
    passing = [f"{name}, then passes: " for name in HANGING]
    retry = replace(FAST, max_retries=1)
    results = ask(make(api_server, timeout=1.0, retry=retry), *HANGING, *passing, "good")
    for fault, result in zip(HANGING.values(), results, strict=False):
        assert type(result) is NoReplyError
        assert fault.says in str(result)
        assert is_readable(result, api_server)
    assert all(isinstance(result, ModelOutput) for result in results[len(HANGING) :])
    asked = Counter(api_server.prompts)
    assert asked == {**dict.fromkeys([*HANGING, *passing], 2), "good": 1}


@each(FATAL)
def test_nothing_is_asked_after_what_holds_for_all(api_server: OpenAIServer, fault: Fault) -> None:
    api_server.script = lambda call: fault.act
    backend = make(api_server, concurrency=1)
    for _ in range(2):
        with pytest.raises(FatalModelError) as caught:
            ask(backend, "a", "b", "c")
        assert fault.says in str(caught.value)
        assert is_readable(caught.value, api_server)
    assert api_server.prompts == ["a"]


@pytest.mark.parametrize("act", HARMLESS.values(), ids=HARMLESS)
def test_a_reply_is_a_reply(api_server: OpenAIServer, act: Action) -> None:
    api_server.script = lambda call: act
    result = output(make(api_server))
    assert (result.completion, len(api_server.calls)) == ("4", 1)
    assert result.finish_reason in (None, "stop")
    assert all(count >= 0 for count in (result.usage or {}).values())


def test_a_connection_that_was_closed_between_requests_costs_nothing(
    api_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_evalplug.model.transport._STALE_SECONDS", 60.0)
    act = stale()
    api_server.script = lambda call: act
    backend = make(api_server, concurrency=1, max_retries=0)
    results = ask(backend, *"abc")
    assert [r.completion for r in results if isinstance(r, ModelOutput)] == ["4"] * 3
    assert api_server.prompts == ["a", "b", "b", "c", "c"]
