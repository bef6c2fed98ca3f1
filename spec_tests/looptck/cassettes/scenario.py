"""A recording and its case: whether they still tell the same story, and how the scene for the recording is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from looptck.cases import Case, cases
from looptck.cassettes.cassette import Cassette
from looptck.history import parsed, spelled
from looptck.kit import Scene
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.turns import Turn
from looptck.wires import WIRES
from looptck.wires.wire import CUT


def kept_case(cassette: Cassette) -> Case | None:
    """The case, where the model kept to its script: then all that it expects can be asked of the recording too.

    None: the model said something else, the case has changed since, or is none of the kit's.
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
    """What the tools do: as the case has it, or return the texts that were recorded."""
    case = kept_case(cassette)
    if case is not None:
        return case.behaviours
    return {tool: [Returns(text) for text in texts] for tool, texts in cassette.results.items()}


def is_plain_sailing(cassette: Cassette) -> bool:
    """Whether each call that the recording client answered is one that any loop runs, and nothing fails on the way.

    What becomes of the calls of a turn that was cut is for requirements of their own.
    """
    last = cassette.exchanges[-1].turn
    if last is not None and last.calls:
        return False
    case = kept_case(cassette)
    handled = {tool.name for tool in (case.tools if case else cassette.tools) if tool.handled}
    raises = any(isinstance(one, Raises) for many in behaviours(cassette).values() for one in many)
    calls = [call for turn in cassette.followed for call in turn.calls]
    return not raises and all(call.tool in handled and _is_object(call.arguments) for call in calls)


def set_scene(cassette: Cassette, scene: Scene) -> None:
    """Set the scene: the recorded replies in order, and the tools as they were then."""
    scene.plays(*cassette.steps)
    for tool, many in behaviours(cassette).items():
        scene.does(tool, *many)


def _same(cassette: Cassette, wanted: Turn, said: Turn) -> bool:
    """Whether a recorded turn is the one of the script, as far as the wire can tell."""
    wire = WIRES[cassette.wire]
    stop = wanted.stopped if wanted.stopped in wire.stops else "end"
    lost = wire.parsed_arguments and not cassette.stream and said.stopped in CUT
    return stop == said.stopped and _told(wanted, lost) == _told(said, lost)


def _told(turn: Turn, lost: bool) -> tuple[object, ...]:
    """What it says; ``lost``: but for the arguments of its calls, for half an object has no place in a plain reply."""
    calls = [(call.tool, None if lost else spelled(call.arguments)) for call in turn.calls]
    return turn.text or "", turn.refusal, calls


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(parsed(arguments), dict)
    except ValueError:
        return False
