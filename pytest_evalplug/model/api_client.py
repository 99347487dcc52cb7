"""Asks an API until it answers, or says why it never will: retries, pauses, circuit, diagnosis."""

from __future__ import annotations

__all__ = ["ApiClient"]

import asyncio
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from pytest_evalplug.errors import FatalModelError, ModelError, TooLongError, nearest
from pytest_evalplug.model.api_schema import failure_of, model_ids
from pytest_evalplug.model.retry import Circuit, Failure, RetryPolicy
from pytest_evalplug.model.spec import OpenAIOptions
from pytest_evalplug.model.transport import AiohttpTransport, Reply, TransportError

_CIRCUIT_LIMIT = 8
_KEY_LIKE = re.compile(r"\b(sk|key|pk)-[\w*.-]{4,}|(?i:bearer|basic) \S+")
_FIXES = {
    "busy": "Lower concurrency in the model's table, or raise max_retries",
    "server": "The server's own log may say more",
    "timeout": "Raise timeout in the model's table, or lower concurrency",
    "rejected": "Check the generation parameters and extra_body of the model's table",
}

T = TypeVar("T")


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
        self._transport = AiohttpTransport(
            url, headers=headers, timeout=options.timeout, limit=options.concurrency
        )
        self._retry = retry
        self._circuit = Circuit(max(_CIRCUIT_LIMIT, options.concurrency))
        self._fatal: tuple[str, str] | None = None
        self._resume_at = 0.0
        self._max_tokens_name = "max_tokens"

    async def ask(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | ModelError:
        """Send ``body`` to ``path`` until ``parse`` reads a reply of status 200 from it.

        Returns what ``parse`` returned, or the ModelError that says why there is none. Raises
        FatalModelError when no further request can succeed; from then on at once.
        """
        result = await self._persist(path, body, parse)
        return await self._give_up(result) if isinstance(result, Failure) else result

    async def _persist(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | Failure:
        """Ask until there is a reply or the retry policy gives up."""
        attempt = 0
        while True:
            await self._gate()
            result = await self._attempt(path, body, parse)
            if not isinstance(result, Failure):
                self._circuit.success()
                return result
            delay = self._retry.delay(result, attempt, answered=self._circuit.answered)
            if delay is None:
                return result
            if result.kind == "busy":
                self._resume_at = max(self._resume_at, time.monotonic() + delay)
            await asyncio.sleep(delay)
            attempt += 1

    async def _gate(self) -> None:
        """Hold each attempt while the server wants a pause; raise once the model is given up."""
        while (wait := self._resume_at - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        if self._fatal is not None:
            self._raise_fatal()

    async def _attempt(
        self, path: str, body: dict[str, Any], parse: Callable[[Reply], T | Failure]
    ) -> T | Failure:
        if self._max_tokens_name != "max_tokens" and "max_tokens" in body:
            body[self._max_tokens_name] = body.pop("max_tokens")
        try:
            reply = await self._transport.send("POST", path, body)
        except TransportError as error:
            return Failure("server" if error.kind == "broken" else error.kind, str(error))
        if reply.status == 200:
            return parse(reply)
        failure = failure_of(reply)
        if "max_completion_tokens" in failure.text and "max_tokens" in body:
            # OpenAI's reasoning models want the new name, most other servers know only the old.
            self._max_tokens_name = "max_completion_tokens"
            return await self._attempt(path, body, parse)
        return failure

    async def _give_up(self, failure: Failure) -> ModelError:
        """Return the sample's error, or raise FatalModelError where it is not the sample's."""
        text = self._scrub(failure.text)
        if failure.kind == "too_long":
            return TooLongError(
                text, where=self.where, fix="Fewer few_shot_num or max_tokens make it fit"
            )
        if failure.kind == "fatal":
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
        return ModelError(text, where=self.where, fix=_FIXES[failure.kind])

    def stop(self, what: str, fix: str) -> NoReturn:
        """Give the model up: raise FatalModelError now, and for every further request."""
        self._fatal = (what, fix)
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
            self.stop(f"no model {model!r} here: {text}", nearest(model, served))
        if failure.kind == "no_model":
            self.stop(
                f"no such model or path: {text}",
                f"Check the model's name {model!r} and that base_url ends in /v1 or the like",
            )

    async def _served_models(self) -> list[str]:
        try:
            return model_ids(await self._transport.send("GET", "models"))
        except TransportError:
            return []

    def _scrub(self, text: str) -> str:
        """Take out what a server or a proxy may echo of the key."""
        for value in self._headers.values():
            for secret in {value, value.rpartition(" ")[2]}:
                if len(secret) >= 6:
                    text = text.replace(secret, "***")
        return _KEY_LIKE.sub("***", text)

    def close(self) -> None:
        """Close all connections; may be called from any thread."""
        self._transport.close()

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()
