"""Bounds: what is too large, too much or too old is refused or forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from looptck_reference.server import Callback
from looptck_reference.server.api.agentic import MOST_MESSAGES
from looptck_reference.server.bounded import Shelf
from meta.reference.server.hand_clock import HandClock
from meta.reference.server.live import LiveStream
from meta.reference.server.serving import QUESTION, Gate, World, call, turn


def shelf(**more: Any) -> Shelf[str]:
    """Of three texts, ten characters, and ten seconds."""
    known: dict[str, Any] = {"limit": 3, "capacity": 10, "ttl": 10, "clock": HandClock(), "weigh": len}
    return Shelf(**{**known, **more})


def test_what_was_not_used_the_longest_goes_first() -> None:
    """Asking for it is using it."""
    kept = shelf()
    for key in "abc":
        kept.put("me", key, key)

    kept.get("me", "a")
    kept.put("me", "d", "d")

    assert ["c", "a", "d"] == list(kept.of("me"))


def test_what_weighs_too_much_makes_room() -> None:
    """One that is too heavy by itself is not kept."""
    kept = shelf()

    told = [kept.put("me", "a", "a" * 6), kept.put("me", "b", "b" * 6), kept.put("me", "c", "c" * 11)]

    assert ([True, True, False], ["b" * 6], 6) == (told, list(kept.of("me")), kept.bytes)
    assert (True, ["d" * 10]) == (kept.put("me", "d", "d" * 10), list(kept.of("me")))


def test_what_is_idle_for_too_long_is_gone() -> None:
    """Counted from its last use."""
    clock = HandClock()
    kept = shelf(clock=clock)
    kept.put("me", "a", "a")
    kept.put("me", "b", "b")
    clock.advance(9.9)
    kept.get("me", "b")
    clock.advance(0.1)

    assert (None, "b", 1) == (kept.get("me", "a"), kept.get("me", "b"), len(kept))


def test_replacing_is_not_counted_twice() -> None:
    """Nor is what was dropped."""
    kept = shelf()
    for _ in range(2):
        kept.put("me", "a", "aaa")

    assert (3, True, False, 0) == (kept.bytes, kept.drop("me", "a"), kept.drop("me", "a"), kept.bytes)


def test_sessions_are_bounded_and_grow_old(world: Callable[..., World]) -> None:
    """The one not used the longest goes; half an hour idle is the end."""
    clock = HandClock()
    here = world(*[turn("x")] * 3, clock=clock, limits={"sessions": 2})
    for name in "abc":
        here.chat(session_id=name)

    def there() -> list[int]:
        return [here.request("GET", f"/v1/sessions/{name}").status_code for name in "abc"]

    before = there()
    clock.advance(1800)

    assert ([404, 200, 200], [404, 404, 404]) == (before, there())


def test_a_session_that_is_too_large_is_not_stored(
    world: Callable[..., World], caplog: pytest.LogCaptureFixture
) -> None:
    """The answer comes all the same; the log says so."""
    here = world(turn("x" * 500), limits={"session_bytes": 100})

    response = here.chat(session_id="s")

    assert (200, 404) == (response.status_code, here.request("GET", "/v1/sessions/s").status_code)
    assert "session s is larger than the server keeps" in caplog.text


def test_what_a_client_stores_is_bounded(world: Callable[..., World]) -> None:
    """A session or a file that is too large by itself is refused."""
    here = world(limits={"session_bytes": 100, "file_bytes": 100})

    session = here.request("PUT", "/v1/sessions/s", json={"messages": [{"role": "user", "content": "x" * 500}]})
    file = here.request("POST", "/v1/files", files={"file": ("a.txt", b"x" * 500)})

    assert [413, 413] == [session.status_code, file.status_code]


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_refused(world: Callable[..., World], announced: bool) -> None:
    """Whether or not its length was announced; no more than the limit is read."""
    here = world(limits={"body": 1000})
    read = []

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(100):
            read.append(500)
            yield b"x" * 500

    content = b"x" * 50_000 if announced else pieces()
    type = {"content-type": "application/json"}
    response = here.request("POST", "/v1/chat/completions", content=content, headers=type)

    assert (413, "the body is larger than 1000 bytes") == (response.status_code, response.json()["error"]["message"])
    assert len(read) <= 3


def test_one_run_too_many_is_refused(world: Callable[..., World]) -> None:
    """And may come again later."""
    here = world(turn("1"), turn("2"), limits={"runs": 1})

    async def two() -> list[httpx.Response]:
        here.outside.gate = Gate()
        first = LiveStream(here.app)
        await asyncio.wait_for(here.outside.gate.reached.wait(), 10)
        transport = httpx.ASGITransport(here.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server.test") as client:
            body = {"model": "m", "messages": [QUESTION]}
            refused = await client.post("/v1/chat/completions", json=body)
            here.outside.gate.opened.set()
            await first.rest()
            return [refused, await client.post("/v1/chat/completions", json=body)]

    refused, answered = here.run(two())

    assert (503, "1", "too_many_runs", 200) == (
        refused.status_code,
        refused.headers["retry-after"],
        refused.json()["error"]["code"],
        answered.status_code,
    )


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "plain"])
def test_runs_that_come_at_once_are_counted_at_once(world: Callable[..., World], stream: bool) -> None:
    """Before any of them has begun; all are forgotten at their ends."""
    here = world(turn("1"), turn("2"), turn("3"), limits={"runs": 1})

    async def three() -> list[int]:
        transport = httpx.ASGITransport(here.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://server.test") as client:
            body = {"model": "m", "messages": [QUESTION], "stream": stream}
            asking = [client.post("/v1/chat/completions", json=body) for _ in range(3)]
            return [one.status_code for one in await asyncio.gather(*asking)]

    statuses = here.run(three())

    assert ([200, 503, 503], 0) == (sorted(statuses), here.simulator.runs)


def test_the_results_of_a_run_are_bounded_together(world: Callable[..., World]) -> None:
    """The run ends before it fills the memory."""
    big = Callback("big", lambda: "x" * 400)
    here = world(*[turn(None, call("big"))] * 5, callbacks=(big,), limits={"run": 1000})

    response = here.chat()

    assert (422, "run_bytes", 3) == (
        response.status_code,
        response.json()["error"]["code"],
        len(here.outside.asked),
    )


@pytest.mark.parametrize(
    ("method", "path", "member", "status"),
    [
        ("POST", "/v1/chat/completions", "messages", 422),
        ("POST", "/v1/responses", "input", 422),
        ("POST", "/v1/messages", "messages", 422),
        ("PUT", "/v1/sessions/s", "messages", 400),
    ],
)
def test_entries_of_a_history_are_bounded(
    world: Callable[..., World], method: str, path: str, member: str, status: int
) -> None:
    """Too many are refused before the rest is read, and before a model is asked."""
    body = {"model": "m", "max_tokens": 1, member: [QUESTION] * (MOST_MESSAGES + 1)}

    response = world().request(method, path, json=body if method == "POST" else {member: body[member]})

    assert status == response.status_code
    assert f"at most {MOST_MESSAGES} items" in response.text
