"""What each framing and quirk changes in what the encoder of Responses writes; errors, side routes and ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from looptck.values.framing import DEFAULT, PRESETS, Framing, Quirk
from looptck.values.turns import Call, Turn, calls, says, turn
from looptck.wires.openai_responses import OPENAI_RESPONSES
from meta.kit.each import each
from meta.wires.all_wires import by_names, with_quirks
from meta.wires.responses import samples
from meta.wires.responses.encoded import NO_LAST_EVENT, expected
from meta.wires.responses.reader import streamed
from meta.wires.responses.samples import NOTE, TURNS, WEATHER
from meta.wires.sse_reader import data_of


def events(turn: Turn, framing: Framing) -> list[dict[str, Any]]:
    """The events of a turn, as objects."""
    return [event for event in OPENAI_RESPONSES.events(turn, 1, framing) if isinstance(event, dict)]


def read(turn: Turn, framing: Framing) -> dict[str, Any]:
    """A turn, dressed in a framing, cut into pieces, and read back."""
    stream = framing.encode(OPENAI_RESPONSES.events(turn, 1, framing), named=True)
    return streamed(data_of(b"".join(framing.pieces(stream))))


@given(samples.turns(), samples.framings())
def test_events_are_numbered(turn: Turn, framing: Framing) -> None:
    """The events of any stream are numbered from zero, without a gap."""
    found = events(turn.numbered(1), framing)

    assert list(range(len(found))) == [event["sequence_number"] for event in found]


@given(samples.turns(), samples.framings())
def test_text_comes_with_the_events(turn: Turn, framing: Framing) -> None:
    """What the events add to the text for the caller is the text of the turn."""
    written = "".join(OPENAI_RESPONSES.text(event) for event in OPENAI_RESPONSES.events(turn.numbered(1), 1, framing))

    assert (turn.text or "" if turn.stopped != "queued" else "") == written


@given(samples.turns(), samples.framings())
def test_without_finish_only_the_last_event_is_gone(turn: Turn, framing: Framing) -> None:
    """A stream without finish has all events but the one that says how the response ended."""
    found = events(turn.numbered(1), framing)
    kept = OPENAI_RESPONSES.without_finish(list(found))

    assert found[: len(kept)] == kept
    assert (0 if turn.stopped in NO_LAST_EVENT else 1) == len(found) - len(kept)


# -- framings --------------------------------------------------------------------------------------------------------


def test_calls_that_take_turns_are_open_together() -> None:
    """Interleaved, both calls are added before either is done; text beside them keeps to itself."""
    two = turn("I look.", WEATHER, NOTE, "Well.").numbered(1)
    found = events(two, PRESETS["interleaved-calls"])
    added, done = (
        [place for place, event in enumerate(found) if event["type"] == f"response.output_item.{step}"]
        for step in ("added", "done")
    )

    assert max(added[1:3]) < min(done[1:3])
    assert done[0] < added[1]
    assert max(done[1:3]) < added[3]


@pytest.mark.parametrize("arguments", ["", "{}", " "])
def test_empty_arguments_may_come_without_a_delta(arguments: str) -> None:
    """Where a framing wants no delta for empty arguments, only the event that ends them carries the text."""
    found = events(calls(Call("ping", arguments)).numbered(1), PRESETS["no-empty-arguments"])
    texts = [event for event in found if "function_call_arguments" in event["type"]]

    assert [("response.function_call_arguments.done", arguments)] == [(e["type"], e["arguments"]) for e in texts]


def test_unknown_events_are_between_all_others() -> None:
    """Every second event is of a type that nobody knows; the first and the last are not."""
    found = events(TURNS["text-and-calls"].numbered(1), PRESETS["unknown-events"])

    assert {"response.x_unknown", "keepalive"} == {event["type"] for event in found[1::2]}
    assert not {"response.x_unknown", "keepalive"} & {event["type"] for event in found[::2]}


def test_unknown_fields_are_everywhere() -> None:
    """Every event, the response and every item have a member that nobody knows."""
    framing = PRESETS["unknown-fields"]
    numbered = TURNS["text-and-calls"].numbered(1)
    body = OPENAI_RESPONSES.body(numbered, 1, framing)

    assert all("x_unknown" in event for event in events(numbered, framing))
    assert all("x_unknown" in part for part in [body, *body["output"]])


def test_encrypted_content_is_whole_when_its_thought_is_done() -> None:
    """When a thought is added its encrypted content is only begun."""
    numbered = TURNS["thinking"].numbered(1)
    added, done = (
        [event["item"]["encrypted_content"] for event in events(numbered, DEFAULT) if _is_thought(event, step)]
        for step in ("added", "done")
    )

    assert [piece.signature for piece in numbered.pieces if hasattr(piece, "signature")] == done
    assert all(len(begun) < len(whole) and whole.startswith(begun) for begun, whole in zip(added, done, strict=True))


def _is_thought(event: dict[str, Any], step: str) -> bool:
    return (f"response.output_item.{step}", "reasoning") == (event["type"], event.get("item", {}).get("type"))


@pytest.mark.parametrize(
    "wanted", [calls(WEATHER, Call("add", '{"a": 1, "b'), stop="length"), says("It", stop="length")]
)
def test_what_was_cut_says_so(wanted: Turn) -> None:
    """Of a turn that the token limit cut, the last item is incomplete, and no other."""
    output = OPENAI_RESPONSES.body(wanted.numbered(1), 1, DEFAULT)["output"]

    assert ["completed"] * (len(output) - 1) + ["incomplete"] == [item["status"] for item in output]


# -- quirks ----------------------------------------------------------------------------------------------------------

TOLD_ANYHOW = sorted(
    OPENAI_RESPONSES.quirks - {"final-output-empty", "end-marker", "event-behind-the-end", "item-ids-differ"}
)


def test_a_quirk_loses_nothing() -> None:
    """A turn with a quirk is read back as the turn that it was by a reader that believes the last event."""

    def same(turn: Turn, framing: Framing) -> None:
        numbered = turn.numbered(1)

        assert expected(numbered, stream=True) == read(numbered, framing)

    ended = {name: turn for name, turn in TURNS.items() if turn.numbered(1).stopped not in NO_LAST_EVENT}
    each(by_names(ended, with_quirks(TOLD_ANYHOW)), same)


def kinds(quirk: Quirk | None) -> list[str]:
    """The types of the events of a turn of everything, with a quirk."""
    return [event["type"] for event in events(TURNS["text-and-calls"].numbered(1), DEFAULT.but(quirk=quirk))]


LEFT_OUT: dict[Quirk, Callable[[str], bool]] = {
    "no-deltas": lambda kind: kind.endswith(".delta"),
    "no-arguments-done": lambda kind: kind == "response.function_call_arguments.done",
}


@pytest.mark.parametrize("quirk", LEFT_OUT)
def test_what_a_quirk_leaves_out(quirk: Quirk) -> None:
    """These quirks leave out events of some types, all of them, and no others."""
    left_out = LEFT_OUT[quirk]

    assert any(map(left_out, kinds(None)))
    assert [kind for kind in kinds(None) if not left_out(kind)] == kinds(quirk)


def test_calls_that_are_never_done() -> None:
    """No call has an event in which it is done; a message has."""
    found = events(TURNS["text-and-calls"].numbered(1), DEFAULT.but(quirk="no-item-done"))

    assert ["message"] == [event["item"]["type"] for event in found if event["type"] == "response.output_item.done"]


def test_an_empty_final_output() -> None:
    """The last event has no items, though they were streamed."""
    found = events(TURNS["call"].numbered(1), DEFAULT.but(quirk="final-output-empty"))

    assert [] == found[-1]["response"]["output"]
    assert 1 == sum(event["type"] == "response.output_item.done" for event in found)


def test_an_early_id_that_differs() -> None:
    """A call is added under another call id than it has when it is done; its item id is the same."""
    found = [e["item"] for e in events(TURNS["call"].numbered(1), DEFAULT.but(quirk="early-id-differs")) if "item" in e]

    assert ["early_call_1a", "call_1a"] == [item["call_id"] for item in found]
    assert 1 == len({item["id"] for item in found})


def test_item_ids_that_differ() -> None:
    """An item has one id when it is added, one in its deltas, and its own when it is done and in the last event."""
    found = events(TURNS["call"].numbered(1), DEFAULT.but(quirk="item-ids-differ"))
    added, done = (event["item"]["id"] for event in found if "item" in event)

    assert {added} == {f"{done}_early"}
    assert {f"{done}_middle"} == {event["item_id"] for event in found if "item_id" in event}
    assert [done] == [item["id"] for item in found[-1]["response"]["output"]]


def test_events_without_numbers() -> None:
    """No event has a number or the place of its item; an error in such a stream has none either."""
    found = events(TURNS["text-and-calls"].numbered(1), DEFAULT.but(quirk="no-sequence"))
    errors = [event for event in OPENAI_RESPONSES.error_events(list(found[:3]), "Down.") if isinstance(event, dict)]

    assert 2 == len(errors)
    assert not any({"sequence_number", "output_index"} & event.keys() for event in [*found, *errors])


def test_a_stray_end_marker() -> None:
    """The end marker of Chat Completions ends the stream, and only with that quirk."""
    numbered = TURNS["text"].numbered(1)
    natural = OPENAI_RESPONSES.events(numbered, 1, DEFAULT)

    assert [*natural, "[DONE]"] == OPENAI_RESPONSES.events(numbered, 1, DEFAULT.but(quirk="end-marker"))


# -- errors and side routes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", [2, 5, 40])
def test_an_error_in_a_stream(sent: int) -> None:
    """The error comes flat and numbered, then the response that failed, with the items that were done by then."""
    before = list(events(TURNS["text-and-calls"].numbered(1), DEFAULT))[:sent]
    error, failed = OPENAI_RESPONSES.error_events(list(before), "Down.")
    done = [event["item"] for event in before if event["type"] == "response.output_item.done"]

    assert {
        "type": "error",
        "code": "server_error",
        "message": "Down.",
        "param": None,
        "sequence_number": len(before),
    } == error
    assert isinstance(failed, dict)
    assert ("response.failed", len(before) + 1) == (failed["type"], failed["sequence_number"])
    assert {"code": "server_error", "message": "Down."} == failed["response"]["error"]
    assert ("failed", done) == (failed["response"]["status"], failed["response"]["output"])


def test_an_error_before_anything() -> None:
    """Where there is no response yet, none can have failed."""
    assert ["error"] == [e["type"] for e in OPENAI_RESPONSES.error_events([], "Down.") if isinstance(e, dict)]


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_an_error_is_an_error_object(status: int) -> None:
    """An error has a message and a type; its other members may be null."""
    error = OPENAI_RESPONSES.error_body(status, "No.")["error"]

    assert ["message", "type", "param", "code"] == list(error)
    assert ("No.", True) == (error["message"], error["type"].endswith("_error"))


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/models", "list"),
        ("GET", "/models/looptck-model", "model"),
        ("POST", "/responses/input_tokens", "response.input_tokens"),
    ],
)
def test_side_routes(method: str, path: str, expected: str) -> None:
    """What clients ask beside model requests is answered."""
    reply = OPENAI_RESPONSES.side(method, path, {"input": "hello", "model": "looptck-model"})

    assert reply is not None
    assert expected == reply["object"]


@pytest.mark.parametrize(("method", "path"), [("POST", "/models"), ("GET", "/responses"), ("POST", "/responses")])
def test_no_side_routes(method: str, path: str) -> None:
    """Other routes are none of the service's."""
    assert OPENAI_RESPONSES.side(method, path, None) is None


def test_ids_are_distinct() -> None:
    """Every item has an id of its own, within its turn and among the turns of a run."""
    everything = Turn(tuple(piece for turn in TURNS.values() for piece in turn.pieces))
    ids = [item["id"] for n in (1, 2) for item in OPENAI_RESPONSES.body(everything.numbered(n), n, DEFAULT)["output"]]

    assert len(ids) == len(set(ids))


def test_an_event_comes_behind_the_end() -> None:
    """The quirk adds one event of an undocumented type behind the last one, and changes no other."""
    natural = kinds(None)

    assert [*natural, "response.rate_limits.updated"] == kinds("event-behind-the-end")
