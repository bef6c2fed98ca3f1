"""The posts by which the reference's driver asks the kit for the result of a tool."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from looptck.provider.gate import Gate
from looptck.provider.http import HttpReply, HttpRequest, head
from looptck.provider.server import Provider
from looptck_reference.kit.posting import AsyncPosts, Posts

LONG = "ä" * 300_000

Post = Callable[..., Any]


def answer(request: HttpRequest, status: int = 200) -> HttpReply | None:
    """The message back, under its path; a refusal at ``/refused``, and no reply at ``/gone``."""
    if request.path.startswith("/gone"):
        return None
    refused = request.path.startswith("/refused")
    body = json.dumps({"path": request.path, "sent": json.loads(request.body)}).encode()
    start = head(400 if refused else status, [("content-type", "application/json")], length=len(body))
    return HttpReply([start + body])


@pytest.fixture
def kit() -> Iterator[Provider]:
    """A server that answers so."""
    with Provider(root=answer) as provider:
        yield provider


def in_order(asynchronous: bool, origin: str, *posts: tuple[str, Any]) -> list[Any]:
    """What these posts over kept connections come to: each a reply, or the type of its error."""

    async def together() -> list[Any]:
        results: list[Any] = []
        async with AsyncPosts() as sender:
            for path, message in posts:
                try:
                    results.append(await sender.post(origin + path, message))
                except OSError as error:
                    results.append(type(error))
        return results

    if asynchronous:
        return asyncio.run(together())
    sender, results = Posts(), list[Any]()
    for path, message in posts:
        try:
            results.append(sender.post(origin + path, message))
        except OSError as error:
            results.append(type(error))
    sender.close()
    return results


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_post_is_answered(kit: Provider, asynchronous: bool) -> None:
    """Long messages too, with a query, and each with its own reply."""
    posts = [("/a", {"n": 1}), ("/b?c=%20d", {"long": LONG}), ("/a", {"text": "\u2028 \U0001f600"})]

    results = in_order(asynchronous, kit.origin, *posts)

    assert [{"path": path, "sent": sent} for path, sent in posts] == results


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_refusal_is_an_error_and_so_is_no_reply(kit: Provider, asynchronous: bool) -> None:
    """The next post is answered all the same."""
    results = in_order(asynchronous, kit.origin, ("/refused", {}), ("/gone", {}), ("/a", {}))

    assert [ConnectionError, ConnectionError, {"path": "/a", "sent": {}}] == results


@pytest.mark.parametrize("asynchronous", [False, True])
def test_connections_are_kept(kit: Provider, asynchronous: bool) -> None:
    """One connection serves posts that follow each other."""
    made: list[int] = []
    accept = kit._connection

    def counted() -> Any:
        made.append(1)
        return accept()

    kit._connection = counted  # type: ignore[method-assign]
    asyncio.run_coroutine_threadsafe(_listens_anew(kit), kit._loop).result()

    in_order(asynchronous, f"http://127.0.0.1:{kit._port}", *[("/a", {})] * 5)

    assert [1] == made


async def _listens_anew(kit: Provider) -> None:
    assert kit._server is not None
    kit._server.close()
    kit._port = 0
    kit._server = await kit._listen()
    kit._port = kit._server.sockets[0].getsockname()[1]


def test_a_connection_that_the_kit_has_closed_is_not_used_again(kit: Provider) -> None:
    """It is found to be closed before anything is sent."""
    posts = Posts()
    posts.post(f"{kit.origin}/a", {})

    asyncio.run_coroutine_threadsafe(_close_all(kit), kit._loop).result()

    assert {"path": "/a", "sent": {}} == posts.post(f"{kit.origin}/a", {})
    posts.close()


async def _close_all(kit: Provider) -> None:
    for connection in list(kit._connections):
        connection.abort()


def test_threads_do_not_wait_for_each_other() -> None:
    """A post that is held keeps no other from its reply."""
    gate = Gate("the other has its reply")

    def held(request: HttpRequest) -> HttpReply | None:
        reply = answer(request)
        if reply is not None and request.path == "/held":
            reply.parts.insert(0, gate)
        return reply

    posts, results = Posts(), list[Any]()
    with Provider(root=held) as kit:
        thread = threading.Thread(target=lambda: results.append(posts.post(f"{kit.origin}/held", {})))
        thread.start()
        assert gate.reached(5.0, lambda: False)
        results.append(posts.post(f"{kit.origin}/a", {}))
        gate.open()
        thread.join()
        posts.close()

    assert ["/a", "/held"] == [one["path"] for one in results]


def test_a_cancelled_post_closes_its_connection() -> None:
    """So the kit sees that nobody waits for the tool any more."""
    gate, dropped = Gate("never"), threading.Event()

    def held(request: HttpRequest) -> HttpReply | None:
        reply = answer(request)
        assert reply is not None
        reply.parts.insert(0, gate)
        reply.dropped = dropped.set
        return reply

    async def cancel(origin: str) -> None:
        async with AsyncPosts() as posts:
            post = asyncio.create_task(posts.post(f"{origin}/held", {}))
            while not await asyncio.to_thread(gate.reached, 5.0, lambda: False):
                pass
            post.cancel()
            await asyncio.gather(post, return_exceptions=True)

    with Provider(root=held) as kit:
        asyncio.run(cancel(kit.origin))

        assert dropped.wait(5.0)
