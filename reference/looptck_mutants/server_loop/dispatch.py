"""The dispatch URL: the posted calls, the use of its answers, and its failures."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import Response

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bench import Bench
from looptck_reference.server.errors import Refused
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.steps import Fail
from looptck_reference.server.tools import DispatchUrl, Workshop
from looptck_reference.server.values import Called, Record, Result, ToolPath
from looptck_reference.vocabulary.values import Turn


@breaks("server-dispatch-body-is-name-and-arguments")
class PostsAsPlainText(Simulator):
    """Posts calls with a content type that is not JSON."""

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        return await super()._run(called, {**headers, "content-type": "text/plain"}, workshop)


@breaks("server-dispatch-url-is-not-the-requests")
class PostsWhereTheRequestSays(Bench):
    """Posts calls to the URL that the request names."""

    class Posting(Simulator):
        def posts_to(self, url: str | None) -> None:
            self._dispatch = DispatchUrl(self._client, url, timeout=30, limit=1024 * 1024) if url else None

    simulator = Posting

    def app(self, simulator: Any) -> Any:
        async def heeds(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
            named = b'"tool_dispatch_url"' in (body := await request.body())
            simulator.posts_to(json.loads(body)["tool_dispatch_url"] if named else simulator.config.dispatch_url)
            return await go_on(request)

        app = super().app(simulator)
        app.add_middleware(BaseHTTPMiddleware, dispatch=heeds)
        return app


@breaks("server-arguments-arrive-whatever-their-shape")
class NullArgumentsAreLeftOut(Simulator):
    """Posts arguments without their null members."""

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        if isinstance(called.arguments, dict):
            kept = {name: value for name, value in called.arguments.items() if value is not None}
            called = replace(called, call=replace(called.call, arguments=json.dumps(kept)))
        return await super()._run(called, headers, workshop)


@breaks("server-results-arrive-unchanged")
class LongResultsAreCut(ServerLoop):
    """Sends the model only the first 50,000 characters of a result."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        super().extend_history(
            turn, [replace(one, result=replace(one.result, content=one.result.content[:50_000])) for one in ran]
        )


@breaks(
    "server-failing-tool-is-fed-back",
    collateral={"server-failing-tool-counts-as-a-round": "the first failure ends the run"},
)
class ErrorStatusesEndTheRun(ServerLoop):
    """Fails the run if the endpoint answers with an error status."""

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        return Fail(_gone(error)) if str(error).startswith("HTTP ") else super().failure(called, error)


@breaks("server-failing-tool-is-fed-back")
class FailingCallbacksEndTheRun(ServerLoop):
    """Fails the run if a registered callback fails."""

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        return Fail(Refused(422, "oops")) if called.path is ToolPath.CALLBACK else super().failure(called, error)


def _gone(error: Exception) -> Refused:
    return Refused(502, f"a tool cannot be reached: {error}")


@breaks("server-broken-dispatch-is-fed-back")
class BrokenConnectionsEndTheRun(ServerLoop):
    """Fails the run if the endpoint's connection breaks."""

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        return Fail(_gone(error)) if str(error).startswith("error sending") else super().failure(called, error)


@breaks(
    "server-failing-tool-is-fed-back",
    "server-broken-dispatch-is-fed-back",
    collateral={
        (
            "server-hanging-dispatch-ends",
            "server-large-result-is-bounded",
        ): "a hanging call and a too large result are failures too"
    },
)
class FailuresAreEmptyResults(ServerLoop):
    """Sends the model an empty result for a failure."""

    def failure(self, called: Called, error: Exception) -> Result | Fail:
        return Result("")


@breaks("server-failing-tool-counts-as-a-round")
class FailedRoundsAreFree(ServerLoop):
    """Does not count rounds whose tool failed."""

    def extend_history(self, turn: Turn, ran: Sequence[Record]) -> None:
        super().extend_history(turn, ran)
        self.cap += all('"status":"failed"' in record.result.content for record in ran)


@breaks("server-failing-tool-runs-once")
class FailedToolsAreTriedAgain(Simulator):
    """Posts a call again if the endpoint is unavailable."""

    async def _run(self, called: Called, headers: Mapping[str, str], workshop: Workshop) -> Result:
        try:
            return await super()._run(called, headers, workshop)
        except Exception as error:
            if "HTTP 503" not in str(error):
                raise
            return await super()._run(called, headers, workshop)
