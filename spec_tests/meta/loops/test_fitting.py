"""The arguments of all calls in cases fit the offered schemas: loops that validate arguments run the same tools."""

from __future__ import annotations

import json

import pytest

from looptck.bench.bench import Patience
from looptck.cassettes import Cassette, cassettes
from looptck.cassettes.playback import case_followed, is_ordinary
from looptck.catalogue.agents import Tool, agent
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.history import parsed
from meta.loops.fitting import misfit, watched
from meta.loops.judging import recordings

CELLS = [  # those of core are watched in `test_own_ways`, which plays it anyway
    ("prompty-spec", "openai-chat/stream/sync"),
    ("prompty-agent-mode", "openai-chat/stream/sync"),
    ("anthropic-loop", "anthropic-messages/stream/sync"),
    ("agent-loop-010", "openai-chat/plain/async"),
    ("server-loop", "openai-chat/plain/*"),
]


@pytest.mark.parametrize(("profile", "cell"), CELLS, ids=["-".join(one).replace("/", "-") for one in CELLS])
def test_tool_runs_fit_the_offered_schemas(profile: str, cell: str) -> None:
    """The arguments of every tool run of every check fit the offered schema."""
    found: list[str] = []
    options = Options(
        selection=Selection((profile,), (), (cell,)),
        patience=Patience(outcome=60.0, gate=3.0),
        examples=3,
        cassettes=recordings(),
        asks=False,
    )

    with watched(found):
        session = Session.begin(options)
        run_pytest(session)
        session.end()

    assert len(session.record.results) > 50
    assert [] == found


def test_misfits_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema that is stricter than the cases makes every run of its tool a finding."""
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
def test_recorded_calls_fit_the_offered_schemas(cassette: Cassette) -> None:
    """Every call in a recording that a loop has to run fits the tool that is offered with the recording."""
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
    """A missing member, a wrong type and an undeclared member do not fit."""
    assert f"add with {arguments}: {why}" == misfit(agent("assistant").tools[2], arguments)


def test_bound_parameters_do_not_count() -> None:
    """The values of bound parameters are not checked."""
    tool = Tool("act", "Acts.", {"type": "object", "properties": {"who": {"type": "string"}}}, bindings={"who": "user"})

    assert misfit(tool, {"who": 3}) is None
