"""What holds on every wire, plain and stream, sync and async."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import pytest
import respx
from hypothesis import given
from hypothesis import strategies as st

from looptck_reference import (
    PROMPTY_SPEC,
    Agent,
    ProviderError,
    Stop,
    StreamBroken,
    Tool,
    ToolCall,
    TurnCut,
)
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.values import Delta
from meta.kit.steady import STEADY
from meta.reference.reference_driving import TOOL, case
from meta.reference.reference_provider import Body, Run, replies
from meta.reference.reference_replies import EVENT_STREAM, QUESTION, Json
from meta.reference.reference_wires import CHAT, MESSAGES, PARIS, RESPONSES, SIDES, Side, halves

OSLO = ToolCall("call_2", "weather", '{"city":"Oslo"}')
BARE = ToolCall("call_1", "weather", "{}")


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_rounds_and_an_answer(side: Side, run: Run, agent: Agent, ran: list[object], stream: bool) -> None:
    """Tools run once, in order, with their arguments, and the model sees each result under its call's id."""
    turns = [("I look.", [PARIS, OSLO]), ("", [BARE]), ("18 °C", [])]
    route = replies(*[side.body(text, *calls, stream=stream) for text, calls in turns], url=side.url)

    answer = run(agent, side.wire, stream=stream)

    assert ("18 °C", Stop.END) == (answer.text, answer.stop)
    assert [{"city": "Paris"}, {"city": "Oslo"}, {}] == ran
    results = side.answers(json.loads(route.calls.last.request.content))
    assert [("call_1", "sunny"), ("call_2", "sunny"), ("call_1", "sunny")] == results


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_the_history_of_a_stream_is_that_of_a_plain_reply(side: Side, run: Run, agent: Agent, stream: bool) -> None:
    """Whatever the form of the replies, the next request is the same."""
    plain = replies(side.body("I look.", PARIS, OSLO, stream=False), side.body("x", stream=False), url=side.url)
    run(agent, side.wire)
    sent = json.loads(plain.calls.last.request.content)
    other = replies(side.body("I look.", PARIS, OSLO, stream=stream), side.body("x", stream=stream), url=side.url)

    run(agent, side.wire, stream=stream)

    again = json.loads(other.calls.last.request.content)
    assert sent == {name: value for name, value in again.items() if name not in {"stream", "stream_options"}}


@respx.mock
def test_text_is_forwarded_when_it_arrives(side: Side, run: Run, agent: Agent) -> None:
    """The caller has each piece of text before the next bytes are read."""
    heard: list[str] = []
    parts = [part for event in side.events("18°C") for part in (side.sse(event), lambda: heard.append("/"))]
    respx.post(side.url).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=Body(*parts)))

    answer = run(agent, side.wire, stream=True, on_text=heard.append)

    assert "18/°C" == "".join(heard).strip("/")
    assert "18°C" == answer.text


@respx.mock
def test_a_call_is_known_when_it_begins(side: Side, run: Run, agent: Agent) -> None:
    """A dialect that spares the caller the text of tool turns holds back what comes behind the first call."""
    head, tail = side.around("I look.", [PARIS], Stop.CALLS)
    text, call = side.lanes("I look.", [PARIS], halves)
    replies(side.sse(*head, *call, *text, *tail), side.body("x"), url=side.url)
    heard: list[str] = []

    run(agent, side.wire, dialect=PROMPTY_SPEC, stream=True, on_text=heard.append)

    assert ["x"] == heard


@respx.mock
def test_a_json_body_for_a_stream_is_read(side: Side, run: Run, agent: Agent) -> None:
    """A server that does not stream answers all the same, and the caller gets its text in one piece."""
    replies(side.body("", PARIS, stream=False), side.body("18 °C", stream=False), url=side.url)
    heard: list[str] = []

    assert "18 °C" == run(agent, side.wire, stream=True, on_text=heard.append).text
    assert ["18 °C"] == heard


LOST: list[Any] = [
    pytest.param(lambda side: side.events("x", PARIS, stop=Stop.LENGTH), TurnCut, id="length"),
    pytest.param(lambda side: [*side.events("x", PARIS)[:-1], side.error], ProviderError, id="error-event"),
    pytest.param(lambda side: [side.error, *side.events("x", PARIS)], ProviderError, id="error-event-first"),
    pytest.param(
        lambda side: [*side.events("x", PARIS)[:-1], {"error": {"message": "o"}}], ProviderError, id="untyped"
    ),
    pytest.param(lambda side: side.events("x", PARIS)[:-1], StreamBroken, id="no-terminal-event"),
    pytest.param(lambda side: side.events("x", PARIS)[:-2], StreamBroken, id="short"),
    pytest.param(lambda _: [], StreamBroken, id="nothing"),
]


@respx.mock
@pytest.mark.parametrize(("events", "error"), LOST)
def test_a_lost_turn_runs_nothing(
    side: Side, run: Run, agent: Agent, ran: list[object], events: Any, error: type[Exception]
) -> None:
    """Whatever is wrong with a stream, no call of it is run and no success is told."""
    replies(side.sse(*events(side)), url=side.url)

    with pytest.raises(error):
        run(agent, side.wire, stream=True)

    assert [] == ran


@respx.mock
@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.CONTENT_FILTER])
def test_a_cut_plain_turn_runs_nothing(side: Side, run: Run, agent: Agent, ran: list[object], stop: Stop) -> None:
    """Half a call is no call."""
    if side is MESSAGES and stop is Stop.CONTENT_FILTER:
        stop = Stop.LENGTH
    replies(side.body("x", PARIS, stop=stop, stream=False), url=side.url)

    with pytest.raises(TurnCut, match=stop):
        run(agent, side.wire)

    assert [] == ran


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("side", [MESSAGES, RESPONSES], ids=lambda side: side.name)
def test_a_refusal_runs_nothing(side: Side, run: Run, agent: Agent, ran: list[object], stream: bool) -> None:
    """Its text is the answer, and its calls are nobody's."""
    replies(side.body("no", PARIS, stop=Stop.REFUSAL, stream=stream), url=side.url)

    answer = run(agent, side.wire, stream=stream)

    assert ("no", Stop.REFUSAL, []) == (answer.text, answer.stop, ran)


@respx.mock
def test_a_cut_behind_the_end_mark_costs_nothing(side: Side, run: Run, agent: Agent) -> None:
    """Behind the end mark nothing can be missing."""
    body = Body(side.sse(*side.events("18 °C")), httpx.RemoteProtocolError("cut"))
    respx.post(side.url).mock(return_value=httpx.Response(200, headers=EVENT_STREAM, stream=body))

    assert "18 °C" == run(agent, side.wire, stream=True).text


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_http_errors(side: Side, run: Run, agent: Agent, stream: bool) -> None:
    """An HTTP error has status and the provider's words, and nothing is sent twice."""
    route = respx.post(side.url).respond(529, json={"type": "error", "error": {"type": "o", "message": "overloaded"}})

    with pytest.raises(ProviderError, match="overloaded") as caught:
        run(agent, side.wire, stream=stream)

    assert (529, 1) == (caught.value.status, route.call_count)


@respx.mock
@pytest.mark.parametrize("said", ["{", "[]", "5", '{"n": NaN}'])
def test_bad_arguments_are_told_to_the_model(side: Side, run: Run, agent: Agent, ran: list[object], said: str) -> None:
    """What a model streams is not always an object; the call is answered and the run goes on."""
    route = replies(side.body("", ToolCall("c", "weather", said)) if side is not MESSAGES else _badly(said),
                    side.body("x"), url=side.url)  # fmt: skip

    assert "x" == run(agent, side.wire, stream=True).text

    [(call_id, told)] = side.answers(json.loads(route.calls.last.request.content))
    assert ("c", []) == (call_id, ran)
    assert "not a JSON object" in told


def _badly(said: str) -> bytes:
    lane = MESSAGES.lanes("", [ToolCall("c", "weather", "{}")], lambda _: halves(said))[0]
    head, tail = MESSAGES.around("", [], Stop.CALLS)
    return MESSAGES.sse(*head, *lane, *tail)


@respx.mock
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("stream", [False, True])
def test_the_driver_speaks_every_wire(side: Side, mode: str, stream: bool) -> None:
    """A case names its wire, and the base URL is the same for all."""
    toolbox = respx.post(TOOL).respond(json={"value": "sunny"})
    replies(side.body("", PARIS, stream=stream), side.body("18 °C", stream=stream), url=side.url)
    driver, chunks = Driver(), list[str]()
    made = case(wire=side.name, mode=mode, stream=stream)

    run_async = mode == "async"
    outcome = asyncio.run(driver.run_async(made, chunks.append)) if run_async else driver.run(made, chunks.append)

    assert {"kind": "value", "text": "18 °C", "stop": "end"} == outcome
    assert {"arguments": {"city": "Paris"}} == json.loads(toolbox.calls.last.request.content)
    assert ("18 °C" if stream else "") == "".join(chunks)


def test_a_system_message_keeps_its_words(side: Side) -> None:
    """It is sent once, wherever the wire has it, and no message is changed."""
    system = {"role": "system", "content": "Be brief."}
    agent = Agent("m", [system, QUESTION])

    body = side.wire.request(agent, side.wire.opening(agent.messages), stream=False)

    history = body["input"] if side is RESPONSES else body["messages"]
    assert ([QUESTION], "Be brief.") == (history, body["system"]) if side is MESSAGES else [system, QUESTION] == history


def test_tools_are_left_out_where_there_are_none(side: Side) -> None:
    """No empty list of them."""
    assert "tools" not in side.wire.request(Agent("m", [QUESTION]), [QUESTION], stream=False)
    assert "tools" in side.wire.request(Agent("m", [QUESTION], [Tool("ping")]), [QUESTION], stream=False)


TEXT = st.text('aé😀\u2028\u0085" \\', max_size=8)
CALLS = st.lists(
    st.tuples(st.text("xyz", min_size=1, max_size=4), st.dictionaries(TEXT, TEXT | st.integers(), max_size=2)),
    max_size=3,
)


@st.composite
def shaped(draw: st.DrawFn) -> tuple[Side, str, list[ToolCall], list[Json]]:
    """What a model says, and one of the many ways to stream it."""
    side = draw(st.sampled_from(SIDES), label="wire")
    said = draw(CALLS, label="calls")
    calls = [ToolCall(f"call_{at}", name, json.dumps(given)) for at, (name, given) in enumerate(said)]
    text = draw(TEXT, label="text")
    stop = Stop.CALLS if calls else Stop.END
    head, tail = side.around(text, calls, stop)
    lanes = side.lanes(text, calls, lambda whole: draw(cuts(whole), label="pieces"))
    # Parts begin in order, as an index does; what follows comes in any order, and with anything between.
    events = [*head, *[lane.pop(0) for lane in lanes if lane]]
    while lanes := [lane for lane in lanes if lane]:
        events.append(draw(st.sampled_from(lanes), label="next").pop(0))
        events += [side.noise] * draw(st.integers(0, 1), label="noise")
    return side, text, calls, [*events, *tail]


@st.composite
def cuts(draw: st.DrawFn, text: str) -> list[str]:
    """The text in pieces, some of which may be empty."""
    borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[start:end] for start, end in zip([0, *borders], [*borders, len(text)], strict=True)]


@STEADY
@given(shaped(), st.data())
def test_neither_shaping_nor_cutting_changes_anything(
    made: tuple[Side, str, list[ToolCall], list[Json]], data: st.DataObject
) -> None:
    """However a turn is fragmented and interleaved, and its bytes cut, it is the turn of the plain reply."""
    side, text, calls, events = made
    body = side.sse(*events)
    borders = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=8), label="borders"))
    spans = zip([0, *borders], [*borders, len(body)], strict=True)

    turn, forwarded = side.received(*[body[start:end] for start, end in spans])

    plain = side.wire.decode(side.plain(text, calls, turn.stop))
    assert (text, text, plain.stop) == (turn.text, forwarded, turn.stop)
    assert [(call.id, call.name, json.loads(call.arguments)) for call in plain.calls] == [
        (call.id, call.name, json.loads(call.arguments)) for call in turn.calls
    ]
    assert side.wire.echo(plain) == side.wire.echo(turn)


@pytest.mark.parametrize("size", [10, 1000])
def test_no_byte_is_parsed_twice(side: Side, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser reads each event once and never the arguments so far, so the work grows as the stream does."""
    work: list[int] = []

    class Counting(json.JSONDecoder):
        def decode(self, s: str, *more: Any) -> Any:
            work.append(len(s))
            return super().decode(s, *more)

    monkeypatch.setattr("looptck_reference.wires.events.DECODER", Counting())
    arguments = json.dumps({"text": "1234" * size})
    events = side.events(
        "", ToolCall("a", "x", arguments), cut=lambda text: [text[at : at + 5] for at in range(0, len(text), 5)]
    )

    turn = side.turn_of(*events)

    assert arguments == turn.calls[0].arguments
    assert len(events) == len(work)


@pytest.mark.parametrize("data", ["{", "[]", '"x"', "null", "[" * 100_000])
def test_what_is_no_event_breaks_the_stream(side: Side, data: str) -> None:
    """Text that is no JSON object is never passed over, but for the null of servers that write Chat Completions."""
    if data == "null" and side is CHAT:
        assert side.wire.stream().add(data) == Delta()
        return
    with pytest.raises(StreamBroken):
        side.wire.stream().add(data)


@pytest.mark.parametrize("side", [MESSAGES, RESPONSES], ids=lambda side: side.name)
def test_a_stray_end_mark_of_another_wire_means_nothing(side: Side) -> None:
    """Gateways add `[DONE]`; it neither ends the stream nor makes it whole."""
    bodies = [side.sse(event) for event in side.events("x", PARIS)]

    assert side.received(*bodies) == side.received(*[piece for body in bodies for piece in (body, b"data: [DONE]\n\n")])
    with pytest.raises(StreamBroken):
        side.received(*bodies[:-1], b"data: [DONE]\n\n")


def test_nothing_counts_after_the_end_mark(side: Side) -> None:
    """What follows the end mark belongs to nobody."""
    body = side.sse(*side.events("x"))

    assert side.received(body)[0] == side.received(body, b"data: not JSON\n\n", body)[0]


def test_the_driver_claims_every_wire() -> None:
    """By the names that the kit has for them."""
    assert sorted(side.name for side in SIDES) == Driver().start()["wires"]
    assert CHAT.wire is Driver.wires["openai-chat"]
