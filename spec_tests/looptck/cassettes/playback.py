"""Playing a recording: whether its model followed the script of its case, and what the provider and the tools do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck.bench.cases import Case, cases
from looptck.bench.scenario import Scenario
from looptck.cassettes.cassette import Cassette
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.values.history import parsed, spelled
from looptck.values.turns import Turn
from looptck.wires import WIRES
from looptck.wires.wire import CUT


def case_followed(cassette: Cassette) -> Case | None:
    """The case, if the model followed its script: then all its expectations can be judged on the recording.

    None: the model answered differently, the case has changed since, or looptck has no such case.
    """
    case = cases().get(cassette.scenario)
    if case is None or case.fingerprint != cassette.provenance.scenario:
        return None
    wanted = [step.turn for step in case.steps if step.turn is not None]
    said = cassette.turns
    if len(said) != len(cassette.exchanges) or len(said) > len(wanted):
        return None
    if len(said) < len(wanted) and said[-1].stopped not in CUT:
        return None
    same = (_same(cassette, *pair) for pair in zip(wanted, said, strict=False))
    return case if all(same) else None


def behaviours(cassette: Cassette) -> Mapping[str, Sequence[Behaviour]]:
    """The behaviours of the tools: those of the case, or the recorded results."""
    case = case_followed(cassette)
    if case is not None:
        return case.behaviours
    return {tool: [Returns(text) for text in texts] for tool, texts in cassette.results.items()}


def is_ordinary(cassette: Cassette) -> bool:
    """Whether every loop reacts in the same way: every call can be run, and no tool raises.

    Calls of a turn that was cut are judged by requirements of their own.
    """
    last = cassette.exchanges[-1].turn
    if last is not None and last.calls:
        return False
    case = case_followed(cassette)
    handled = {tool.name for tool in (case.tools if case else cassette.tools) if tool.handled}
    raises = any(isinstance(one, Raises) for many in behaviours(cassette).values() for one in many)
    calls = [call for turn in cassette.followed for call in turn.calls]
    return not raises and all(call.tool in handled and _is_object(call.arguments) for call in calls)


def set_scenario(cassette: Cassette, scenario: Scenario) -> None:
    """Set up a scenario: the recorded replies in order, and the tools with their recorded behaviour."""
    scenario.plays(*cassette.steps)
    for tool, many in behaviours(cassette).items():
        scenario.does(tool, *many)


def _same(cassette: Cassette, wanted: Turn, said: Turn) -> bool:
    """Whether a recorded turn equals that of the script, as far as the wire can express it."""
    wire = WIRES[cassette.wire]
    stop = wanted.stopped if wanted.stopped in wire.stops else "end"
    lost = wire.parsed_arguments and not cassette.stream and said.stopped in CUT
    return stop == said.stopped and _content(wanted, lost) == _content(said, lost)


def _content(turn: Turn, lost: bool) -> tuple[object, ...]:
    """What is compared; ``lost``: without arguments of calls, because a plain reply cannot hold half an object."""
    calls = [(call.tool, None if lost else spelled(call.arguments)) for call in turn.calls]
    return turn.text or "", turn.refusal, calls


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(parsed(arguments), dict)
    except ValueError:
        return False
