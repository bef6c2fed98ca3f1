"""The service continues from what it has answered, and says so when it has not what a request leans on."""

from __future__ import annotations

import pytest

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls, says
from looptck.wires.openai_responses.encode import body as reply
from looptck.wires.openai_responses.read import echo
from meta.judge.responses.backend import ASKED, FIRST, SECOND, SENT, THOUGHT, answered, continued, error, first
from meta.judge.responses.bodies import USER, Item, output, reference, request


def test_the_id_of_a_response_is_the_one_that_is_sent() -> None:
    """The service knows a reply by the id that its body says."""
    assert FIRST == reply(THOUGHT, 1, DEFAULT)["id"]


def test_a_response_is_continued() -> None:
    """The outputs of a response's calls are enough: the rest is remembered, and old instructions are not."""
    backend = answered(instructions="Old.")
    body = continued(output("call_1a"), instructions="New.")

    read = backend.read(body)

    assert [] == backend.judge(body)
    assert FIRST == read.continues
    assert ["New.", "go"] == [item.text for item in read.items[:2]]  # type: ignore[union-attr]
    assert echo(THOUGHT) == list(read.items[2:4])
    assert ["/instructions", *["/previous_response_id"] * 3, "/input/0"] == [item.pointer for item in read.items]


def test_a_recorded_response_is_known_by_its_own_id() -> None:
    """A reply that was recorded has the id that its server gave it."""
    backend = answered()
    backend.replied(request(), 2, says("Hi.").numbered(2), "resp_recorded")

    assert [] == backend.judge(continued({"role": "user", "content": "a"}, after="resp_recorded"))
    assert "Hi." in [item.text for item in backend.read(continued(after="resp_recorded")).items]  # type: ignore[union-attr]


def test_a_chain_is_remembered_whole() -> None:
    """A response that itself continued one stands for both."""
    backend = answered()
    second = calls(Call.of("g")).numbered(2)
    backend.replied(continued(output("call_1a")), 2, second)
    body = continued(output("call_2a"), after=SECOND)

    items = backend.read(body).items

    assert [] == backend.judge(body)
    assert [*echo(THOUGHT), *echo(second)] == [item for item in items if item in [*echo(THOUGHT), *echo(second)]]
    assert ["call_1a", "call_2a"] == [answer.id for answer in backend.read(body).answers]


def test_a_response_can_be_continued_twice() -> None:
    """Two requests may go on from one response; neither sees the other."""
    backend = answered(says("Hi.").numbered(1))
    backend.replied(continued({"role": "user", "content": "a"}), 2, says("A.").numbered(2))

    said = [item.text for item in backend.read(continued({"role": "user", "content": "b"})).items]  # type: ignore[union-attr]

    assert ["go", "Hi.", "b"] == said


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ([USER], "every-call-is-answered"),
        ([output("call_1a"), output("call_1a")], "one-output-per-call"),
        ([output("call_2a"), output("call_1a")], "outputs-answer-a-call"),
        ([ASKED, output("call_1a")], "items-come-once"),
        ([SENT, ASKED, output("call_1a")], "items-come-once"),
        ([reference("fc_call_1a"), output("call_1a")], "items-come-once"),
    ],
)
def test_a_continuation_is_judged_with_what_it_continues(given: list[Item], rule: str) -> None:
    """All calls of the response are answered in the same request, and nothing of it comes again."""
    assert rule == answered().judge(continued(*given))[0].rule


def test_an_unanswered_call_in_memory_is_missed_in_the_input() -> None:
    """What is missing for a remembered call is missing from the input."""
    problem = answered().judge(continued(USER))[0]

    assert ("/input", "No tool output found for function call call_1a.") == (problem.pointer, problem.message)


def test_a_response_that_was_never_sent_is_not_found() -> None:
    """An unknown id is refused in the service's words, and the request may come again in full."""
    backend = answered()
    body = continued(output("call_1a"), after="resp_other")

    assert (400, "previous-response-is-kept", True) == first(backend, body)
    assert {
        "message": "Previous response with id 'resp_other' not found.",
        "type": "invalid_request_error",
        "param": "previous_response_id",
        "code": "previous_response_not_found",
    } == error(backend, body)


def test_a_response_that_was_not_to_be_stored_is_not_found() -> None:
    """Who says that a response is not to be stored cannot lean on it: that is no loss of memory."""
    backend = answered(store=False)

    assert (400, "previous-response-is-kept", False) == first(backend, continued(output("call_1a")))


def test_a_service_that_keeps_nothing_finds_no_response() -> None:
    """Without storage every continuation is refused for want of memory, and a whole history is not."""
    backend = answered(stateful=False)

    assert (400, "previous-response-is-kept", True) == first(backend, continued(output("call_1a")))
    assert [] == backend.judge(request(USER, SENT, ASKED, output("call_1a")))


def test_what_was_kept_can_be_lost() -> None:
    """After a loss, continuations are refused with the given code, a replay is taken, and new replies are kept."""
    backend = answered()
    backend.lose_state("previous_response_expired")

    assert "previous_response_expired" == error(backend, continued(output("call_1a")))["code"]
    assert [] == backend.judge(request(USER, SENT, ASKED, output("call_1a")))
    backend.replied(request(USER, SENT, ASKED, output("call_1a")), 2, calls(Call.of("g")).numbered(2))
    assert [] == backend.judge(continued(output("call_2a"), after=SECOND))


def test_conversations_are_not_there() -> None:
    """A request that belongs to a conversation is refused as one whose conversation is gone."""
    backend = answered()

    assert (404, "conversations-are-known", True) == first(backend, request(conversation="conv_a"))
    assert (
        "Conversation with id 'conv_a' not found." == error(backend, request(conversation={"id": "conv_a"}))["message"]
    )
