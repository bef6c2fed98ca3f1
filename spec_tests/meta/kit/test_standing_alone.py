"""Profiles that stand alone: who is judged by them, by what else, and with which reference."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from looptck.bench.checks import Check
from looptck.catalogue.requirements import Requirement
from looptck.commands.kill.options import MUTANTS, SERVER_MUTANTS, SOLUTION_MUTANTS, KillOptions
from looptck.drivers import REFERENCE, SERVER, SOLUTIONS, Started, reference
from looptck.failures.failure import again
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.cell import Cell
from looptck.values.verdicts import NotApplicable

CELL = Cell("openai-chat", stream=False, mode="async")
CORE = Requirement("a-row", "core", "MUST", "A text.", (), "wire", "0.8.0")
OF_LOOPS = replace(CORE, profile="agent-loop-010")
OF_SERVERS = replace(CORE, profile="server-loop")


def started(*profiles: str) -> Started:
    """What claims these profiles."""
    return Started("x", "1", "python", ("openai-chat",), ("async",), profiles, {}, {})


@pytest.mark.parametrize(
    ("profiles", "claimed"),
    [
        ((), ("core",)),
        (("prompty-spec",), ("core", "prompty-spec")),
        (("server-loop",), ("server-loop",)),
        (("agent-loop-010",), ("agent-loop-010",)),
        (("agent-loop-010", "prompty-spec"), ("agent-loop-010", "prompty-spec")),
    ],
)
def test_what_stands_alone_is_judged_without_core(profiles: tuple[str, ...], claimed: tuple[str, ...]) -> None:
    """A loop of Solutions takes no cases of core, as a server does not."""
    one = started(*profiles)

    assert claimed == one.claimed
    assert ("server-loop" in profiles) == one.serves


@pytest.mark.parametrize(
    ("asked", "profiles", "taken"),
    [
        ((), (), [CORE]),
        ((), ("agent-loop-010",), [OF_LOOPS]),
        ((), ("server-loop",), [OF_SERVERS]),
        (("agent-loop-010",), (), [OF_LOOPS]),
        (("core",), ("agent-loop-010",), []),
        (("core", "agent-loop-010"), ("agent-loop-010",), [OF_LOOPS]),
        (("server-loop",), ("agent-loop-010",), []),
        (("agent-loop-010",), ("server-loop",), []),
    ],
)
def test_the_selection_knows_who_stands_alone(
    asked: tuple[str, ...], profiles: tuple[str, ...], taken: list[Requirement]
) -> None:
    """Such an implementation has no checks of other profiles; the checks of its own are for others when asked for."""
    selection, one = Selection(profiles=asked), started(*profiles)

    assert taken == [row for row in (CORE, OF_LOOPS, OF_SERVERS) if selection.takes(row, CELL, one)]


def session(*profiles: str) -> Any:
    """As much of a session as tells what its driver claims."""
    return SimpleNamespace(bench=SimpleNamespace(started=started(*profiles)))


@pytest.mark.parametrize("row", [OF_LOOPS, OF_SERVERS], ids=["loops", "servers"])
def test_what_is_not_claimed_is_not_applicable(row: Requirement) -> None:
    """A loop that was never meant to read Solutions does not fail for it."""
    with pytest.raises(NotApplicable, match=f"the driver does not claim {row.profile}"):
        Session.require(session(), Check(row, CELL, "a-case"))

    Session.require(session(row.profile), Check(row, CELL, "a-case"))


def test_other_profiles_need_no_claim() -> None:
    """A profile that is not claimed and is asked for is judged."""
    Session.require(session(), Check(replace(CORE, profile="prompty-spec"), CELL, "a-case"))


@pytest.mark.parametrize(
    ("profiles", "driver", "mutants"),
    [
        ((), REFERENCE, MUTANTS),
        (("core",), REFERENCE, MUTANTS),
        (("server-loop",), SERVER, SERVER_MUTANTS),
        (("agent-loop-010",), SOLUTIONS, SOLUTION_MUTANTS),
        (("agent-loop-010", "agent-loop-010"), SOLUTIONS, SOLUTION_MUTANTS),
        (("core", "agent-loop-010"), REFERENCE, MUTANTS),
    ],
)
def test_a_profile_that_stands_alone_has_a_reference_of_its_own(
    profiles: tuple[str, ...], driver: str, mutants: str
) -> None:
    """Nobody has to name its driver, nor its mutants."""
    assert (driver, driver, mutants) == (
        reference(profiles),
        KillOptions(profiles=profiles).loop,
        KillOptions(profiles=profiles).collection,
    )


@pytest.mark.parametrize(
    ("driver", "row", "named"),
    [(SOLUTIONS, OF_LOOPS, False), (REFERENCE, OF_LOOPS, True), (REFERENCE, CORE, False), (SOLUTIONS, CORE, True)],
)
def test_the_line_to_paste_names_the_driver_where_it_has_to(driver: str, row: Requirement, named: bool) -> None:
    """Where the profile alone leads to another driver."""
    assert named == (f"--driver {driver}" in again(driver, Check(row, CELL, "a-case")))
