"""Later calls of a tool have fewer members than its first one: what the first one had is not theirs."""

from __future__ import annotations

from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.catalogue.agents import Tool
from looptck.spec.functions_alone import takes_functions_alone
from looptck.values.plain import plain
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable

PARAMETERS = {
    "type": "object",
    "properties": {
        "label": {"type": "string", "description": "What is kept."},
        "shelf": {"type": "integer", "description": "On which shelf."},
        "color": {"type": "string", "description": "Of which color it is."},
    },
    "required": ["label"],
}
FIRST = {"label": "first", "shelf": 7, "color": "red"}
LATER = [{"label": "second"}, {"label": "third", "color": "blue"}]


@requirement("arguments-arrive-whatever-their-shape")
def test_members_of_an_earlier_call(scenario: Scenario, implementation: Implementation) -> None:
    """Members that a call does not have are missing, or null or a default, and not those of an earlier call."""
    tool = Tool("keep", "Keeps something.", PARAMETERS)
    scenario.plays(
        calls(Call.of("keep", FIRST)),
        calls(*(Call.of("keep", one) for one in LATER)),
        says("All are kept."),
    )

    run = implementation.run(tools=[tool])

    takes_functions_alone(implementation, tool, {one.name: one for one in run.request(1).request.tools})
    run.delivered(2)
    for asked in LATER:
        ran = [one for one in run.arguments_of("keep") if one.get("label") == asked["label"]]
        if not ran:
            raise NotApplicable("the loop runs no call without the members that it need not have")
        kept = {name: value for name, value in FIRST.items() if name not in asked and ran[-1].get(name) == value}
        assert not kept, (
            f"the model has called keep({plain(asked)}) after keep({plain(FIRST)}), and the tool got {plain(ran[-1])}"
        )
