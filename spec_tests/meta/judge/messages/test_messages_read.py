"""A Messages request is read into the neutral history, and a turn that comes back is read as it was sent."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from looptck.bench.oracle import agrees
from looptck.values.framing import DEFAULT
from looptck.values.history import Answered, Asked, Offered, Opaque, Said
from looptck.values.images import Shown
from looptck.values.turns import Call, Hosted, Piece, Refusal, Text, Thinking, Turn, Unknown
from looptck.wires.anthropic_messages.encode import body
from looptck.wires.anthropic_messages.read import echo, read
from looptck.wires.anthropic_messages.service import service
from meta.judge.messages.bodies import IMAGE, USER, assistant, block, call, request, result, text, tool, user, without

WORDS = st.text(max_size=6)
PIECES: st.SearchStrategy[Piece] = st.one_of(
    WORDS.map(Text),
    WORDS.map(Refusal),
    st.builds(Thinking, WORDS, st.booleans()),
    st.builds(Hosted, st.sampled_from(["search", "mcp"]), WORDS, st.booleans()),
    st.just(Unknown()),
    st.builds(Call.of, st.just("f"), st.dictionaries(WORDS, WORDS | st.integers() | st.none(), max_size=2)),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["messages", "role", "content", "type", "text", "tools", "thread", "system", "input", "id"]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=20,
)


def test_every_piece_is_read_in_order() -> None:
    """System prompt, texts, calls, results and the rest come in their order, with their places."""
    body = request(
        USER,
        assistant(block("thinking", thinking="t", signature="s"), "x", call("a", input={"q": 1})),
        user(result("a", content=[text("1"), text("2")], is_error=True), "y", IMAGE),
        system=[text("Be "), text("good.")],
    )

    items = read(body).items

    assert (
        Said("system", "Be good."),
        Said("user", "go"),
        Opaque("thinking", {"thinking": "t", "signature": "s"}),
        Said("assistant", "x"),
        Asked("a", "f", '{"q": 1}'),
        Answered("a", "12", failed=True),
        Said("user", "y"),
        Said("user", ""),
    ) == items
    assert (Shown(reference="https://example.org/a.png"),) == getattr(items[-1], "parts", None)
    assert [
        "/system",
        "/messages/0/content",
        "/messages/1/content/0",
        "/messages/1/content/1",
        "/messages/1/content/2",
        "/messages/2/content/0",
        "/messages/2/content/1",
        "/messages/2/content/2",
    ] == [item.pointer for item in items]


def test_a_message_without_content_is_read() -> None:
    """A message that says nothing is not passed over."""
    assert (Said("user", ""), Said("assistant", "")) == read(request(user(), {"role": "assistant"})).items


def test_tools_are_read() -> None:
    """Tools are read with their schema; a tool of the service is none that the loop offers."""
    tools = [tool(description="d"), {"type": "web_search_20250305", "name": "w"}, tool("g", type="custom")]

    assert (Offered("f", "d", {"type": "object"}), Offered("g", "", {"type": "object"})) == read(
        request(tools=tools)
    ).tools


@given(st.lists(PIECES, max_size=5))
def test_an_echo_reads_as_the_turn(pieces: list[Piece]) -> None:
    """The content of a reply, sent back as it is, reads as the turn's echo does."""
    turn = Turn(tuple(pieces)).numbered(1)
    content = body(turn, 1, DEFAULT)["content"]

    got = read(request({"role": "assistant", "content": content})).items

    wanted = echo(turn) or [Said("assistant", "")]
    assert len(wanted) == len(got)
    assert all(map(agrees, wanted, got))


def test_what_clients_may_leave_out_does_not_count() -> None:
    """A hosted tool reads the same without its caller and its nulls, and differs once its content does."""
    turn = Turn((Hosted(),)).numbered(1)
    used, found = body(turn, 1, DEFAULT)["content"]
    bare = {**without(found, "caller"), "content": [without(found["content"][0], "page_age")], "cache_control": None}
    changed = {**found, "content": []}

    assert echo(turn) == list(read(request(assistant(without(used, "caller"), bare))).items)
    assert echo(turn) != list(read(request(assistant(used, changed))).items)


def test_a_turn_that_declines_has_no_echo() -> None:
    """The words in which a model declines are no block, so nothing comes back."""
    assert [] == echo(Turn((Refusal("No."),)))


@given(JSON, st.booleans())
def test_any_json_is_read(value: object, stateful: bool) -> None:
    """Reading never fails, whatever was sent, with or without memory."""
    backend = service(stateful)
    backend.replied(request(thread={"type": "create"}), 1, Turn((Text("x"),)))
    wrapped = {"messages": value, "tools": value, "system": value, "thread": value}
    known = {**wrapped, "thread": {"type": "continue", "previous_message_id": body(Turn(), 1, DEFAULT)["id"]}}

    for some in (value, wrapped, known):
        assert backend.read(some).items == backend.read(some).items
