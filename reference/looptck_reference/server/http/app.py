"""The application: routes, limits and errors around one simulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from looptck_reference.server.http import runs, stores
from looptck_reference.server.http.answers import add_handlers
from looptck_reference.server.http.bodies import BoundedBodies
from looptck_reference.server.serving import Simulator

__all__ = ["create_app"]


def create_app(simulator: Simulator) -> FastAPI:
    """The application of a simulator, which it closes on shutdown."""

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
    add_handlers(app)
    return app
