"""Server-side loops: the routes around the loop, and the content types of replies."""

from __future__ import annotations

from looptck.bench.checks import requirement
from looptck.bench.client.reply import media_type
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.replies import DONE, json_of
from looptck.values.plain import plain

TYPES = {False: "application/json", True: "text/event-stream"}
"""The content types of replies, by whether they are streams."""


@requirement("server-health-is-told")
def test_health(server: ServerUnderTest) -> None:
    """GET /health is answered with 200."""
    with server.http() as client:
        reply = client.get("/health")

    assert 200 == reply.status_code


@requirement("server-models-are-listed")
def test_models(scenario: Scenario, server: ServerUnderTest) -> None:
    """GET /v1/models returns a list of models, and a request with the first of them is answered."""
    scenario.plays(DONE)

    with server.http() as client:
        reply = client.get("/v1/models")

    assert 200 == reply.status_code
    listed = json_of(reply)
    assert isinstance(listed, dict), f"the models are no object: {plain(listed, 300)}"
    assert "list" == listed.get("object")
    ids = [model.get("id") for model in listed.get("data") or () if isinstance(model, dict)]
    assert ids, f"no model is listed: {plain(listed, 300)}"
    assert server.ask(members={"model": ids[0]}).got.ok


@requirement("server-content-types-are-said")
def test_content_types(scenario: Scenario, server: ServerUnderTest) -> None:
    """A reply's content type is that of JSON or of an event stream."""
    scenario.plays(DONE)

    reply = server.ask().got

    assert 200 == reply.status
    kind = media_type(reply.headers)
    assert TYPES[reply.stream] == kind, (
        f"the content type of a {'stream' if reply.stream else 'plain reply'} is {kind!r}"
    )
