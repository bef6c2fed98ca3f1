"""Server-side loops: what a client is told of the tools that run, by events of a stream and records of a reply."""

from __future__ import annotations

from typing import Any

from looptck.checks import requirement
from looptck.client import Reply, schemas
from looptck.client.reply import BESIDE, DONE, PROGRESS
from looptck.guest import Guest
from looptck.kit import Scene
from looptck.spec.served import LODZ, ONE_ROUND, PARIS, PING, THREE_ROUNDS, as_json, phase, served
from looptck.turns import calls, says
from looptck.verdicts import NotReached

CHUNK = "chat.completion.chunk"
ENDS = ("response.completed", "response.incomplete", "response.failed")


@requirement("server-plain-reply-records-each-round")
def test_records_of_three_rounds(provider: Scene, guest: Guest) -> None:
    """A reply with three runs behind it has three records in their order, and one without a run has none."""
    provider.plays(*THREE_ROUNDS)
    run = guest.ask()

    records = [(one.get("name"), as_json(one.get("arguments"))) for one in served(run, 3).records]
    assert run.tools_ran == records

    provider.plays(says("Done."))
    assert [] == [*served(guest.ask(), 0).records]


@requirement("server-progress-stands-around-each-run")
def test_progress_of_three_rounds(provider: Scene, guest: Guest) -> None:
    """Three runs are six events: calling and complete of each, in pairs of one round."""
    provider.plays(*THREE_ROUNDS)

    told = served(guest.ask(), 3).progress

    assert ["calling", "complete"] * 3 == [event.phase for event in told]
    assert [event.round for event in told[::2]] == [event.round for event in told[1::2]]


@requirement("server-calling-names-the-tool")
def test_names_in_calling(provider: Scene, guest: Guest) -> None:
    """Each calling event has the name of the tool that is about to run."""
    provider.plays(*THREE_ROUNDS)

    reply = served(guest.ask(), 3)

    assert ["ping", "weather", "weather"] == [event.tool for event in phase(reply, "calling")]


@requirement("server-calling-arguments-are-parsed")
def test_form_of_the_arguments(provider: Scene, guest: Guest) -> None:
    """The arguments of calling are a JSON object, whatever they hold."""
    provider.plays(calls(LODZ), says("Done."))

    arguments = phase(served(guest.ask(), 1), "calling")[0].data.get("arguments")

    guest.implementation.diverges("calling_arguments", "text" if isinstance(arguments, str) else "parsed")
    assert isinstance(arguments, dict), f"the arguments are {arguments!r}"


@requirement("server-complete-of-custom-repeats-the-arguments")
def test_arguments_in_complete(provider: Scene, guest: Guest) -> None:
    """The complete event of a dispatched tool has the arguments that it was called with."""
    provider.plays(calls(LODZ), says("Done."))

    data = phase(served(guest.ask(), 1), "complete")[0].data

    repeated = "arguments" in data
    guest.implementation.diverges("complete_data", "repeats-code-query-arguments" if repeated else "results-only")
    assert repeated, f"complete has {', '.join(data)}, and no arguments"
    assert as_json(LODZ.arguments) == as_json(data["arguments"])


@requirement("server-rounds-are-numbered-from-zero")
def test_numbers_of_three_rounds(provider: Scene, guest: Guest) -> None:
    """Three rounds are 0, 1 and 2, in records and in events."""
    provider.plays(*THREE_ROUNDS)

    reply = served(guest.ask(), 3)

    if reply.stream:
        assert [0, 1, 2] == [event.round for event in phase(reply, "calling")]
        assert [0, 1, 2] == [event.round for event in phase(reply, "complete")]
    else:
        assert [0, 1, 2] == [record.get("round") for record in _records(reply)]


@requirement("server-records-tell-the-result")
def test_results_in_records(provider: Scene, guest: Guest) -> None:
    """Each record has the members of a record, and what the tool returned."""
    provider.returns("ping", "pong")
    provider.returns("weather", "5 °C and rain")
    provider.plays(calls(PING), calls(PARIS), says("Done."))

    records = _records(served(guest.ask(), 2))

    assert [] == schemas.faults("loop-members", {"agentic_tool_calls": records})
    assert ["pong", "5 °C and rain"] == [record["result_content"] for record in records]


@requirement("server-chunks-are-unnamed-and-progress-is-named")
def test_names_of_events(provider: Scene, guest: Guest) -> None:
    """Chunks and the end mark have no name, and what the loop tells has the name of its type."""
    provider.plays(*ONE_ROUND)

    events = [(event.name, _kind(event.value)) for event in served(guest.ask(), 1).events]

    if not {PROGRESS, CHUNK} <= {kind for _, kind in events}:
        raise NotReached(f"the stream lacks chunks or progress events, it has {events}")
    assert [] == [name for name, kind in events if name and kind in (CHUNK, DONE)]
    assert [] == [kind for name, kind in events if kind in BESIDE and name != kind]


@requirement("server-progress-is-told-on-responses")
def test_progress_on_responses(provider: Scene, guest: Guest) -> None:
    """Both events of a round stand before the event that ends the response."""
    provider.plays(*ONE_ROUND)

    reply = served(guest.ask(), 1)

    kinds = [_kind(event.value) for event in reply.events]
    ends = [at for at, kind in enumerate(kinds) if kind in ENDS]
    if not ends:
        raise NotReached(f"no event ends the response: {kinds}")
    told = [(event.tool, event.phase) for event in reply.progress if event.at < ends[0]]
    assert [("ping", "calling"), ("ping", "complete")] == told


@requirement("server-progress-is-told-on-messages")
def test_progress_on_messages(provider: Scene, guest: Guest) -> None:
    """Both events of a round stand between the start and the stop of the message, under their own name."""
    provider.plays(*ONE_ROUND)

    events = served(guest.ask(), 1).events

    kinds = [_kind(event.value) for event in events]
    if "message_start" not in kinds or "message_stop" not in kinds:
        raise NotReached(f"the message does not both start and stop: {kinds}")
    inside = events[kinds.index("message_start") : kinds.index("message_stop")]
    told = [(event.name, event.value.get("phase")) for event in inside if _kind(event.value) == PROGRESS]
    assert [(PROGRESS, "calling"), (PROGRESS, "complete")] == told
    assert 2 == kinds.count(PROGRESS)


def _records(reply: Reply) -> list[Any]:
    """The records of a reply. Raises NotReached where there is none."""
    if not reply.records:
        raise NotReached(f"the reply records no round: {reply}")
    return [*reply.records]


def _kind(value: Any) -> str:
    """The type or the object that an event says it is; the end mark is its own."""
    if not isinstance(value, dict):
        return DONE if value == DONE else ""
    return str(value.get("type") or value.get("object") or "")
