"""Idle mutants: those that could all be dropped, and no requirement and no case would lose its proof."""

from __future__ import annotations

from dataclasses import replace

from looptck.commands.kill.columns import Column
from looptck.commands.kill.idle import idle
from meta.kill.making import column, failed, killed, matrix, mutant, played

MESSAGES = "anthropic-messages/plain/sync"


def test_mutants_that_prove_the_same_need_not_both_stay() -> None:
    """One of two equal ones is idle, and not both."""
    assert ["first"] == idle([killed("first", "one"), killed("second", "one")], {"one"})


def test_only_mutant_of_a_requirement_is_not_idle() -> None:
    """Another may fail its case too, but not as what it breaks."""
    beside = column(mutant("beside", "two", collateral={"one": "it leans on two"}), *failed("one", "two"))

    assert [] == idle([killed("only", "one"), beside], {"one", "two"})


def test_broad_mutant_spares_no_targeted_one() -> None:
    """A broad mutant proves cases alone, so the targeted one stays and the broad one is idle."""
    broad = Column(replace(mutant("broad", "one"), broad=True), failed("one"), own=True)

    assert ["broad"] == idle([killed("targeted", "one"), broad], {"one"})


def test_only_mutant_of_a_case_is_not_idle() -> None:
    """What proves a case that no other proves stays, whatever the requirement is proven by."""
    other = column(mutant("other", "one"), played("one", "fail", case="another-case"))

    assert [] == idle([killed("usual", "one"), other], {"one"})


def test_only_mutant_of_a_wire_is_not_idle() -> None:
    """A check reads each wire with code of its own, so a proof is one of a wire."""
    other = column(mutant("other", "one"), played("one", "fail", cell=MESSAGES))

    assert [] == idle([killed("usual", "one"), other], {"one"})


def test_only_mutant_of_an_assertion_is_not_idle() -> None:
    """One case may be failed in two ways, and each of them has to be proven."""
    one = column(mutant("too-few", "one"), played("one", "fail", place="test_one:7"))
    other = column(mutant("too-many", "one"), played("one", "fail", place="test_one:8"))

    assert [] == idle([one, other], {"one"})


def test_more_proof_stays() -> None:
    """Of two that prove a requirement, the one that proves another case too stays."""
    more = column(mutant("more", "one"), *failed("one"), played("one", "fail", case="another-case"))

    assert ["less"] == idle([more, killed("less", "one")], {"one"})


def test_kill_without_collateral_stays() -> None:
    """Of two that prove a requirement, the one that fails nothing else stays."""
    noisy = column(mutant("noisy", "one", collateral={"two": "it leans on one"}), *failed("one", "two"))
    two = killed("two", "two")

    assert ["noisy"] == idle([noisy, killed("alone", "one"), two], {"one", "two"})


def test_what_is_to_be_mended_is_not_idle() -> None:
    """A mutant that survives, or that could not be judged, proves nothing yet."""
    survivor, broken = column(mutant("survivor", "one")), column(mutant("broken", "one"), trouble="it did not start")

    assert [] == idle([killed("usual", "one"), survivor, broken], {"one"})


def test_matrix_counts_and_lists_them() -> None:
    """They are in its counts and in its JSON, and are no complaint."""
    found = matrix(killed("first", "one"), killed("second", "one"))

    assert (1, ["first"], []) == (found.counted()["idle"], found.serializable()["idle"], found.complaints)


def test_nothing_is_idle_where_only_some_were_judged() -> None:
    """Without requirements nothing is known of what the others prove."""
    found = replace(matrix(killed("first", "one"), killed("second", "one")), requirements=[])

    assert [] == found.idle
