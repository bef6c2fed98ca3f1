"""The routes around the loop, and the labels of replies: the application and what it is started with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from looptck_reference.mutants.server_loop.mutant import ServerMutant
from looptck_reference.server.serving import Config, Simulator


class NeverHealthy(ServerMutant):
    """Says that it is not up yet: `server-health-is-told`."""

    breaks = ("server-health-is-told",)

    def app(self, simulator: Simulator) -> Any:
        app = super().app(simulator)

        async def starting(scope: Scope, receive: Receive, send: Send) -> None:
            answer: ASGIApp = JSONResponse({"status": "starting"}, 503) if scope.get("path") == "/health" else app
            await answer(scope, receive, send)

        return starting


class ListsNoModels(ServerMutant):
    """Knows of no model: `server-models-are-listed`."""

    breaks = ("server-models-are-listed",)

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        return replace(super().config(setup, upstream, dispatch), models=())


class JsonIsText(ServerMutant):
    """Labels plain replies as text: `server-content-types-are-said`."""

    breaks = ("server-content-types-are-said",)

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
