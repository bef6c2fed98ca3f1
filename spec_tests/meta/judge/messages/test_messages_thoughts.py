"""A Messages service knows the thoughts that it has sent, and takes back what else it has sent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, Text, Thinking, Turn, Unknown, calls, turn
from looptck.wires.anthropic_messages.encode import body
from looptck.wires.anthropic_messages.service import MessagesService, service
from meta.judge.messages.bodies import USER, Message, assistant, block, call, request, result, user


def _answered(content: list[Any]) -> list[Message]:
    """The content of an assistant message, and a message that answers all its calls."""
    asked = [block["id"] for block in content if block["type"] == "tool_use"]
    return [{"role": "assistant", "content": content}, user(*map(result, asked))]


def _sent(*turns: Turn) -> tuple[MessagesService, list[list[Any]]]:
    """A service that has sent these turns, and the blocks of each."""
    backend = service(False)
    numbered = [some.numbered(n) for n, some in enumerate(turns, 1)]
    for n, some in enumerate(numbered, 1):
        backend.replied(request(), n, some)
    return backend, [body(some, n, DEFAULT)["content"] for n, some in enumerate(numbered, 1)]


THINKS = turn(Thinking("one"), "Well.", Thinking("two"), Thinking("three", redacted=True), Call.of("f"))


def _rules(backend: MessagesService, *messages: object) -> list[str]:
    return [problem.rule for problem in backend.judge(request(USER, *messages))]


def test_thoughts_come_back_as_they_were() -> None:
    """Two turns with thoughts, returned whole, are accepted."""
    backend, (first, second) = _sent(THINKS, THINKS)

    assert [] == _rules(backend, *_answered(first), *_answered(second))


def test_unsigned_thoughts_come_back() -> None:
    """A recorded server that signs nothing takes back what it sent; other texts without a signature it never sent."""
    unsigned = turn(Thinking("one", recorded_signature=""), Thinking("two", recorded_signature=""), Call.of("f"))
    backend, (first, second) = _sent(unsigned, THINKS)

    assert [] == _rules(backend, *_answered(first), *_answered(second))
    changed = [{**first[0], "thinking": "other"}, *first[1:]]
    assert ["thoughts-are-genuine"] == _rules(backend, *_answered(changed), *_answered(second))


@given(st.sets(st.integers(0, 3)))
def test_thoughts_may_be_dropped(dropped: set[int]) -> None:
    """Any of the thoughts may be left out, as the real service lets them be."""
    backend, (content,) = _sent(THINKS)

    assert [] == _rules(backend, *_answered([one for at, one in enumerate(content) if at not in dropped]))


@pytest.mark.parametrize(
    ("place", "members", "rule", "words"),
    [
        (
            0,
            {"signature": "x"},
            "thoughts-are-genuine",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        (3, {"data": "x"}, "thoughts-are-genuine", "messages.1.content.3: Invalid `data` in `redacted_thinking` block"),
        (
            0,
            {"thinking": "x"},
            "thoughts-are-unchanged",
            (
                "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot "
                "be modified. These blocks must remain as they were in the original response."
            ),
        ),
    ],
)
def test_a_changed_thought_is_refused(place: int, members: dict[str, Any], rule: str, words: str) -> None:
    """A signature, data or text that the service did not send is refused."""
    backend, (content,) = _sent(THINKS)
    content[place] |= members

    (problem,) = backend.judge(request(USER, *_answered(content)))

    assert (rule, words) == (problem.rule, problem.message)


@pytest.mark.parametrize("order", [(2, 1, 0, 3, 4), (0, 1, 3, 2, 4), (0, 0, 1, 2, 3, 4)])
def test_thoughts_keep_their_order(order: tuple[int, ...]) -> None:
    """Thoughts of the latest turn that were moved or doubled are refused; those of earlier turns are not looked at."""
    backend, (content, later) = _sent(THINKS, THINKS)
    moved = _answered([content[at] for at in order])

    assert ["thoughts-are-unchanged"] == _rules(backend, *moved)
    assert [] == _rules(backend, *moved, *_answered(later))


def test_a_changed_text_is_refused_in_earlier_turns_too() -> None:
    """In an earlier turn a text that the signature is not for makes the signature invalid."""
    backend, (content, later) = _sent(THINKS, THINKS)
    content[0]["thinking"] = "x"

    assert ["thoughts-are-genuine"] == _rules(backend, *_answered(content), *_answered(later))


def test_the_latest_turn_may_span_messages() -> None:
    """Consecutive assistant messages are one turn, so their thoughts keep one order."""
    backend, (first, second) = _sent(turn(Thinking("one"), stop="pause"), turn(Thinking("two"), Call.of("f")))
    ended = _answered(second)

    assert [] == _rules(backend, assistant(*first), *ended)
    assert ["thoughts-are-unchanged"] == _rules(backend, assistant(second[0]), assistant(first[0]))


def test_foreign_thoughts_pass_where_none_were_sent() -> None:
    """A service that has sent no thoughts takes any: they may be from an earlier run."""
    backend, _ = _sent(calls(Call.of("f")))

    assert [] == _rules(backend, assistant(block("thinking", thinking="t", signature="s"), "x"), USER)


@pytest.mark.parametrize(
    ("sent", "messages"),
    [
        (turn(Unknown(), stop="pause"), [assistant(block("x_unknown", id="unknown_1a"))]),
        (
            calls(Call("f", id="a"), Call("g", id="a")),
            [assistant(call("a"), call("a")), user(result("a"), result("a"))],
        ),
        (calls(Call("f", id="f.0:1")), [assistant(call("f.0:1")), user(result("f.0:1"))]),
        (turn(Text("Looking. "), stop="pause"), [assistant("Looking. ")]),
    ],
    ids=["unknown block", "twin ids", "odd id", "blank at the end"],
)
def test_what_was_sent_is_taken_back(sent: Turn, messages: list[Message]) -> None:
    """What no loop could have done better is not held against it, though the judge alone refuses it."""
    ignorant, _ = _sent()
    backend, _ = _sent(sent)

    assert _rules(ignorant, *messages)
    assert [] == _rules(backend, *messages)


def test_an_excuse_does_not_cover_thoughts() -> None:
    """A thought is looked at also where another block of the request had to be excused."""
    backend, (content,) = _sent(turn(Thinking("one"), Unknown(), Call.of("f")))
    content[0]["signature"] = "x"

    assert ["thoughts-are-genuine"] == _rules(backend, *_answered(content))
