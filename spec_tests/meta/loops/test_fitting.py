"""Whatever a case calls fits what it has offered: a loop that checks arguments runs the same tools as any other."""

from __future__ import annotations

import json

import pytest

from looptck.bench.bench import Patience
from looptck.cassettes import Cassette, cassettes
from looptck.cassettes.playback import case_followed, is_ordinary
from looptck.catalogue.agents import Tool, agent
from looptck.commands.pytest_run import run_pytest
from looptck.suite.selection import Selection
from looptck.suite.session import Options, Session
from looptck.values.history import parsed
from meta.loops.fitting import misfit, watched
from meta.loops.judging import recordings

CELLS = [
    ("core", "openai-chat/stream/sync"),
    ("core", "openai-responses/plain/sync"),
    ("core", "anthropic-messages/stream/sync"),
    ("prompty-spec", "openai-chat/stream/sync"),
    ("prompty-agent-mode", "openai-chat/stream/sync"),
    ("anthropic-loop", "anthropic-messages/stream/sync"),
    ("agent-loop-010", "openai-chat/plain/async"),
    ("server-loop", "openai-chat/plain/*"),
]


@pytest.mark.parametrize(("profile", "cell"), CELLS, ids=["-".join(one).replace("/", "-") for one in CELLS])
def test_what_runs_fits_what_was_offered(profile: str, cell: str) -> None:
    """Every tool run of every check has arguments for which its run had offered a place."""
    found: list[str] = []
    options = Options(
        selection=Selection((profile,), (), (cell,)),
        patience=Patience(outcome=60.0, gate=1.0),
        examples=3,
        cassettes=recordings(),
        asks=False,
    )

    with watched(found):
        session = Session.begin(options)
        run_pytest(session)
        session.end()

    assert len(session.results) > 50
    assert [] == found


def test_what_does_not_fit_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that asks for more than the cases write makes every run of its tool a finding."""
    tool = agent("assistant").tools[1]
    monkeypatch.setitem(tool.parameters["properties"], "city", {"type": "integer"})
    found: list[str] = []
    options = Options(selection=Selection(("core",), (), ("openai-chat/plain/sync",), ("one-call",)))

    with watched(found):
        session = Session.begin(options)
        run_pytest(session)
        session.end()

    assert ["one-call: weather with {'city': 'Paris'}: 'Paris' is not of type 'integer'"] == found


@pytest.mark.parametrize("cassette", [one for one in cassettes() if is_ordinary(one)], ids=str)
def test_what_was_recorded_fits_what_was_offered(cassette: Cassette) -> None:
    """Every call of a recording that any loop is to run fits the tool that is offered when it is played."""
    case = case_followed(cassette)
    offered = {tool.name: tool for tool in (case.tools if case else cassette.tools)}
    calls = [call for turn in cassette.followed for call in turn.calls]

    assert [] == [why for call in calls if (why := misfit(offered[call.tool], parsed(call.arguments)))]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"a": 1}, "'b' is a required property"),
        ({"a": 1, "b": "2"}, "'2' is not of type 'number'"),
        ({"a": 1, "b": 2, "c": 3}, "Additional properties are not allowed ('c' was unexpected)"),
    ],
    ids=json.dumps,
)
def test_kinds_of_misfits(arguments: dict[str, object], why: str) -> None:
    """A member that is missing, of the wrong type, or that nobody declared does not fit."""
    assert f"add with {arguments}: {why}" == misfit(agent("assistant").tools[2], arguments)


def test_bound_parameters_do_not_count() -> None:
    """What a binding puts there, or the model in vain, is no matter of the schema."""
    tool = Tool("act", "Acts.", {"type": "object", "properties": {"who": {"type": "string"}}}, bindings={"who": "user"})

    assert misfit(tool, {"who": 3}) is None
