"""The application: routes, limits and errors around one simulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from looptck_reference.server.http import runs, stores
from looptck_reference.server.http.answers import add_handlers
from looptck_reference.server.http.bodies import BoundedBodies
from looptck_reference.server.http.pages import NoPages
from looptck_reference.server.serving import Simulator

__all__ = ["create_app"]


def create_app(simulator: Simulator, *, loopback_only: bool = True) -> FastAPI:
    """The application of a simulator, which it closes on shutdown.

    loopback_only: it is served on the loopback address and nowhere else; requests under other names are refused.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await simulator.close()

    app = FastAPI(lifespan=lifespan, strict_content_type=False, openapi_url=None)
    app.state.simulator = simulator
    app.include_router(runs.router)
    app.include_router(stores.router)
    app.add_middleware(BoundedBodies)
    app.add_middleware(NoPages, loopback_only=loopback_only)
    add_handlers(app)
    return app
