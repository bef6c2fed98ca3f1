"""A Messages service that keeps state holds threads; one that does not, or has lost one, says so."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked, Said
from looptck.values.turns import Call, Turn, calls, says, turn
from looptck.wires.anthropic_messages.encode import body
from looptck.wires.anthropic_messages.judge import refusal
from looptck.wires.anthropic_messages.service import MessagesService, service
from meta.judge.messages.bodies import USER, assistant, call, request, result, tool, user

CREATE = {"type": "create"}
ASKS = calls(Call("f", id="a"), text="Well.")
ANSWER = user(result("a"))


def _id(n: int) -> str:
    return str(body(says("x"), n, DEFAULT)["id"])


def _continue(n: int) -> dict[str, str]:
    return {"type": "continue", "previous_message_id": _id(n)}


def _begun(reply: Turn = ASKS) -> MessagesService:
    """A service that has begun a thread with this reply."""
    backend = service(True)
    begins = request(system="Be.", tools=[tool()], thread=CREATE)
    assert [] == backend.judge(begins)
    backend.replied(begins, 1, reply)
    return backend


def test_a_thread_is_judged_with_its_messages() -> None:
    """Results that continue a thread answer the calls that the service keeps, with the tools that it keeps."""
    backend = _begun()
    goes_on = request(ANSWER, thread=_continue(1), tool_choice={"type": "tool", "name": "f"})

    assert [] == backend.judge(goes_on)
    assert ["results-answer-a-call"] == [
        problem.rule for problem in service(True).judge({**goes_on, "thread": CREATE})
    ][-1:]


def test_a_thread_is_read_with_its_messages() -> None:
    """The history is the whole one; what the service keeps has a pointer that says so."""
    backend = _begun()
    backend.replied(request(ANSWER, thread=_continue(1)), 2, calls(Call("f", id="b")))

    read = backend.read(request(user(result("b"), "go on"), thread=_continue(2), stream=True))

    assert (
        Said("system", "Be."),
        Said("user", "go"),
        Said("assistant", "Well."),
        Asked("a", "f", "{}"),
        Answered("a", "done"),
        Asked("b", "f", "{}"),
        Answered("b", "done"),
        Said("user", "go on"),
    ) == read.items
    assert (_id(2), True, ["f"]) == (read.continues, read.stream, [tool.name for tool in read.tools])
    assert ["the thread's /system", "the thread's /messages/0/content"] == [item.pointer for item in read.items[:2]]
    assert ["/messages/0/content/0", "/messages/0/content/1"] == [item.pointer for item in read.items[-2:]]


@pytest.mark.parametrize(
    ("messages", "rule", "pointer"),
    [
        ([USER], "every-call-is-answered", "/messages"),
        ([USER, ANSWER], "results-come-first", "/messages/1/content/0"),
        ([user(result("x"))], "results-answer-a-call", "/messages/0/content/0/tool_use_id"),
        ([], "every-call-is-answered", "/messages"),
        ([user(result("a", content=5))], "results-are-text-or-blocks", "/messages/0/content/0/content"),
        ([assistant(call("a")), ANSWER], "call-ids-are-unique", "/messages/0/content/0/id"),
    ],
)
def test_a_fault_points_into_what_was_sent(messages: list[Any], rule: str, pointer: str) -> None:
    """A pointer leads into the request's own body, whatever the thread holds before it."""
    problem = _begun().judge(request(messages=messages, thread=_continue(1)))[0]

    assert (rule, pointer) == (problem.rule, problem.pointer)


def test_a_paused_turn_goes_on_with_nothing_new() -> None:
    """After a pause a request that continues the thread may have no messages at all."""
    backend = _begun(turn("Looking. ", stop="pause"))

    assert [] == backend.judge(request(messages=[], thread=_continue(1)))


@pytest.mark.parametrize("reply", [Turn(), says(""), says(" ")])
def test_a_turn_that_says_nothing_leaves_nothing_behind(reply: Turn) -> None:
    """What the service sent itself is no fault of the request that goes on from it."""
    assert [] == _begun(reply).judge(request(thread=_continue(1)))


def test_a_service_without_state_holds_no_threads() -> None:
    """It refuses to begin one, as it would any request that it cannot do with a thread, and takes it without."""
    (problem,) = service(False).judge(request(thread=CREATE))

    assert (400, "thread_unsupported_request", True) == (problem.status, problem.code, problem.state_missing)
    assert [] == service(False).judge(request(thread=None))


@pytest.mark.parametrize(
    ("why", "status", "code"),
    [
        (None, 404, "thread_not_found"),
        ("thread_already_continued", 400, "thread_already_continued"),
        ("thread_continue_in_flight", 400, "thread_continue_in_flight"),
        ("thread_fingerprint_mismatch", 400, "thread_fingerprint_mismatch"),
        ("thread_unsupported_request", 400, "thread_unsupported_request"),
    ],
)
def test_a_lost_thread_is_turned_away_with_its_code(why: str | None, status: int, code: str) -> None:
    """Once its state is lost, the service answers with the code it was given, and takes the whole history again."""
    backend = _begun()
    backend.lose_state(why)
    whole = [USER, assistant("Well.", call("a")), ANSWER]

    (problem,) = backend.judge(request(ANSWER, thread=_continue(1)))

    assert (status, code, True) == (problem.status, problem.code, problem.state_missing)
    assert [] == backend.judge(request(*whole, thread=CREATE))
    assert [] == backend.judge(request(*whole))


def test_a_reply_is_continued_once() -> None:
    """A second request that continues from the same reply is turned away; the later reply is the one to go on from."""
    backend = _begun()
    goes_on = request(ANSWER, thread=_continue(1))
    backend.replied(goes_on, 2, says("So."))

    (problem,) = backend.judge(goes_on)

    assert (400, "thread_already_continued", True) == (problem.status, problem.code, problem.state_missing)
    assert [] == backend.judge(request(thread=_continue(2)))


def test_a_reply_that_never_was_is_no_loss() -> None:
    """An id that the service never gave is not found, and that is nobody's forgetting."""
    (problem,) = _begun().judge(request(thread=_continue(7)))

    assert (404, "thread_not_found", False) == (problem.status, problem.code, problem.state_missing)


def test_a_recorded_reply_has_the_id_that_it_was_recorded_with() -> None:
    """A thread goes on from that id, not from the one that the service would have given."""
    backend = service(True)
    begins = request(system="Be.", tools=[tool()], thread=CREATE)
    backend.replied(begins, 1, ASKS, "msg_recorded")
    goes_on = {"type": "continue", "previous_message_id": "msg_recorded"}

    assert [] == backend.judge(request(ANSWER, thread=goes_on))
    assert ["threads-are-known"] == [one.rule for one in backend.judge(request(ANSWER, thread=_continue(1)))]


def test_a_reply_outside_of_a_thread_is_not_kept() -> None:
    """Only what a request with a thread was answered can be continued."""
    backend = service(True)
    backend.replied(request(), 1, says("x"))

    assert ["threads-are-known"] == [problem.rule for problem in backend.judge(request(thread=_continue(1)))]


@pytest.mark.parametrize("field", ["system", "tools"])
def test_a_thread_keeps_what_it_began_with(field: str) -> None:
    """A request that continues a thread may not bring its own system prompt or tools."""
    (problem,) = _begun().judge({**request(ANSWER, thread=_continue(1)), field: []})

    assert ("threads-keep-what-they-began-with", f"/{field}") == (problem.rule, problem.pointer)


def test_a_refusal_names_the_code() -> None:
    """The error of a thread has its code in its details, and the type that goes with its status."""
    backend = _begun()
    backend.lose_state()

    (problem,) = backend.judge(request(ANSWER, thread=_continue(1)))
    error = refusal(problem)["error"]

    assert ("not_found_error", {"error_code": "thread_not_found"}) == (error["type"], error["details"])
