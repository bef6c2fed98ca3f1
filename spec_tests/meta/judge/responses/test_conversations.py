"""Conversations of the service: requests go on with them, and their items are put in, listed and deleted."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls, says
from looptck.wires.openai_responses import OPENAI_RESPONSES
from looptck.wires.openai_responses.encode import body as reply
from looptck.wires.openai_responses.service import ResponsesService, service
from meta.judge.responses.bodies import Item, output, request

FIRST = "conv_looptck0000000000000001"
TURN = calls(Call.of("weather", {"city": "Paris"})).numbered(1)
GREETING: Item = {"type": "message", "role": "user", "content": "Hello."}


def _side(backend: ResponsesService, method: str, path: str, body: Any = None, **query: str) -> dict[str, Any]:
    found = backend.side(method, path, query, body)
    assert found is not None
    return found


def _begun(*items: Item) -> ResponsesService:
    """A service with one conversation of these items."""
    backend = service(True)
    made = _side(backend, "POST", "/conversations", {"items": [*items], "metadata": {"of": "somebody"}})
    assert (FIRST, "conversation", {"of": "somebody"}) == (made["id"], made["object"], made["metadata"])
    return backend


def _asked(*items: Item, **more: Any) -> dict[str, Any]:
    return request(*items, conversation=FIRST, **more)


def _types(backend: ResponsesService, **query: str) -> list[str]:
    return [item["type"] for item in _side(backend, "GET", f"/conversations/{FIRST}/items", **query)["data"]]


@pytest.mark.parametrize("named", [FIRST, {"id": FIRST}])
def test_a_request_goes_on_with_it(named: Any) -> None:
    """The result of a call alone is enough; what was put in, asked and said before is in the history."""
    backend = _begun(GREETING)
    first = request(conversation=named)
    assert [] == backend.judge(first)
    backend.replied(first, 1, TURN)
    second = request(output("call_1a"), conversation=named)

    read = backend.read(second)

    assert [] == backend.judge(second)
    assert FIRST == read.continues
    assert ["Hello.", "go"] == [item.text for item in read.items[:2]]  # type: ignore[union-attr]
    assert ["call_1a"] == [one.id for one in read.asked]
    assert ["call_1a"] == [one.id for one in read.answers]
    assert [*["/conversation"] * 3, "/input/0"] == [item.pointer for item in read.items]


def test_a_call_without_a_result_is_refused() -> None:
    """The next question comes too early."""
    backend = _begun()
    backend.replied(_asked(), 1, TURN)

    assert ["every-call-is-answered"] == [one.rule for one in backend.judge(_asked())]


def test_what_it_has_may_not_come_again() -> None:
    """A call that is sent back is in the conversation already."""
    backend = _begun()
    backend.replied(_asked(), 1, TURN)
    call = reply(TURN, 1, DEFAULT)["output"][0]

    assert "items-come-once" == backend.judge(_asked(call, output("call_1a")))[0].rule


def test_the_reply_names_it() -> None:
    """As an object; a reply to a request without one has no such member."""
    told = OPENAI_RESPONSES.said_to(TURN, _asked())

    assert {"id": FIRST} == OPENAI_RESPONSES.body(told, 1, DEFAULT)["conversation"]
    assert "conversation" not in reply(TURN, 1, DEFAULT)


def test_its_items_are_listed() -> None:
    """The latest first, unless they are asked for in their order; in pages."""
    backend = _begun(GREETING)
    backend.replied(_asked(), 1, TURN)
    path = f"/conversations/{FIRST}/items"

    assert ["function_call", "message", "message"] == _types(backend)
    assert ["message", "message", "function_call"] == _types(backend, order="asc")
    page = _side(backend, "GET", path, limit="1")
    assert page["has_more"]
    rest = _side(backend, "GET", path, after=page["last_id"])
    assert (2, False) == (len(rest["data"]), rest["has_more"])
    assert 3 == len({item["id"] for item in [*page["data"], *rest["data"]]})
    assert [{"type": "input_text", "text": "Hello."}] == rest["data"][-1]["content"]


def test_items_are_put_in_and_taken_out() -> None:
    """Each by itself; what was taken out is in no history."""
    backend = _begun()
    said = {"type": "message", "role": "assistant", "content": "Hi."}
    added = _side(backend, "POST", f"/conversations/{FIRST}/items", {"items": [GREETING, said]})["data"]
    greeting, answer = (f"/conversations/{FIRST}/items/{item['id']}" for item in added)

    assert "output_text" == _side(backend, "GET", answer)["content"][0]["type"]
    assert FIRST == _side(backend, "DELETE", greeting)["id"]
    assert ["message"] == _types(backend)
    assert ["Hi.", "go"] == [item.text for item in backend.read(_asked()).items]  # type: ignore[union-attr]


def test_it_is_changed_and_deleted() -> None:
    """Behind its end no request may go on with it."""
    backend = _begun()
    path = f"/conversations/{FIRST}"

    assert {"a": "b"} == _side(backend, "POST", path, {"metadata": {"a": "b"}})["metadata"]
    assert {"a": "b"} == _side(backend, "GET", path)["metadata"]
    assert _side(backend, "DELETE", path)["deleted"]
    assert backend.side("GET", path, {}, None) is None
    assert [("conversations-are-known", True)] == [(one.rule, one.state_missing) for one in backend.judge(_asked())]


def test_lost_state_has_none() -> None:
    """Where the service has lost its state, or keeps none, a conversation is unknown."""
    lost, keeps_none = _begun(), service(False)
    lost.lose_state()
    _side(keeps_none, "POST", "/conversations", {})

    assert [["conversations-are-known"]] * 2 == [[one.rule for one in at.judge(_asked())] for at in (lost, keeps_none)]
    assert [] == [*keeps_none.read(_asked()).asked]


def test_a_stored_response_is_read_again() -> None:
    """With its input; once it is deleted, it is gone, and so it is if it was not to be stored."""
    backend = service(True)
    backend.replied(request(), 1, says("Hi.").numbered(1))
    backend.replied(request(store=False), 2, says("Ho.").numbered(2))
    path = "/responses/resp_looptck0000000000000001"

    assert "Hi." == _side(backend, "GET", path)["output"][0]["content"][0]["text"]
    given, again = (_side(backend, "GET", f"{path}/input_items")["data"] for _ in range(2))
    assert ["message"] == [item["type"] for item in given]
    assert given == again  # a client that asks for the next page names the last id
    assert _side(backend, "DELETE", path)["deleted"]
    assert backend.side("GET", path, {}, None) is None
    assert backend.side("GET", "/responses/resp_looptck0000000000000002", {}, None) is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/conversations"),
        ("PUT", f"/conversations/{FIRST}"),
        ("GET", "/conversations/conv_other"),
        ("GET", f"/conversations/{FIRST}/items/msg_other"),
        ("GET", "/embeddings"),
    ],
)
def test_other_routes_are_unknown(method: str, path: str) -> None:
    """There is nothing at them."""
    assert _begun().side(method, path, {}, None) is None
