"""Usage of scripted turns: what replies report of tokens, on each wire, and where a stream reports nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from looptck.provider.script import Recorded, Step
from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.turns import Usage, says
from looptck.wires import WIRES
from meta.provider.mock_runs import ASKS, STREAMS, events, mock_run, parsed_reply, reply

HELLO = replace(says("Hello."), usage=Usage(457, 24, cached=311))
ASKED = {**STREAMS, "stream_options": {"include_usage": True}}
TOTALS = ("prompt_tokens", "completion_tokens", "total_tokens")


def _totals(chunks: list[str]) -> list[tuple[int, ...] | None]:
    """The usage of each chunk that has a member for it."""
    told = [json.loads(chunk)["usage"] for chunk in chunks if '"usage"' in chunk]
    return [one and tuple(one[name] for name in TOTALS) for one in told]


def test_a_plain_reply_reports_it() -> None:
    """A plain reply has the usage of its turn, asked for or not."""
    usage = json.loads(parsed_reply(reply(mock_run(HELLO), ASKS))[2])["usage"]

    assert (457, 24, 481) == tuple(usage[name] for name in TOTALS)
    assert 311 == usage["prompt_tokens_details"]["cached_tokens"]


def test_a_stream_reports_it_where_it_is_asked_for() -> None:
    """The last chunk has it, without choices; the others have null."""
    chunks = events(reply(mock_run(HELLO), ASKED))

    *before, last = _totals(chunks)
    assert {None} == {*before}
    assert (457, 24, 481) == last
    assert [] == json.loads(chunks[-2])["choices"]


@pytest.mark.parametrize("options", [{}, {"stream_options": {"include_usage": False}}, {"stream_options": None}])
@pytest.mark.parametrize("quirk", [None, "usage-beside-finish", "usage-in-every-chunk"])
def test_a_stream_reports_none_otherwise(options: Mapping[str, Any], quirk: Quirk | None) -> None:
    """No chunk has a member for it, whatever the framing."""
    played = mock_run(Step(HELLO, DEFAULT.but(quirk=quirk)))

    assert [] == _totals(events(reply(played, {**STREAMS, **options})))


def test_a_turn_without_one_is_as_ever() -> None:
    """A turn that says nothing of its usage has some too where it is asked for."""
    assert (40, 20, 60) == _totals(events(reply(mock_run(says("Hello.")), ASKED)))[-1]
    assert [] == _totals(events(reply(mock_run(says("Hello.")), STREAMS)))


@pytest.mark.parametrize("encoding", [DEFAULT, DEFAULT.but(newline="\r\n", comments=True)])
def test_a_recorded_stream_reports_it_where_it_is_asked_for(encoding: Framing) -> None:
    """The chunk of usage alone is left out elsewhere; the others arrive in the recorded writes."""
    body = encoding.encode(WIRES["openai-chat"].events(HELLO, 1, DEFAULT))
    ends = (*range(100, len(body), 100), len(body))
    step = Step(HELLO, recorded=Recorded(200, (("content-type", "text/event-stream"),), body, ends))

    asked, unasked = (parsed_reply(reply(mock_run(step), one))[2].splitlines() for one in (ASKED, STREAMS))
    assert body.splitlines() == asked
    assert [line for line in asked if b"{" in line and b'"choices":[]' not in line] == [
        line for line in unasked if b"{" in line
    ]
    assert len(unasked) < len(asked)


@pytest.mark.parametrize(
    ("quirk", "wanted"),
    [
        ("usage-beside-finish", [None, None, (457, 24, 481)]),
        ("usage-then-none", [None, None, (457, 24, 481), None]),
        ("usage-in-every-chunk", [(457, 0, 457), (457, 8, 465), (457, 16, 473), (457, 24, 481)]),
    ],
)
def test_compatible_servers_report_it_elsewhere(quirk: Quirk, wanted: list[Any]) -> None:
    """In the chunk with the finish reason, with or without one behind it; or so far in each chunk."""
    chunks = events(reply(mock_run(Step(HELLO, DEFAULT.but(quirk=quirk))), ASKED))

    assert wanted == _totals(chunks)


def test_a_message_counts_what_came_from_a_cache_apart() -> None:
    """The input of Messages is that which did not come from a cache."""
    usage = WIRES["anthropic-messages"].body(HELLO, 1, DEFAULT)["usage"]

    assert (146, 311, 24) == tuple(usage[name] for name in ("input_tokens", "cache_read_input_tokens", "output_tokens"))


def test_the_counts_of_a_message_grow() -> None:
    """They begin with one token of output, and each message_delta has all so far."""
    stream = WIRES["anthropic-messages"].events(HELLO, 1, DEFAULT.but(split_end=True))

    told = [one.get("usage") or one.get("message", {}).get("usage") for one in stream if isinstance(one, dict)]
    assert [1, 12, 24] == [one["output_tokens"] for one in told if one]


def test_a_response_reports_it_when_it_is_completed() -> None:
    """The first events have none, the last one has it."""
    stream = WIRES["openai-responses"].events(HELLO, 1, DEFAULT)

    told = [one["response"]["usage"] for one in stream if isinstance(one, dict) and "response" in one]
    assert [None, None] == told[:-1]
    assert (457, 24, 481) == tuple(told[-1][name] for name in ("input_tokens", "output_tokens", "total_tokens"))
