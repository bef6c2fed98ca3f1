"""Signs that name a cause by themselves, in ordinary traffic: what is refused, misread, lost or posted wrongly.

There almost everything fails, and of many requirements none is about the fault. So the most specific one is not looked
for among them; it is the one that is about the sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from looptck.failures.groups import Finding, Key
from looptck.failures.signs import FORGOTTEN, MISREAD, RENAMED, RUN_OTHERWISE, Sign
from looptck.values.outcome import UNSTREAMED
from looptck.values.transcript import UNREADABLE_CALL

REFUSED = "no-request-is-refused"
REFUSED_OF_SERVERS = "server-no-request-is-refused"
OF_REFUSALS = (REFUSED, REFUSED_OF_SERVERS)
LEAKS = "runs-do-not-leak"
ECHOED = "arguments-are-echoed-as-given"
CARRIED = "calls-are-echoed"
FRAGMENTED = "fragmented-arguments-are-joined"
DISPATCHED = "server-dispatch-body-is-name-and-arguments"
TYPED = "server-content-types-are-said"
ARRIVED = "arguments-arrive-whatever-their-shape"
ANSWERED = "every-call-is-answered"
NUMBERED = "results-carry-their-call-ids"
UNCHANGED = "text-result-arrives-unchanged"
ABOUT: Mapping[Sign, str] = {
    FORGOTTEN: CARRIED,
    RENAMED: CARRIED,
    ("history", "the prompt", "changed"): "history-only-grows",
    ("history", "result", "left out"): ANSWERED,
    ("history", "result", "added"): ANSWERED,
    ("history", "result", "id changed"): NUMBERED,
    ("history", "result", "text changed"): UNCHANGED,
    ("history", "result", "empty"): UNCHANGED,
    **{("history", "thinking", how): "thinking-is-echoed" for how in ("left out", "changed")},
    **{("history", "reasoning", how): "reasoning-is-echoed" for how in ("left out", "changed")},
}
"""What is wrong with a history, and the requirement that says so; it names the cause if it fails mostly."""
FAR = 6
"""How many times as often as any other requirement the one about refusals fails if the reason is in many kinds of
traffic."""


def pointed(key: Key, failed: Sequence[Finding], judged: Mapping[str, int]) -> str | None:
    """The requirement that a sign names; None if the fault is in rarer traffic, or the sign may have many reasons.

    Args:
        key: The group of the failures, which begins with their sign.
        failed: The failures of the group.
        judged: How often each requirement was judged in the run, with whatever verdict.
    """

    def fails_mostly(row: str) -> bool:
        return sum(one.result.requirement == row for one in failed) * 2 > judged.get(row, len(failed) * 2)

    if key[0] == "refused" and any(one.result.requirement == LEAKS for one in failed):
        return LEAKS  # what a run has of those before it may be refused at any place, by any rule
    for refused in OF_REFUSALS if key[0] == "refused" else ():
        if fails_mostly(refused) or _is_everywhere(failed, key[1], refused):
            return refused
    if key == MISREAD and fails_mostly(ECHOED):
        streamed = all("/stream/" in one.result.cell for one in failed)
        return FRAGMENTED if streamed and fails_mostly(FRAGMENTED) else ECHOED
    if key[:2] == RUN_OTHERWISE and _is_most_of(failed, ARRIVED):
        return ARRIVED
    if (about := ABOUT.get(key)) is not None and fails_mostly(about):
        return about
    for refused in OF_REFUSALS if key[0] == "history" else ():
        if _is_everywhere(failed, "", refused):
            return refused  # what the service says of such a history is about it, and what else fails is not
    if key[:2] == ("error", UNSTREAMED):
        return TYPED if any(one.result.requirement == TYPED for one in failed) else None
    if key[:2] == ("stray", "POST") and key[2].startswith(UNREADABLE_CALL):
        return DISPATCHED if any(one.result.requirement == DISPATCHED for one in failed) else None
    return None


def _is_most_of(failed: Sequence[Finding], row: str) -> bool:
    """Whether no requirement fails more often than this one: the others then fail for what their scripts call too."""
    counts = Counter(one.result.requirement for one in failed)
    return counts[row] > 0 and counts[row] == max(counts.values())


def _is_everywhere(failed: Sequence[Finding], rule: str, refused: str) -> bool:
    """Whether the requests that break a rule belong to so many requirements that none of them is about the rule."""
    counts = Counter(one.result.requirement for one in failed)
    return rule not in counts and counts.pop(refused, 0) >= FAR * max(counts.values(), default=1)
