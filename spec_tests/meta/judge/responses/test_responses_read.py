"""Requests of the Responses wire read into the neutral history."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked, Item, Offered, Opaque, Said
from looptck.values.turns import Call, Hosted, Piece, Refusal, Text, Thinking, Turn, Unknown, turn
from looptck.wires.openai_responses.encode import body as reply
from looptck.wires.openai_responses.read import echo
from looptck.wires.openai_responses.service import service
from meta.judge.responses.bodies import (
    USER,
    call,
    custom,
    custom_output,
    namespace,
    output,
    part,
    reference,
    request,
    says,
    thought,
    tool,
)
from meta.judge.responses.judged import LEAVES, NAMES


def read(*items: object, **options: object) -> list[Item]:
    """The history of a request, as a service reads it that has answered nothing yet."""
    return list(service(True).read(request(*items, **options)).items)


def test_a_request_is_read() -> None:
    """Model, stream, tools with a name, instructions, texts, calls and outputs are read with their pointers."""
    body = request(
        USER,
        call("a", arguments='{"x": 1}'),
        output("a", output=[part("input_text", text="1"), part("input_text", text="2")]),
        custom("b", input="free"),
        custom_output("b"),
        says("Done."),
        instructions="Be good.",
        stream=True,
        tools=[tool(description="F."), {"type": "web_search"}],
    )

    found = service(True).read(body)

    assert ("m", True, None) == (found.model, found.stream, found.continues)
    assert (Offered("f", "F.", tool()["parameters"], strict=True),) == found.tools
    assert [
        Said("system", "Be good."),
        Said("user", "go"),
        Asked("a", "f", '{"x": 1}'),
        Answered("a", "12"),
        Asked("b", "f", "free"),
        Answered("b", "done"),
        Said("assistant", "Done."),
    ] == list(found.items)
    assert ["/instructions", *(f"/input/{place}" for place in range(6))] == [item.pointer for item in found.items]
    assert ["/tools/0"] == [offered.pointer for offered in found.tools]


def test_tools_of_a_namespace_are_offered() -> None:
    """A namespace is no tool: those in it are offered, each at its place."""
    body = request(tools=[tool("a"), namespace(tool("b", strict=False), tool("c"))])

    found = service(True).read(body).tools

    assert [("a", True), ("b", False), ("c", True)] == [(offered.name, offered.strict) for offered in found]
    assert ["/tools/0", "/tools/1/tools/0", "/tools/1/tools/1"] == [offered.pointer for offered in found]


def test_a_text_is_a_message_of_the_user() -> None:
    """An input that is a string is what the user says."""
    assert [Said("user", "go")] == read(input="go")
    assert "/input" == read(input="go")[0].pointer


def test_silence_of_the_model_is_left_out() -> None:
    """A message of the model without text says nothing; one of the user says the empty text."""
    assert [Said("user", "")] == read(says(""), {"role": "user", "content": ""})


def test_a_thought_is_its_id() -> None:
    """A thought is read as its id; an encrypted content that nobody issued tells it apart."""
    assert [Opaque("reasoning", {"id": "rs_a"})] == read(thought("rs_a", summary=[part("summary_text")]))
    assert [Opaque("reasoning", {"id": None, "encrypted_content": "x"})] == read(thought(None, encrypted_content="x"))


def test_other_items_are_kept_but_for_their_status() -> None:
    """Of an item that a loop does not understand all is kept that says what is in it."""
    search = {"type": "web_search_call", "id": "ws_a", "action": {"type": "search"}, "status": "completed"}

    assert [Opaque("web_search_call", {"id": "ws_a", "action": {"type": "search"}})] == read(search)
    assert read(search) == read({**search, "status": None, "x_unknown": 1})
    assert read(search) == read({**search, "action": {"type": "search", "sources": None}})


def test_an_echo_says_each_piece() -> None:
    """A turn comes back as its items, in their order."""
    pieces: tuple[Piece | str, ...] = ("I look.", Thinking("hm"), Call.of("f"), Refusal("No."), Unknown())

    assert [
        Said("assistant", "I look."),
        Opaque("reasoning", {"id": "rs_thought_1a"}),
        Asked("call_1a", "f", "{}"),
        Said("assistant", "No."),
        Opaque("x_unknown", {"id": "unknown_1a"}),
    ] == echo(turn(*pieces).numbered(1))


TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
PIECES: st.SearchStrategy[Piece] = st.one_of(
    st.builds(Text, TEXTS, st.sampled_from([None, "commentary"])),
    st.builds(Refusal, TEXTS),
    st.builds(Call, st.sampled_from(["f", "g"]), TEXTS, custom=st.booleans()),
    st.builds(Thinking, TEXTS, st.booleans()),
    st.builds(Hosted, st.sampled_from(["search", "mcp"]), TEXTS, st.booleans()),
    st.builds(Unknown),
)
TURNS = st.lists(PIECES, min_size=1, max_size=5).map(lambda pieces: Turn(tuple(pieces)).numbered(1))


@given(TURNS, st.booleans())
def test_a_returned_turn_reads_as_its_echo(sent: Turn, unknown_fields: bool) -> None:
    """Any turn whose output comes back as it was is accepted but for missing answers, and reads as its echo."""
    backend = service(True)
    backend.replied(request(), 1, sent)
    body = request(USER, *reply(sent, 1, DEFAULT.but(unknown_fields=unknown_fields))["output"])

    assert [Said("user", "go"), *echo(sent)] == list(backend.read(body).items)
    assert {"every-call-is-answered"} >= {problem.rule for problem in backend.judge(body)}


@given(TURNS)
def test_a_remembered_turn_reads_as_its_echo(sent: Turn) -> None:
    """Any turn that is leaned on reads as its echo."""
    backend = service(True)
    backend.replied(request(), 1, sent)
    body = request(input=[], previous_response_id="resp_looptck0000000000000001")

    assert [Said("user", "go"), *echo(sent)] == list(backend.read(body).items)


ANY = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=3) | LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES | st.sampled_from(["tools", "arguments"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(ANY)
def test_any_body_is_read(body: object) -> None:
    """Reading a body, and one with anything as its input, never fails."""
    backend = service(True)

    assert backend.read(body).continues is None
    assert backend.read(request(input=body)).model == "m"
    assert backend.read(request(input=[body, body], tools=body, instructions=body)).model == "m"


@pytest.mark.parametrize(
    ("items", "options", "relies"),
    [
        ([says("Hello.")], {}, False),
        ([reference("msg_a")], {}, True),
        ([says("Hello.")], {"previous_response_id": "resp_a"}, True),
    ],
    ids=["whole", "reference", "previous"],
)
def test_what_relies_on_the_service(items: list[object], options: dict[str, object], relies: bool) -> None:
    """A request relies on the service's state if it names a stored reply or a stored item."""
    assert relies == service(True).read(request(*items, **options)).relies
