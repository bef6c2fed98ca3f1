"""A recording and its case: when all that the case expects can be asked of it, and when only that it is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from looptck.bench.cases import cases
from looptck.cassettes import Cassette, cassettes, playback, read
from looptck.cassettes.events import re_encoded, stream_events
from looptck.cassettes.playback import behaviours, case_followed, is_ordinary
from looptck.provider.toolbox import Raises, Returns
from looptck.values.framing import PRESETS
from looptck.wires import WIRES
from meta.cassettes.doctored import STREAM, Change, doctored

STREAMS = {f"{one.wire}/{one.path.stem}": one for one in cassettes() if one.stream}


def message(place: int) -> Any:
    """The message of a plain reply in a cassette's content."""
    return lambda it: it["interactions"][place]["response"]["body"]["json"]["choices"][0]["message"]


def test_kept(tmp_path: Path) -> None:
    """The recorded turns are those of the script: the tools do what the case says."""
    one = read(doctored(tmp_path))

    assert cases()["one-call"] is case_followed(one)
    assert cases()["one-call"].behaviours == behaviours(one)
    assert is_ordinary(one)


def _call(it: Any) -> Any:
    return message(0)(it)["tool_calls"][0]["function"]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: message(1)(it).update(content="It is fine."),
        lambda it: message(0)(it).update(content="Let me see."),
        lambda it: _call(it).update(name="ping"),
        lambda it: _call(it).update(arguments='{"city": "Rome"}'),
        lambda it: it["interactions"][1]["response"]["body"]["json"]["choices"][0].update(finish_reason="length"),
        lambda it: it["provenance"].update(scenario="0" * 64),
    ],
    ids=["answer", "text-with-the-call", "tool", "arguments", "stop", "case"],
)
def test_not_kept(tmp_path: Path, change: Change) -> None:
    """The model said something else, or the case is another by now: the tools return what was recorded."""
    one = read(doctored(tmp_path, change))
    tool = one.turns[0].calls[0].tool

    assert case_followed(one) is None
    assert {tool: [Returns("18 °C and sunny")]} == behaviours(one)


def test_spelling_does_not_count(tmp_path: Path) -> None:
    """The same arguments in another spelling, and an empty text in a turn with a call, equal the script's."""

    def respell(it: Any) -> None:
        _call(it).update(arguments='{ "city":"P\\u0061ris" }')
        message(0)(it).update(content=None)

    assert case_followed(read(doctored(tmp_path, respell)))


def test_another_scenario(tmp_path: Path) -> None:
    """A name that no case has."""
    assert case_followed(read(doctored(tmp_path, name="mine-plain"))) is None


@pytest.mark.parametrize(
    "change",
    [lambda it: _call(it).update(name="sing"), lambda it: _call(it).update(arguments="{")],
    ids=["unknown-tool", "broken-arguments"],
)
def test_not_ordinary(tmp_path: Path, change: Change) -> None:
    """Loops may do as they like with a call that names no tool, or whose arguments are none."""
    assert not is_ordinary(read(doctored(tmp_path, change)))


def test_recording_with_calls_of_a_cut_turn_is_not_ordinary() -> None:
    """Requirements of their own say whether they run; a recording whose answer was cut is ordinary."""
    cut = {one.scenario: is_ordinary(one) for one in cassettes() if "length" in one.scenario}

    assert {"answer-cut-by-length": True, "whole-call-and-length": False} == cut


def test_an_event_that_broke_off_is_none() -> None:
    """It lacks the empty line."""
    assert [1] == [event.value for event in stream_events(b"data: 1\n\ndata: 2\n")]


def test_recording_with_a_raising_tool_is_not_ordinary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops differ in what they do when a tool raises; the case's own requirements are judged on the recording."""
    raising = replace(cases()["one-call"], behaviours={"weather": (Raises("no wind"),)})
    monkeypatch.setattr(playback, "cases", lambda: {"one-call": raising})

    one = read(doctored(tmp_path))

    assert raising is case_followed(one)
    assert not is_ordinary(one)


ENCODINGS = ["crlf", "cr", "comments", "no-space", "data-lines", "byte-order-mark", "escaped", "event-names", "padded"]


@pytest.mark.parametrize("cassette", STREAMS.values(), ids=STREAMS)
def test_redressed(cassette: Cassette) -> None:
    """In another dress a stream has other bytes, the same events, and says the same turn."""
    for name in [*ENCODINGS, "single-bytes"]:
        for exchange in cassette.exchanges:
            other = re_encoded(exchange.reply, PRESETS[name])

            assert other.body != exchange.reply.body or name in {"single-bytes", "escaped"}
            assert [one.value for one in stream_events(exchange.reply.body)] == [
                one.value for one in stream_events(other.body)
            ]
            assert exchange.turn == WIRES[cassette.wire].turn(other.body.decode(), True)
            assert len(other.body) == other.ends[-1]


def test_what_cannot_be_re_encoded(tmp_path: Path) -> None:
    """A plain reply and a broken stream stay as they were recorded."""
    broken = doctored(
        tmp_path,
        lambda it: it["interactions"][1]["response"].update(body={"text": "data: {"}, broken=True),
        of=STREAM,
    )

    for one in (read(broken), read(doctored(tmp_path))):
        last = one.exchanges[-1].reply
        assert last is re_encoded(last, PRESETS["crlf"])


def test_names_of_events_are_kept() -> None:
    """Events that were named keep their names, and those without stay without."""
    for one in STREAMS.values():
        named = {event.name for event in stream_events(one.exchanges[0].reply.body)}
        encoded = re_encoded(one.exchanges[0].reply, PRESETS["comments"])

        assert named == {event.name for event in stream_events(encoded.body)}
        assert WIRES[one.wire].named_events == (named != {""})
