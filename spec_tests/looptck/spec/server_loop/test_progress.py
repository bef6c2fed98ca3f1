"""Server-side loops: how tool runs are reported to the client, by events of a stream and records of a reply."""

from __future__ import annotations

from typing import Any

from looptck.bench.checks import requirement
from looptck.bench.client import Reply, schemas
from looptck.bench.client.reply import DONE, PROGRESS, SERVER_EVENTS
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.replies import (
    LODZ,
    ONE_ROUND,
    PARIS,
    PING,
    THREE_ROUNDS,
    as_json,
    events_of_phase,
    in_calling_alone,
    reply_after_rounds,
)
from looptck.spec.server_loop.sessions import fresh
from looptck.values.lenient import as_object
from looptck.values.plain import plain
from looptck.values.turns import calls, says
from looptck.values.verdicts import NotApplicable, NotReached

CHUNK = "chat.completion.chunk"
ENDS = ("response.completed", "response.incomplete", "response.failed")


@requirement("server-plain-reply-records-each-round")
def test_records_of_three_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """A reply after three tool runs has three records in order, and one without tool runs has none."""
    scenario.plays(*THREE_ROUNDS)
    run = server.ask()

    records = [(one.get("name"), as_json(one.get("arguments"))) for one in reply_after_rounds(run, 3).records]
    assert run.tools_ran == records

    scenario.plays(says("Done."))
    assert [] == [*reply_after_rounds(server.ask(), 0).records]


@requirement("server-plain-reply-records-each-round")
def test_records_of_a_later_request(scenario: Scenario, server: ServerUnderTest) -> None:
    """The second request of a session has the record of its own tool run, and none of the first request."""
    session = fresh()
    scenario.plays(*ONE_ROUND)
    reply_after_rounds(server.ask(session=session), 1)
    scenario.plays(calls(PARIS), says("Done."))

    reply = reply_after_rounds(server.ask(session=session), 1)

    recorded = [record.get("name") for record in reply.records]
    assert ["weather"] == recorded, f"the request ran weather, and its reply records {plain(recorded)}"


@requirement("server-progress-stands-around-each-run")
def test_progress_of_three_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Three tool runs lead to six events: calling and complete of each, in pairs of one round."""
    scenario.plays(*THREE_ROUNDS)

    reported = reply_after_rounds(server.ask(), 3).progress

    assert ["calling", "complete"] * 3 == [event.phase for event in reported]
    assert [event.round for event in reported[::2]] == [event.round for event in reported[1::2]]


@requirement("server-calling-names-the-tool")
def test_names_in_calling(scenario: Scenario, server: ServerUnderTest) -> None:
    """Each calling event has the name of the tool that is about to run."""
    scenario.plays(*THREE_ROUNDS)

    reply = reply_after_rounds(server.ask(), 3)

    assert ["ping", "weather", "weather"] == [event.tool for event in events_of_phase(reply, "calling")]


@requirement("server-calling-arguments-are-parsed")
def test_form_of_the_arguments(scenario: Scenario, server: ServerUnderTest) -> None:
    """The arguments in calling events are a JSON object, whatever they contain; the text of one is recorded."""
    scenario.plays(calls(LODZ), says("Done."))

    arguments = events_of_phase(reply_after_rounds(server.ask(), 1), "calling")[0].data.get("arguments")

    if isinstance(arguments, str) and as_json(arguments) == as_json(LODZ.arguments):
        server.implementation.diverges("calling_arguments", "text")
        raise NotApplicable("the arguments are the text of a JSON object, as in later versions of the server")
    assert isinstance(arguments, dict), f"the arguments are {arguments!r}"
    server.implementation.diverges("calling_arguments", "parsed")


@requirement("server-complete-of-custom-repeats-the-arguments")
def test_arguments_in_complete(scenario: Scenario, server: ServerUnderTest) -> None:
    """The complete event of a dispatched tool has the arguments of its call."""
    scenario.plays(calls(LODZ), says("Done."))

    reply = reply_after_rounds(server.ask(), 1)

    data = events_of_phase(reply, "complete")[0].data
    in_calling_alone(reply, "arguments", LODZ.arguments)
    assert "arguments" in data, f"the complete event has {', '.join(data)}, and no arguments"
    assert as_json(LODZ.arguments) == as_json(data["arguments"])


@requirement("server-rounds-are-numbered-from-zero")
def test_numbers_of_three_rounds(scenario: Scenario, server: ServerUnderTest) -> None:
    """Three rounds have the numbers 0, 1 and 2, in records and in events."""
    scenario.plays(*THREE_ROUNDS)

    reply = reply_after_rounds(server.ask(), 3)

    if reply.stream:
        assert [0, 1, 2] == [event.round for event in events_of_phase(reply, "calling")]
        assert [0, 1, 2] == [event.round for event in events_of_phase(reply, "complete")]
    else:
        assert [0, 1, 2] == [record.get("round") for record in _records(reply)]


@requirement("server-records-tell-the-result")
def test_results_in_records(scenario: Scenario, server: ServerUnderTest) -> None:
    """Each record has the documented members, and the tool's result."""
    scenario.returns("ping", "pong")
    scenario.returns("weather", "5 °C and rain")
    scenario.plays(calls(PING), calls(PARIS), says("Done."))

    records = _records(reply_after_rounds(server.ask(), 2))

    found = schemas.faults("loop-members", {"agentic_tool_calls": records})
    assert [] == found, f"the records do not fit their schema: {schemas.in_words(found)}"
    assert ["pong", "5 °C and rain"] == [record["result_content"] for record in records]


@requirement("server-chunks-are-unnamed-and-progress-is-named")
def test_names_of_events(scenario: Scenario, server: ServerUnderTest) -> None:
    """Chunks and the end mark have no event name; the loop's own events are named after their type."""
    scenario.plays(*ONE_ROUND)

    events = [(event.name, _kind(event.value)) for event in reply_after_rounds(server.ask(), 1).events]

    if not {PROGRESS, CHUNK} <= {kind for _, kind in events}:
        raise NotReached(f"the stream lacks chunks or progress events, it has {events}")
    assert [] == [name for name, kind in events if name and kind in (CHUNK, DONE)]
    assert [] == [kind for name, kind in events if kind in SERVER_EVENTS and name != kind]


@requirement("server-chunks-share-their-id")
def test_ids_of_chunks(scenario: Scenario, server: ServerUnderTest) -> None:
    """The chunks of each of two turns have the same id; another turn may have another."""
    scenario.plays(calls(PING, text="Let me look at that. "), says("It is sunny in Paris, and dry. " * 5))

    reply = reply_after_rounds(server.ask(), 1)

    parts: list[list[str]] = [[]]
    for event in reply.events:
        kind = _kind(event.value)
        if kind == CHUNK:
            parts[-1].append(str(as_object(event.value).get("id")))
        elif kind == PROGRESS and parts[-1]:
            parts.append([])
    if len(parts[-1]) < 2:
        raise NotReached(f"control: the turn of the answer has {len(parts[-1])} chunks")
    ids = next((list(dict.fromkeys(part)) for part in parts if len({*part}) > 1), [])
    assert not ids, f"the chunks of one turn have {len(ids)} ids: {', '.join(ids[:3])}"


@requirement("server-progress-is-told-on-responses")
def test_progress_on_responses(scenario: Scenario, server: ServerUnderTest) -> None:
    """Both events of a round come before the event that ends the response."""
    scenario.plays(*ONE_ROUND)

    reply = reply_after_rounds(server.ask(), 1)

    kinds = [_kind(event.value) for event in reply.events]
    ends = [at for at, kind in enumerate(kinds) if kind in ENDS]
    if not ends:
        raise NotReached(f"no event ends the response: {kinds}")
    reported = [(event.tool, event.phase) for event in reply.progress if event.at < ends[0]]
    assert [("ping", "calling"), ("ping", "complete")] == reported


@requirement("server-progress-is-told-on-messages")
def test_progress_on_messages(scenario: Scenario, server: ServerUnderTest) -> None:
    """Both events of a round come between message_start and message_stop, under their own name."""
    scenario.plays(*ONE_ROUND)

    events = reply_after_rounds(server.ask(), 1).events

    kinds = [_kind(event.value) for event in events]
    if "message_start" not in kinds or "message_stop" not in kinds:
        raise NotReached(f"the message does not both start and stop: {kinds}")
    inside = events[kinds.index("message_start") : kinds.index("message_stop")]
    reported = [(event.name, event.value.get("phase")) for event in inside if _kind(event.value) == PROGRESS]
    assert [(PROGRESS, "calling"), (PROGRESS, "complete")] == reported
    assert 2 == kinds.count(PROGRESS)


def _records(reply: Reply) -> list[Any]:
    """The records of a reply. Raises NotReached if there is none."""
    if not reply.records:
        raise NotReached(f"the reply records no round: {reply}")
    return [*reply.records]


def _kind(value: Any) -> str:
    """The type or object member of an event; the end mark is a separate kind."""
    if not isinstance(value, dict):
        return DONE if value == DONE else ""
    return str(value.get("type") or value.get("object") or "")
