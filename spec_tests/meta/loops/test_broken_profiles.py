"""Each broken loop fails the requirements of its profile that name its fault, and nothing unexplained."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from looptck.catalogue import catalogue
from looptck.verdicts import AGAINST
from looptck_reference.driver import Driver
from meta.loops import faults_agent_mode, faults_anthropic, faults_prompts, faults_rules
from meta.loops.broken_rules import AllAtOnce
from meta.loops.expecting import CELLS, expected, those
from meta.loops.faults import SYNC, Fault
from meta.loops.judging import judged

FAULTS: dict[str, Sequence[Fault]] = {
    "anthropic-loop": [*faults_anthropic.FAULTS, *faults_rules.ANTHROPIC_LOOP],
    "prompty-agent-mode": faults_agent_mode.FAULTS,
    "prompty-spec": [*faults_prompts.FAULTS, *faults_rules.PROMPTY_SPEC],
}
NOT_CLAIMED = {"claude-eager-calls-run-at-most-once"}
"""The requirements that need what the reference does not do: it starts no calls early."""


@pytest.mark.parametrize(
    ("profile", "fault"),
    [pytest.param(profile, fault, id=fault.loop.__name__) for profile, faults in FAULTS.items() for fault in faults],
)
def test_broken_loop(profile: str, fault: Fault) -> None:
    """In the cells of its fault it fails what the table says, and what names the fault fails outright."""
    cells = [cell for cell in CELLS if cell.matches(fault.cells)]

    results = judged(fault.loop, *fault.cells, profile=profile)

    assert expected(fault, [*fault.named, *fault.also], cells) == those(results, *AGAINST)
    assert expected(fault, fault.named, cells) <= those(results, "fail")


def test_overlapping_calls_are_seen() -> None:
    """Calls that overlap fail the requirement that they do not; what else falls with them is a matter of chance."""
    rule = "spec-tools-run-one-after-the-other"

    results = judged(AllAtOnce, *SYNC, profile="prompty-spec", requirements=[rule])

    assert {"fail"} == {result.verdict for result in results}
    assert {rule} == {id for id, _ in those(results, "fail")}


@pytest.mark.parametrize("profile", FAULTS)
def test_reference_is_whole(profile: str) -> None:
    """The reference breaks nothing of the profile, so the faults are the broken loops' own."""
    results = judged(Driver, *SYNC, "openai-chat/*/async", profile=profile)

    assert set() == those(results, *AGAINST)
    assert {id for id, _ in those(results, "not-applicable")} <= NOT_CLAIMED


def test_every_requirement_of_the_guide_has_a_loop_that_breaks_it() -> None:
    """No requirement of the profile is one that nothing was seen to fail."""
    tested = {row.id for row in catalogue().profiles["prompty-agent-mode"].requirements if row.excluded is None}

    assert tested == {id for fault in faults_agent_mode.FAULTS for id in fault.named}
