"""Asks an API until it answers, or says why it never will: retries, pauses, circuit, diagnosis."""

from __future__ import annotations

__all__ = ["ApiClient"]

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from pytest_evalplug.errors import FatalModelError, ModelError, NoReplyError, TooLongError, nearest
from pytest_evalplug.logs import RUN_LOG
from pytest_evalplug.masking import Secrets
from pytest_evalplug.model.api_schema import failure_of, model_ids
from pytest_evalplug.model.deadline import clocks_stopped
from pytest_evalplug.model.pace import Pace
from pytest_evalplug.model.retry import Circuit, Failure, FailureKind, RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.model.transport import AiohttpTransport, Reply, TransportError

if TYPE_CHECKING:
    from pytest_evalplug.model.rate import Admission, RateLimiter

_CIRCUIT_LIMIT = 8
_LIST_SECONDS = 10.0
_SHOWN_MODELS = 12
_FIXES = {
    "busy": "Lower concurrency in the model's table, or raise max_retries",
    "server": "The server's own log may say more",
    "timeout": "Raise timeout in the model's table, or lower concurrency",
    "rejected": "Check the generation parameters and extra_body of the model's table",
    "forbidden": "The server does not want this prompt, or no longer this key",
}
_KINDS: dict[str, FailureKind] = {
    "refused": "refused",
    "timeout": "timeout",
    "broken": "server",
    "endless": "rejected",
}

T = TypeVar("T")


class _Turn(NamedTuple):
    """Leave to send one request: since when, and what the rates per minute count for it."""

    at: float
    admission: Admission | None


class ApiClient:
    """One model at one base URL; what it learns of the server holds for all its requests.

    ``where`` names the model and the server in errors. Used by one event loop at a time.
    """

    def __init__(
        self,
        where: str,
        url: str,
        options: OpenAIOptions,
        *,
        headers: Mapping[str, str],
        retry: RetryPolicy,
    ) -> None:
        self.where = where
        self._options = options
        self._headers = headers
        self._secrets = Secrets(asdict(options), {"headers": dict(headers), "url": url})
        self._transport = AiohttpTransport(
            url, headers=headers, timeout=options.timeout, limit=options.concurrency
        )
        self._retry = retry
        self._circuit = Circuit(max(_CIRCUIT_LIMIT, options.concurrency))
        self._fatal: tuple[str, str] | None = None
        self._pace = Pace(options.concurrency)
        self._stopped = False
        self._unsent: set[asyncio.Task[Any]] = set()
        """What waits until it may send a request."""
        self._models: asyncio.Task[list[str]] | None = None
        self._max_tokens_name = "max_tokens"
        self._rate = _rate_limiter(options)

    def share_limits(self, path: Path) -> None:
        """Keep the rates per minute together with all processes that name the same file.

        A file beside it says whether the server has answered to any of them.
        """
        self._circuit.share(path.with_suffix(".answered"))
        if self._rate is not None:
            self._rate.share(path)

    async def ask(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | ModelError:
        """Send ``body`` to ``path`` until ``parse`` reads a reply of status 200 from it.

        Returns what ``parse`` returned, or the ModelError that says why there is none. Raises
        FatalModelError when no further request can succeed; from then on at once. Raises
        CancelledError where it would send a request after :meth:`send_no_more`.
        """
        result = await self._persist(path, body, parse)
        return await self._give_up(result) if isinstance(result, Failure) else result

    async def _persist(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | Failure:
        """Ask until there is a reply or the retry policy gives up."""
        attempt = 0
        while True:
            turn = await self._begin(body)
            try:
                result = await self._attempt(path, body, parse)
                if not isinstance(result, Failure):
                    await self._succeeded(turn, result)
                    return result
                if result.kind == "busy":
                    self._pace.refused(turn.at)
            finally:
                self._pace.end()
            if self._learns_name(result, body):
                continue
            delay = self._retry.delay(result, attempt, answered=self._circuit.answered)
            if delay is None:
                return result
            if result.retry_after is not None:
                self._pace.hold(result.retry_after)
            RUN_LOG.info("%s: %s; again in %.1f s", self.where, result.text, delay)
            with self._waiting():
                await self._back_off(result, delay)
            attempt += 1

    async def _back_off(self, failure: Failure, delay: float) -> None:
        """Sleep before the next attempt; where the server is busy, that is to wait for a turn."""
        asked_to = failure.kind == "busy" or failure.retry_after is not None
        with clocks_stopped() if asked_to else nullcontext():
            await self._pace.pause(delay)

    async def _begin(self, body: Mapping[str, Any]) -> _Turn:
        """Hold an attempt to the server's pace and to the rates per minute.

        Whoever got through ends it with the pace. Raises once the model is given up, or nothing
        more is to be sent.
        """
        admission = None
        with self._waiting():
            at = await self._pace.begin()
            try:
                if self._rate is not None and not self._fatal:
                    admission = await self._rate.admit(body, self._pace.resumed)
                if self._fatal is not None:
                    self._raise_fatal()
            except BaseException:
                self._pace.end()
                raise
        return _Turn(at, admission)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Let :meth:`send_no_more` cancel what waits in here, at once if it has been called."""
        if self._stopped:
            raise asyncio.CancelledError
        task = asyncio.current_task()
        assert task is not None
        self._unsent.add(task)
        try:
            yield
        finally:
            self._unsent.discard(task)

    async def _succeeded(self, turn: _Turn, result: Any) -> None:
        self._circuit.success()
        self._pace.answered()
        if self._rate is not None and turn.admission is not None:
            await self._rate.settle(turn.admission, getattr(result, "usage", None))

    async def _attempt(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | Failure:
        if self._max_tokens_name != "max_tokens" and "max_tokens" in body:
            body[self._max_tokens_name] = body.pop("max_tokens")
        try:
            reply = await self._transport.send("POST", path, body)
        except TransportError as error:
            return Failure(_KINDS[error.kind], str(error))
        shown = self._secrets.hide_echo(reply.body)
        if shown != reply.body:
            reply = replace(reply, body=shown)
        if 200 <= reply.status < 300:
            return parse(reply)
        return failure_of(reply)

    def _learns_name(self, failure: Failure, body: Mapping[str, Any]) -> bool:
        """Is a request refused for a name only, so that it is sent again with the right one?

        OpenAI's reasoning models want max_completion_tokens, most other servers know only the old.
        """
        if "max_completion_tokens" not in failure.text or "max_tokens" not in body:
            return False
        self._max_tokens_name = "max_completion_tokens"
        return True

    async def _give_up(self, failure: Failure) -> ModelError:
        """Return the sample's error, or raise FatalModelError where it is not the sample's."""
        text = self._secrets.hide(failure.text)  # a server or a proxy may echo them
        if failure.kind == "too_long":
            return TooLongError(
                text, where=self.where, fix="Fewer few_shot_num or max_tokens make it fit"
            )
        if failure.kind == "fatal" or (failure.kind == "forbidden" and not self._circuit.answered):
            self.stop(*self._diagnose_fatal(text))
        if failure.kind == "refused":
            self.stop(
                f"cannot connect: {text}", "Start the server, or correct base_url / OPENAI_BASE_URL"
            )
        if failure.kind in ("no_model", "rejected"):
            await self._check_model(failure, text)
        if self._circuit.failure(failure):
            self.stop(
                f"no usable reply to the last {max(_CIRCUIT_LIMIT, self._options.concurrency)} "
                f"samples, the latest: {text}",
                _FIXES[failure.kind],
            )
        kind = NoReplyError if failure.kind == "timeout" else ModelError
        return kind(text, where=self.where, fix=_FIXES[failure.kind])

    def stop(self, what: str, fix: str) -> NoReturn:
        """Give the model up: raise FatalModelError now, and for every further request."""
        self._fatal = self._fatal or (what, fix)
        self._pace.stop()
        self._raise_fatal()

    def _raise_fatal(self) -> NoReturn:
        assert self._fatal is not None
        what, fix = self._fatal
        raise FatalModelError(what, where=self.where, fix=fix)

    def _diagnose_fatal(self, text: str) -> tuple[str, str]:
        variable = self._options.api_key_env
        if text.startswith("3"):
            return f"the server redirects: {text}", "Correct base_url (http or https? /v1?)"
        if text.startswith(("402", "429")):
            return f"no credit left: {text}", "Top up the account, or use another key"
        if any(name.lower() == "authorization" for name in self._headers):
            return f"the key was refused: {text}", f"Check the key in {variable}"
        return f"the server wants a key: {text}", f"Set {variable}"

    async def _check_model(self, failure: Failure, text: str) -> None:
        """Raise FatalModelError if the server does not know the model, or not the path.

        Some servers reject an unknown model with a 400, as they do a sample they don't like; so
        that is looked into only as long as nothing was ever answered.
        """
        if failure.kind == "rejected" and self._circuit.answered:
            return
        model = self._options.model
        served = await self._served_models()
        if served and model not in served:
            self.stop(f"no model {model!r} here: {text}", _nearest(model, served))
        if failure.kind == "no_model":
            self.stop(
                f"no such model or path: {text}",
                f"Check the model's name {model!r} and that base_url ends in /v1 or the like",
            )

    async def _served_models(self) -> list[str]:
        """Return the names that the server lists, asked for once by all who want them now."""
        if self._models is None or self._models.done():
            self._models = asyncio.ensure_future(self._list_models())
        return await asyncio.shield(self._models)

    async def _list_models(self) -> list[str]:
        try:
            reply = await asyncio.wait_for(self._transport.send("GET", "models"), _LIST_SECONDS)
        except (TransportError, asyncio.TimeoutError):
            return []
        return model_ids(reply)

    def send_no_more(self) -> None:
        """Cancel what waits to be sent, or sent again; what is under way may be answered.

        Called on the loop of the requests; holds for good.
        """
        self._stopped = True
        for task in self._unsent:
            task.cancel()

    def close(self) -> None:
        """Close all connections; may be called from any thread."""
        self._transport.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()


def _rate_limiter(options: OpenAIOptions) -> RateLimiter | None:
    if options.requests_per_minute is None and options.tokens_per_minute is None:
        return None
    from pytest_evalplug.model.rate import RateLimiter

    return RateLimiter(options.requests_per_minute, options.tokens_per_minute)


def _nearest(model: str, served: list[str]) -> str:
    """Return the fix with the nearest names first; a router may serve hundreds."""
    names = nearest(model, served).split(", ")
    more = len(names) - _SHOWN_MODELS
    return ", ".join(names[:_SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")
