"""Server-side loops: the routes around the loop, and how replies are labelled."""

from __future__ import annotations

from looptck.checks import requirement
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.spec.served import DONE

TYPES = {False: "application/json", True: "text/event-stream"}
"""The content types of replies, by whether they are streams."""


@requirement("server-health-is-told")
def test_health(guest: Guest) -> None:
    """GET /health is answered with 200."""
    with guest.http() as client:
        reply = client.get("/health")

    assert 200 == reply.status_code


@requirement("server-models-are-listed")
def test_models(provider: Scene, guest: Guest) -> None:
    """GET /v1/models is a list of models, and a request that names the first of them is answered."""
    provider.plays(DONE)

    with guest.http() as client:
        reply = client.get("/v1/models")

    assert 200 == reply.status_code
    listed = reply.json()
    assert "list" == listed.get("object")
    ids = [model.get("id") for model in listed.get("data") or ()]
    assert ids, f"no model is listed: {listed}"
    assert guest.ask(members={"model": ids[0]}).got.ok


@requirement("server-content-types-are-said")
def test_content_types(provider: Scene, guest: Guest) -> None:
    """An answer says whether it is JSON or a stream of events."""
    provider.plays(DONE)

    reply = guest.ask().got

    assert 200 == reply.status
    assert TYPES[reply.stream] == reply.headers.get("content-type", "").partition(";")[0].strip()
