"""Usage: the tokens that a loop tells its caller, held against those that its replies have reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, combinations

from looptck.bench.run import Run
from looptck.provider.mock_run import BESIDE
from looptck.values.transcript import SideRequest
from looptck.values.turns import Turn, Usage
from looptck.values.verdicts import NotApplicable
from looptck.wires import WIRES

KINDS: Mapping[str, Callable[[Usage], int]] = {
    "input_tokens": lambda one: one.input,
    "output_tokens": lambda one: one.output,
    "total_tokens": lambda one: one.input + one.output,
}
"""The numbers that are judged, by their names in the protocol."""
OTHERS = "may count tokens of other runs"
"""What a loop that tells more than the sum has probably done."""


def using(turn: Turn, usage: Usage) -> Turn:
    """A turn whose reply reports this usage."""
    return replace(turn, usage=usage)


def told(run: Run) -> Mapping[str, float]:
    """The numbers that the loop has told its caller; empty: it has told none. NotReached if it returned nothing."""
    return {name: count for name, count in (run.value.usage or {}).items() if name in KINDS}


def reported(run: Run) -> list[Usage]:
    """What each reply of a run has said of tokens.

    Raises:
        NotReached: the model was not asked, or the loop returned nothing.
        NotApplicable: no reply said anything, or the loop has asked the model for something else too.
    """
    run.delivered(1)
    run.value  # noqa: B018  it decides
    if any(isinstance(event, SideRequest) and event.answered == BESIDE for event in run.transcript.events):
        raise NotApplicable("the loop has asked the model for something beside the script, and may count that too")
    tells = WIRES[run.cell.wire].tells_usage
    found = [turn.usage for n, turn in sorted(run.turns.items()) if turn.usage and tells(run.request(n).body)]
    if not found:
        raise NotApplicable("the loop does not ask for the usage of its streams, and so the service tells none")
    return found


TWICE = "counts each reply twice"
_ON_THE_WAY = "the events on the way have counted"


def usage_is_the_sum(
    run: Run,
    *,
    earlier: Run | None = None,
    beside: Run | None = None,
    part: tuple[Sequence[Usage], str] = ((), ""),
    more: str = OTHERS,
) -> None:
    """Assert that each number of tokens that the caller is told is the sum over the replies of the run.

    Args:
        run: The run, whose value decides.
        earlier: The run before it, whose tokens are not to be counted.
        beside: A run at the same time, whose tokens are not to be counted.
        part: Some of its replies, and what a loop has done that tells their tokens alone.
        more: What a loop that tells more has done, if the number itself does not show it.
    """
    replies = reported(run)
    got = told(run)
    assert got, f"the replies have reported {_both(replies)} tokens, and the caller is told no number of them"
    for name, count in KINDS.items():
        numbers = [count(one) for one in replies]
        if name not in got or sum(numbers) == got[name]:
            continue
        known = {**_sums_with_others(numbers, name, earlier, beside), **_sums_of_this(replies, name)}
        if part[0]:
            known[sum(map(count, part[0]))] = part[1]
        what = known.get(got[name], more if got[name] > sum(numbers) else "")
        if what == TWICE and any(got.get(other) == sum(map(count, replies)) for other, count in KINDS.items()):
            what = f"counts the {name.removesuffix('_tokens')} of each reply twice"
        kind, like = name.replace("_", " "), f", which {what}" if what else ""
        raise AssertionError(
            f"the replies have reported {_sum(numbers)} {kind}, and the caller is told {got[name]}{like}"
        )


def _sums_of_this(replies: Sequence[Usage], name: str) -> dict[float, str]:
    """What a loop may tell in place of the sum of one kind, and how this came about; what is likelier comes last."""
    numbers = [KINDS[name](one) for one in replies]
    whole, several = sum(numbers), len(numbers) > 1
    on_the_way = [number // 2 for number in numbers]
    found: dict[float, str] = {
        sum(map(count, replies)): f"is that of the {other.replace('_', ' ')}" for other, count in KINDS.items()
    }
    found |= {
        sum(on_the_way): f"is what {'each message began with' if name == 'input_tokens' else _ON_THE_WAY}",
        whole + sum(on_the_way) + len(numbers): "adds up counts that are cumulative",
        whole + sum(on_the_way): "adds up counts that are cumulative",
        len(numbers): "is the count at the start of each message",
        whole + len(numbers): "adds the count at the start of each message to the one at its end",
        2 * whole: TWICE,
    }
    if thought := sum(one.reasoning for one in replies):
        found[whole + thought] = "counts the reasoning twice, which is a part of the output"
    if several:
        found |= {
            sum(accumulate(numbers)): "is the sum of the sums so far",
            max(numbers): "is the largest of them",
            whole - numbers[0]: "leaves out the first reply",
            whole - numbers[-1]: "leaves out the last reply",
            numbers[0]: "is that of the first reply alone",
            numbers[-1]: "is that of the last reply alone",
        }
    return found | {0: "is as if no reply had reported any"}


def _sums_with_others(numbers: Sequence[int], name: str, earlier: Run | None, beside: Run | None) -> dict[float, str]:
    """The same, with tokens of other runs in it: all that was told of the earlier one, or some replies of the other."""
    found: dict[float, str] = {}
    if beside is not None:
        others = [KINDS[name](one) for one in reported(beside)]
        found = {
            own + more: "counts tokens of the other run" for own in _parts(numbers) for more in _parts(others) if more
        }
    if earlier is not None:
        found[sum(numbers) + told(earlier).get(name, 0)] = "counts tokens of earlier runs"
    return found


def _parts(numbers: Sequence[int]) -> set[int]:
    """The sums of some of the numbers, of all, and of none."""
    return {sum(some) for n in range(len(numbers) + 1) for some in combinations(numbers, n)}


def _sum(numbers: Sequence[int]) -> str:
    return str(numbers[0]) if len(numbers) == 1 else f"{' + '.join(map(str, numbers))} = {sum(numbers)}"


def _both(replies: Sequence[Usage]) -> str:
    return f"{_sum([one.input for one in replies])} input and {_sum([one.output for one in replies])} output"
