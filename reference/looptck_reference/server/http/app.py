"""The application: routes, limits and errors around one simulator."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from looptck_reference.server.http import runs, stores
from looptck_reference.server.http.answers import add_handlers
from looptck_reference.server.http.bodies import BoundedBodies
from looptck_reference.server.http.documents import EVENTS
from looptck_reference.server.serving import Simulator
from looptck_reference.values import Json

__all__ = ["create_app"]


def create_app(simulator: Simulator) -> FastAPI:
    """The application of a simulator, which it closes at its end."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await simulator.close()

    app = FastAPI(
        title="looptck reference server",
        version="1",
        description="A server that runs the agent loop itself, in front of a model that somebody else plays.",
        lifespan=lifespan,
        strict_content_type=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.simulator = simulator
    app.include_router(runs.router)
    app.include_router(stores.router)
    app.add_middleware(BoundedBodies)
    add_handlers(app)
    describe(app)
    return app


def describe(app: FastAPI) -> None:
    """Add the agentic events to the document, which knows only what routes return."""
    generate = app.openapi

    def openapi() -> Json:
        if app.openapi_schema is None:
            document = generate()
            pairs: list[Any] = [(model, "serialization") for model in EVENTS.values()]
            _, schemas = models_json_schema(pairs, ref_template="#/components/schemas/{model}")
            known = document["components"]["schemas"]
            known.update({name: schema for name, schema in schemas["$defs"].items() if name not in known})
            refs = [{"$ref": f"#/components/schemas/{model.__name__}"} for model in EVENTS.values()]
            known["AgenticEvent"] = {"anyOf": refs}
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's own way to extend the document
