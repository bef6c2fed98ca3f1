"""Shared agents: one agent object serves several runs, and keeps nothing of one for another."""

from __future__ import annotations

from looptck.bench.bench import Scenario
from looptck.bench.checks import Implementation, requirement
from looptck.bench.talk import Talk
from looptck.spec.conversing import INSTRUCTIONS, carried, question
from looptck.values.turns import Call, calls, says

COLORS = ("violet", "indigo", "crimson")


@requirement("shared-agent-runs-apart")
def test_one_after_the_other(scenario: Scenario, implementation: Implementation) -> None:
    """Three runs of one agent: each begins with the prompt alone, offers the same tools, and has its own limit."""
    talk = Talk(implementation, named=False)
    limit = 3 if implementation.started.can("limit") else None
    offered: list[object] = []
    for color in COLORS:
        scenario.plays(calls(Call.of("note", {"text": color})), says(f"It is {color}."))
        if color == COLORS[1]:
            scenario.raises("note", f"no room for {color}")
        else:
            scenario.returns("note", f"kept {color}")

        run = talk.run(f"What is the color {color}?", shared=talk.id, limit=limit)

        carried(run.request(1).request.items, [INSTRUCTIONS, question(color)])
        others = [one for one in COLORS if one != color and one.encode() in run.request(1).raw]
        assert not others, f"the first request carries words of another run: {others[0]}"
        offered.append(run.request(1).body.get("tools"))
        assert offered[0] == offered[-1], "another run of the agent offers other tools"
        if color != COLORS[1]:  # a loop may end in an error where a tool raises one
            assert f"It is {color}." == (run.value.text or "").strip()
