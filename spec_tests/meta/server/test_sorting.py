"""What a server sends to its model and its tools, sorted to the runs that are open."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.mock_run import MockRun
from looptck.provider.script import Script, step
from looptck.provider.shared import DISPATCH, MODEL, Shared
from looptck.provider.toolbox import Answers, Behaviour, Raises, Returns, Toolbox
from looptck.values.transcript import Received, ToolBegan, UnroutedRequest
from looptck.values.turns import Call, calls, says
from looptck.wires import WIRES
from meta.provider.mock_runs import noted, parsed_reply


def guest(
    number: int, question: str, *tools: str, **behaviours: list[Behaviour]
) -> tuple[MockRun, str, tuple[str, ...]]:
    """An open run."""
    mock_run = MockRun(WIRES["openai-chat"], Script((step(says(f"Answer {number}.")),)), Toolbox({**behaviours}))
    mock_run.opened(f"/c{number}")
    return mock_run, question, tools


def send(shared: Shared, path: str, body: object) -> HttpReply | None:
    """Post to the server's one address."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return shared.answer(HttpRequest("POST", path, {}, raw))


def asked(shared: Shared, *messages: dict[str, Any]) -> HttpReply | None:
    """A question to the model."""
    return send(shared, MODEL + "/chat/completions", {"model": "m", "messages": [*messages]})


def user(content: Any) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": content}


def counts(shared: Shared, kind: type) -> list[int]:
    """How many events of a kind each run has."""
    return [len(noted(mock_run, kind)) for mock_run, _, _ in shared.open_runs]


FIRST, SECOND = "Go on, number 1.", 'Go on, "number" 2.'


@pytest.mark.parametrize(
    "messages",
    [
        [user(SECOND)],
        [user(FIRST), {"role": "assistant", "content": "Well."}, user(SECOND)],
        [user(SECOND), {"role": "assistant", "content": FIRST}],
        [user(FIRST), {"role": "assistant", "content": "Well."}, user(SECOND), user("Go on with the result.")],
        [user([{"type": "text", "text": SECOND}])],
        [user([{"type": "text", "text": 'Go on, "num'}, {"type": "text", "text": 'ber" 2.'}])],
        [user(f"The time is 9:00. {SECOND}")],
    ],
)
def test_a_question_goes_to_its_run(messages: list[dict[str, Any]]) -> None:
    """The last message of the user says whose question it is, in whatever form it stands."""
    shared = Shared([guest(1, FIRST), guest(2, SECOND)])

    reply = asked(shared, *messages)

    assert reply is not None
    assert [0, 1] == counts(shared, Received)
    assert b"Answer 2." in parsed_reply(reply)[2]


def test_of_two_that_ask_the_same_the_last_is_meant() -> None:
    """A question that two runs have goes to the one that began last."""
    shared = Shared([guest(1, FIRST), guest(2, FIRST)])
    asked(shared, user(FIRST))

    assert [0, 1] == counts(shared, Received)


def test_the_only_run_gets_whatever_comes() -> None:
    """Where one run is open, a question that its server has changed and a call of no tool of its are its own."""
    shared = Shared([guest(1, FIRST, "ping")])
    asked(shared, user("Quite another question."))
    send(shared, DISPATCH, {"name": "unknown", "arguments": {}})

    assert ([1], [1], [0]) == (counts(shared, Received), counts(shared, ToolBegan), counts(shared, UnroutedRequest))


def test_a_call_goes_to_the_run_that_has_the_tool() -> None:
    """The tool's name says whose call it is."""
    shared = Shared([guest(1, FIRST, "ping"), guest(2, SECOND, "weather")])

    reply = send(shared, DISPATCH, {"name": "ping", "arguments": {"a": 1}})

    assert reply is not None
    assert [1, 0] == counts(shared, ToolBegan)
    assert [("ping", {"a": 1}, {"name": "ping", "arguments": {"a": 1}})] == [
        (one.tool, one.arguments, one.dispatched.body) for one in noted(shared.open_runs[0][0], ToolBegan)
    ]


@pytest.mark.parametrize("name", ["ping", "weather", "never_offered"])
def test_a_call_goes_to_the_run_whose_model_has_made_it(name: str) -> None:
    """Whichever runs have the tool, and also if none has it."""
    shared = Shared([guest(1, FIRST, "ping"), guest(2, SECOND, "ping", "weather")])
    shared.open_runs[0][0].turns[1] = calls(Call.of(name))

    send(shared, DISPATCH, {"name": name, "arguments": {}})

    assert [1, 0] == counts(shared, ToolBegan)


ODD: list[object] = [b"", b"{", b"[" * 100_000, 1, [], {}, {"messages": 1}, {"messages": [1]}, {"messages": [user(1)]}]


@pytest.mark.parametrize("path", [MODEL + "/chat/completions", DISPATCH])
@pytest.mark.parametrize("body", ODD, ids=range(len(ODD)))
def test_what_belongs_to_nobody_is_a_stray(path: str, body: object) -> None:
    """What cannot be told whose it is gets no answer, and all runs hear of it."""
    shared = Shared([guest(1, FIRST, "ping"), guest(2, SECOND, "weather")])

    assert send(shared, path, body) is None
    assert [1, 1] == counts(shared, UnroutedRequest)
    assert [0, 0] == counts(shared, Received)


def test_with_nobody_there_is_no_answer() -> None:
    """Without a run there is nobody to answer."""
    assert asked(Shared(), user(FIRST)) is None


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (Returns("text"), (200, "application/json", b'{"content":"text"}')),
        (Returns({"a": 1}), (200, "application/json", b'{"a":1}')),
        (Raises("No.", "KeyError"), (500, "application/json", b'{"error":"KeyError: No."}')),
        (Answers(204), (204, "application/json", b"")),
        (Answers(503, b"\xff{", "text/plain"), (503, "text/plain", b"\xff{")),
    ],
)
def test_the_endpoint_answers_as_it_was_told(behaviour: Behaviour, expected: tuple[int, str, bytes]) -> None:
    """A text is content, another value is itself, an error is a status, and any bytes can be had."""
    shared = Shared([guest(1, FIRST, "ping", ping=[behaviour])])

    reply = send(shared, DISPATCH, {"name": "ping", "arguments": {}})

    assert reply is not None
    status, headers, body = parsed_reply(reply)
    assert expected == (status, headers["content-type"], body)
    assert not reply.then_close


def test_an_answer_can_break_off() -> None:
    """A broken answer promises a byte more than it has, and the connection is closed."""
    shared = Shared([guest(1, FIRST, "ping", ping=[Answers(body=b"half", broken=True)])])

    reply = send(shared, DISPATCH, {"name": "ping", "arguments": {}})

    assert reply is not None
    _, headers, body = parsed_reply(reply)
    assert ("5", b"half", True) == (headers["content-length"], body, reply.then_close)


@pytest.mark.parametrize("body", [{"name": "ping"}, {"name": 1, "arguments": {}}, ["ping"], b"{"], ids=repr)
def test_a_call_without_name_or_arguments_runs_nothing(body: object) -> None:
    """A post that is no call is refused, and written down."""
    shared = Shared([guest(1, FIRST, "ping")])

    reply = send(shared, DISPATCH, body)

    assert reply is not None
    assert (400, [0], [1]) == (parsed_reply(reply)[0], counts(shared, ToolBegan), counts(shared, UnroutedRequest))
