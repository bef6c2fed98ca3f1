"""The OpenAPI document: complete, and true of what the server sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from looptck_reference.server import DOCUMENT, TODAY, Callback, Made, Permission, Produced, SearchIndex, ServerDialect
from looptck_reference.server.entry import CODE_TOOL, SEARCH_TOOL
from looptck_reference.server.http.documents import EVENTS
from meta.reference.server.live import LiveStream
from meta.reference.server.serving import Json, World, call, turn

DRAW = Callback("draw", lambda: Made("drawn", (Produced("a.txt", b"a"), Produced("b.bin", b"\xff"))))
ROUNDS = [
    turn(None, call("weather", {"city": "Paris"}), call("weather")),
    turn(None, call(SEARCH_TOOL, {"query": "Paris"})),
    turn(None, call(CODE_TOOL, {"code": "print(1)"})),
    turn(None, call("draw")),
    turn("Done."),
]
BODIES: dict[str, Json] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "?"}]},
    "/v1/messages": {"messages": [{"role": "user", "content": "?"}], "max_tokens": 9},
    "/v1/responses": {"input": "?"},
}
ROUTES = {
    "/v1/chat/completions": {"post"},
    "/v1/messages": {"post"},
    "/v1/responses": {"post"},
    "/v1/sessions/{session_id}": {"get", "put", "delete"},
    "/v1/agent/approvals/{approval_id}": {"post"},
    "/v1/files": {"get", "post"},
    "/v1/files/{file_id}": {"get"},
    "/v1/files/{file_id}/content": {"get"},
    "/v1/models": {"get"},
    "/health": {"get"},
}


def document(here: World) -> Json:
    """The document."""
    told: Json = here.request("GET", "/openapi.json").json()
    return told


def judge(whole: Json, schema: Json, value: Any) -> None:
    """Fail if the value is not what a schema of the document says."""
    Draft202012Validator({**schema, "components": whole["components"]}).validate(value)


def schema_of(whole: Json, path: str, method: str, status: int) -> Json:
    """The schema of a response."""
    schema: Json = whole["paths"][path][method]["responses"][str(status)]["content"]["application/json"]["schema"]
    return schema


def test_all_routes_are_in_the_document(world: Callable[..., World]) -> None:
    """Each with its methods."""
    paths = document(world())["paths"]

    assert ROUTES == {path: set(methods) for path, methods in paths.items()}


def test_every_reference_of_the_document_leads_somewhere(world: Callable[..., World]) -> None:
    """Also those in the models of events."""
    whole = document(world())
    names = whole["components"]["schemas"]

    def references(value: Any) -> set[str]:
        if isinstance(value, list):
            return {name for one in value for name in references(one)}
        if isinstance(value, dict):
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own | {name for one in value.values() for name in references(one)}
        return set()

    assert set() == {name for name in references(whole) if name.rsplit("/", 1)[-1] not in names}
    Draft202012Validator.check_schema({"$defs": names})


@pytest.mark.parametrize("dialect", [DOCUMENT, TODAY], ids=["document", "today"])
@pytest.mark.parametrize("path", BODIES)
def test_plain_responses_are_as_documented(world: Callable[..., World], path: str, dialect: ServerDialect) -> None:
    """With files, rounds and warnings."""
    here = world(*ROUNDS, dialect=dialect, search=SearchIndex(), code=True, callbacks=(DRAW,))
    asks: Json = {"enable_code_execution": True, "web_search_options": {}, "tools": [{"type": "code_interpreter"}]}

    response = here.request("POST", path, json={"model": "m", **asks, **BODIES[path]})

    whole = document(here)
    judge(whole, schema_of(whole, path, "post", 200), response.json())
    assert 4 == len(response.json()["agentic_tool_calls"])


@pytest.mark.parametrize("dialect", [DOCUMENT, TODAY], ids=["document", "today"])
def test_named_events_are_as_documented(world: Callable[..., World], dialect: ServerDialect) -> None:
    """Each of them, in a stream that has all."""
    here = world(
        *ROUNDS,
        dialect=dialect,
        search=SearchIndex(),
        code=True,
        callbacks=(DRAW,),
        permission=Permission.ASK,
        limits={"approval_timeout": 0.001},
    )
    plain = world(*ROUNDS, dialect=dialect, search=SearchIndex(), code=True, callbacks=(DRAW,))
    asks: Json = {"enable_code_execution": True, "web_search_options": {}, "tools": [{"type": "code_interpreter"}]}

    async def read(one: World) -> list[tuple[str | None, Any]]:
        return await LiveStream(one.app, **asks).rest()

    told = [*here.run(read(here)), *plain.run(read(plain))]

    whole = document(here)
    for name, data in told:
        if name is not None:
            judge(whole, {"$ref": f"#/components/schemas/{EVENTS[name].__name__}"}, data)
            judge(whole, {"$ref": "#/components/schemas/AgenticEvent"}, data)
    unheard = {"agentic_warning"} if dialect is DOCUMENT else set()
    assert set(EVENTS) - unheard == {name for name, _ in told if name is not None}


@pytest.mark.parametrize("path", BODIES)
def test_errors_are_as_documented(world: Callable[..., World], path: str) -> None:
    """In the words of each API."""
    here = world()

    response = here.request("POST", path, json={"model": 3})

    whole = document(here)
    judge(whole, schema_of(whole, path, "post", 422), response.json())


def test_the_other_routes_are_as_documented(world: Callable[..., World]) -> None:
    """Sessions, files, models, health."""
    here = world(turn(None, call("draw")), turn("Done."), callbacks=(DRAW,))
    here.chat(session_id="s")

    whole = document(here)
    for path in ("/v1/sessions/{session_id}", "/v1/files", "/v1/models", "/health"):
        response = here.request("GET", path.replace("{session_id}", "s"))
        judge(whole, schema_of(whole, path, "get", 200), response.json())
