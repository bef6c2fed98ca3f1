"""The routes around the loop, and the headers of replies: the application and its configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_mutants.server_loop.parts import breaks
from looptck_reference.server.bench import Bench
from looptck_reference.server.serving import Config, Simulator


@breaks("server-health-is-told")
class NeverHealthy(Bench):
    """Reports that the server is still starting."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def starting(scope: Scope, receive: Receive, send: Send) -> None:
            answer: ASGIApp = JSONResponse({"status": "starting"}, 503) if scope.get("path") == "/health" else app
            await answer(scope, receive, send)

        return starting


@breaks("server-models-are-listed")
class ListsNoModels(Bench):
    """Lists no models."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        return replace(super().config(setup, upstream, dispatch), models=())


@breaks("server-content-types-are-said")
class JsonIsText(Bench):
    """Sends plain replies with a text content type."""

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def labelled(scope: Scope, receive: Receive, send: Send) -> None:
            async def relabelled(message: Message) -> None:
                if message["type"] == "http.response.start":
                    headers = MutableHeaders(scope=message)
                    if headers.get("content-type") == "application/json":
                        headers["content-type"] = "text/plain; charset=utf-8"
                await send(message)

            await app(scope, receive, relabelled)

        return labelled
