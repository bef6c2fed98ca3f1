"""Missing or too large bodies, too large results, and invalid limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bench import Bench
from looptck_reference.server.limits import MIB
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Config, Simulator
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Called, Result
from looptck_reference.vocabulary.values import Json

LARGE = 16 * MIB


@breaks("server-malformed-bodies-are-refused")
class RefusesWithoutAWord(Bench):
    """Does not name the invalid member of a request in the error."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)
        app.add_exception_handler(RequestValidationError, _curt)
        return app


@breaks("server-large-bodies-are-refused")
class LargeBodiesAreForLater(Bench):
    """Reports a too large body as a temporary error."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def patient(scope: Scope, receive: Receive, send: Send) -> None:
            async def softened(message: Message) -> None:
                await send({**message, "status": 503} if message.get("status") == 413 else message)

            await app(scope, receive, softened)

        return patient


@breaks("server-large-result-is-bounded")
class HugeResultsAreCut(Bench):
    """Truncates a result at 8 MiB without a notice."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        config = super().config(setup, upstream, dispatch)
        return replace(config, limits=replace(config.limits, tool_result=64 * MIB, run=128 * MIB))

    class Cutting(Simulator):
        async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
            result = await super()._run(called, headers, workshop)
            return replace(result, content=result.content[: 8 * MIB])

    simulator = Cutting


@breaks("server-bad-round-limits-are-refused")
class OddLimitsAreNone(Bench):
    """Ignores an invalid max_tool_rounds."""

    def app(self, simulator: Simulator) -> Any:
        return changed(super().app(simulator), lambda body: without(body, "max_tool_rounds", str | list | float))


@breaks("server-zero-rounds-run-no-tool")
class ZeroIsNoLimit(ServerLoop):
    """Treats max_tool_rounds 0 as no limit."""

    def cap_reached(self) -> bool:
        return bool(self.cap) and super().cap_reached()


@breaks("server-zero-rounds-run-no-tool")
class ZeroRoundsSayNothing(ServerLoop):
    """Does not report the call for which no round is left."""

    def at_cap(self, turn: Any) -> Any:
        return super().at_cap(turn if self.cap else replace(turn, calls=()))


async def _curt(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    status = 400 if error.errors()[0]["type"] == "json_invalid" else 422
    return JSONResponse({"error": {"message": "Bad request.", "type": "invalid_request_error"}}, status)


def without(body: bytes, name: str, type: Any) -> bytes:
    """The body, without the member if its value is of this type."""
    try:
        parsed: Json = json.loads(body)
    except ValueError:
        return body
    if isinstance(parsed, dict) and isinstance(parsed.get(name), type):
        del parsed[name]
        return json.dumps(parsed).encode()
    return body


def changed(app: ASGIApp, change: Callable[[bytes], bytes | Response | None]) -> ASGIApp:
    """The application, with changed request bodies, or with a response from `change` instead of its own."""

    async def changing(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST" or "file" in scope["path"]:
            await app(scope, receive, send)
            return
        body, more = b"", True
        while more and len(body) <= LARGE:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        changed = body if more else change(body)
        if isinstance(changed, Response):
            await changed(scope, receive, send)
            return
        scope["headers"] = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        waiting = [{"type": "http.request", "body": body if changed is None else changed, "more_body": more}]

        async def next_message() -> Message:
            return waiting.pop() if waiting else await receive()

        await app(scope, next_message, send)

    return changing
