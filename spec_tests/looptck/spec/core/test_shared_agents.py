"""Shared agents: one agent object serves several runs, and keeps nothing of one for another."""

from __future__ import annotations

from looptck.bench import schema_blocks as blocks
from looptck.bench.bench import Running
from looptck.bench.checks import Implementation, requirement
from looptck.bench.scenario import Scenario
from looptck.bench.talk import Talk
from looptck.catalogue.agents import Tool
from looptck.provider.gate import Gate
from looptck.provider.script import Step
from looptck.spec.conversing import INSTRUCTIONS, carried, question, returned, words_of
from looptck.values.outcome import Value
from looptck.values.plain import plain
from looptck.values.transcript import Ended
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotReached

COLORS = ("violet", "indigo", "crimson")
PLACE = blocks.object_of(
    blocks.all_described({"city": blocks.STRING, "floor": blocks.nullable(blocks.INTEGER)}), ["city"]
)
PLAN = Tool(
    "plan",
    "Plans a journey.",
    blocks.parameters_of(
        blocks.object_of(
            {
                "from": blocks.referred(PLACE, "Place"),
                "stops": blocks.list_of(PLACE),
                "with": PLACE,
                "speed": blocks.WORDS,
            },
            ["from"],
        )
    ),
)
"""A tool whose schema has definitions, lists of objects, nested objects, unions and constants."""


@requirement("shared-agent-runs-apart")
def test_one_after_the_other(scenario: Scenario, implementation: Implementation) -> None:
    """Three runs of one agent: each begins with the prompt alone, offers the same tools, and has its own limit."""
    talk = Talk(implementation, named=False)
    limit = 3 if implementation.started.can("limit") else None
    offered: list[object] = []
    heard: list[bool] = []
    for color in COLORS:
        scenario.plays(calls(Call.of("note", {"text": color})), says(f"It is {color}."))
        if color == COLORS[1]:
            scenario.raises("note", f"no room for {color}")
        else:
            scenario.returns("note", f"kept {color}")

        run = talk.run(f"What is the color {color}?", shared=talk.id, limit=limit)

        words = words_of(run.request(1).request.items)
        others = [one for one in COLORS if one != color and one in words]
        assert not others, f"the first request of the run about {color} carries {others[0]}, a word of another run"
        carried(run.request(1).request.items, [INSTRUCTIONS, question(color)])
        offered.append(run.request(1).body.get("tools"))
        assert offered[0] == offered[-1], "another run of the agent offers other tools"
        if color != COLORS[1]:  # a loop may end in an error where a tool raises one
            returned(run, f"It is {color}.")
            heard.append(color in "".join(chunk.text for chunk in run.chunks))
            assert heard[0] == heard[-1], "the caller of the first run of the agent received its text, this one none"


@requirement("shared-agent-runs-apart")
def test_at_the_same_time(scenario: Scenario, implementation: Implementation) -> None:
    """Two runs of one agent overlap, unless it makes one wait or refuses it: neither has words of the other.

    The answer of the second run waits for the end of the first one, so that both callers are there to hear it.
    """
    implementation.needs("concurrent")
    talk = Talk(implementation, named=False)
    both = Gate("the other run has asked too", patience=3.0, if_ever=True)
    ended = Gate("the first run has ended", lambda event: isinstance(event, Ended), patience=3.0, if_ever=True)
    running: dict[str, Running] = {}
    for color in COLORS[:2]:
        asks, says_it = calls(Call.of("note", {"text": color})), says(f"It is {color}.")
        if not running:
            scenario.plays(Step(asks, before=both), says_it)
        else:
            scenario.plays(asks, Step(says_it, before=ended), signal=both)
        scenario.watching = () if running else (both, ended)
        scenario.returns("note", f"kept {color}")
        running[color] = talk.begin(f"What is the color {color}?", mark=color, shared=talk.id)
        if len(running) == 1:  # the second run begins when the first one has asked, so that it is the later one
            both.reached(implementation.bench.patience.gate, running[color].future.done)
    runs = {color: implementation.end(one) for color, one in running.items()}

    answered = 0
    for color, run in runs.items():
        other = next(one for one in runs if one != color)
        for received in run.requests:
            words = words_of(received.request.items)
            assert other not in words, f"request {received.n} carries words of another run"
        texts = [str(one) for one in run.tools_ran]
        assert not [one for one in texts if other in one], f"a tool ran with words of another run: {texts}"
        heard = "".join(chunk.text for chunk in run.chunks)
        assert other not in heard, f"the caller of a run received the text of another: {heard!r}"
        if isinstance(run.outcome, Value):
            returned(run, f"It is {color}.")
            answered += 1
    if not answered:
        raise NotReached("neither of two runs of one agent was answered")


@requirement("shared-agent-runs-apart")
def test_schemas_stay(scenario: Scenario, implementation: Implementation) -> None:
    """Each run of one agent offers a nested schema as the run before it did, also behind a call of the tool.

    A request that offers nothing is no matter of this case: the service may have the tools already.
    """
    talk = Talk(implementation, named=False)
    offered: list[object] = []
    for color in COLORS:
        scenario.plays(calls(Call.of("plan", {"from": {"city": color, "floor": 1}})), says(f"It is {color}."))
        scenario.returns("plan", f"planned {color}")

        run = talk.run(f"Plan with {color}.", shared=talk.id, tools=[PLAN])

        offered += [received.body["tools"] for received in run.requests if received.body.get("tools")]
        changed = next((one for one in offered if one != offered[0]), None)
        assert changed is None, f"a request of the agent offers another schema: {plain(changed)}"
    if len(offered) < len(COLORS):
        raise NotReached("the runs of one agent did not offer its tool")
