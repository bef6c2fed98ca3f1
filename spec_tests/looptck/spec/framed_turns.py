"""Turns in a framing, and what they have to lead to."""

from __future__ import annotations

import json

from looptck.bench.assertions.tool_runs import tools_ran
from looptck.bench.assertions.turns import calls_echoed
from looptck.bench.checks import Implementation
from looptck.bench.run import Run
from looptck.catalogue.agents import agent
from looptck.provider.script import Step
from looptck.values.framing import Framing
from looptck.values.outcome import Value
from looptck.values.turns import Call, Turn, calls, says
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

FORECAST = {"city": "Zürich — 東京", "days": [1, 2], "note": 'a "quoted" \\ word'}
ONE_CALL = calls(Call.of("forecast", FORECAST))
PLAIN_CALL = calls(Call.of("weather", {"city": "Paris"}))
"""A framing that can cut none of its characters."""
ANSWER = "It is done, and all is well."
"""Short enough for one delta; where each delta holds one character, some deltas are a single blank."""
TWO_CALLS = calls(Call.of("forecast", FORECAST), Call.of("add", {"a": 1, "b": 2}))


def runs_its_calls(
    implementation: Implementation, framing: Framing, turn: Turn = ONE_CALL, *, broken: bool = False
) -> None:
    """Assert that a turn in this framing runs its calls with their arguments, is echoed, and leads to the answer.

    ``broken``: the vendor's documents rule the framing out; NotApplicable if the loop ends its run with an error then.
    """
    if not WIRES[implementation.cell.wire].carries_out(framing):
        raise ValueError(f"{implementation.cell.wire} does not carry out this framing, so nothing would be checked")
    run = played(implementation, framing, turn)

    if broken and run.failed and not run.tools_ran:
        raise NotApplicable(f"such a stream breaks the vendor's rules, and the loop refuses it: it {run.outcome}")
    tools_ran(run, [{call.tool: json.loads(call.arguments)} for call in turn.calls])
    calls_echoed(run, 1)
    run.delivered(2)
    assert isinstance(run.outcome, Value), f"the calls ran, and then the loop {run.outcome}"
    assert ANSWER in (run.outcome.text or ""), f"the calls ran, and then the loop {run.outcome}"


def played(implementation: Implementation, framing: Framing, turn: Turn) -> Run:
    """Play a turn in this framing, and then the answer in the same, but for a quirk that is the turn's own.

    Only the tools that it calls are offered: a loop may refuse one whose schema it cannot say, and is judged by others.
    """
    implementation.scenario.plays(Step(turn, framing), Step(says(ANSWER), framing.but(quirk=None)))
    called = {call.tool for call in turn.calls}
    offered = [tool for tool in agent("clerk").tools if tool.name in called]
    return implementation.run(agent="clerk", tools=offered or None)
