"""The matrix: what kills a mutant, what is noise, and what is told of both."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from looptck.commands.kill.columns import State
from meta.kill.making import column, failed, killed, matrix, mutant, played, requirement


def test_mutant_is_killed_by_what_it_breaks() -> None:
    """A mutant that fails what it says it breaks is killed, and there is nothing to be mended."""
    found = column(mutant("bent", "one"), *failed("one"))

    assert State.KILLED is found.state
    assert [] == found.complaints


def test_one_failure_of_several_checks_is_enough() -> None:
    """A requirement has failed when one of its checks has, whatever the others say."""
    found = column(mutant("bent", "one"), played("one", "not-reached"), *failed("one"))

    assert State.KILLED is found.state
    assert set() == found.hidden


@pytest.mark.parametrize(
    ("checks", "state", "told"),
    [
        ([], State.SURVIVED, "it does not fail one, which was not judged"),
        ([played("one", "pass")], State.SURVIVED, "it does not fail one, which passes"),
        (
            [*map(partial(played, "one"), ("not-applicable", "pass"))],
            State.SURVIVED,
            "it does not fail one, which passes",
        ),
        ([played("one", "not-reached")], State.SURVIVED, "it does not fail one, which is not-reached: it is wrong"),
        ([played("one", "fail", crash="KeyError")], State.BY_OTHERS, "it does not fail one, but crashes with KeyError"),
        ([*failed("two")], State.BY_OTHERS, "it does not fail one, which was not judged"),
    ],
    ids=["nothing", "a pass", "a pass beside what does not apply", "not reached", "a crash", "another"],
)
def test_only_a_failure_kills(checks: list[object], state: State, told: str) -> None:
    """A check that was not reached has judged nothing, nor has one that failed by a crash."""
    found = column(mutant("bent", "one", collateral={"two": "it leans on one"}), *checks)  # type: ignore[arg-type]

    assert state is found.state
    assert [told] == found.complaints


def test_mutant_has_to_break_all_that_it_says() -> None:
    """Where one of several requirements stands, others have killed the mutant."""
    found = column(mutant("bent", "one", "two"), *failed("one"))

    assert State.BY_OTHERS is found.state
    assert ["two"] == found.missed


def test_failure_that_is_not_said_is_noise() -> None:
    """An undeclared failure is reported, with the check that failed; a declared one is not."""
    found = column(mutant("bent", "one", collateral={"two": "it leans on one"}), *failed("one", "two", "three"))

    assert ["three"] == found.noise
    assert [
        "it also fails three, which it does not declare: openai-chat/plain/sync, a-case: it is wrong"
    ] == found.complaints


def test_crash_is_noise_where_it_is_not_said() -> None:
    """A mutant that crashes is no loop with one fault."""
    found = column(mutant("bent", "one"), *failed("one"), played("two", "fail", crash="TypeError"))

    assert ["it also fails two, which it does not declare: crashed with TypeError"] == found.complaints


def test_what_is_not_reached_is_no_noise() -> None:
    """A check behind the event at which a mutant ends needs no word."""
    found = column(mutant("bent", "one"), *failed("one"), played("two", "not-reached"))

    assert {"two"} == found.hidden
    assert [] == found.complaints


@pytest.mark.parametrize("full", [False, True])
def test_what_never_falls_is_told_where_all_cells_were_judged(full: bool) -> None:
    """In fewer cells nothing can be said of it."""
    found = column(mutant("bent", "one", collateral={"two": "it leans on one"}), *failed("one"), full=full)

    assert (["it declares two as collateral, which passed in every cell"] if full else []) == found.complaints


def test_mutant_that_could_not_be_judged_is_broken() -> None:
    """Its trouble is what is told, and not that it broke nothing."""
    found = column(mutant("bent", "one"), trouble="it did not start")

    assert State.BROKEN is found.state
    assert ["it did not start"] == found.complaints


def test_requirement_is_killed_by_those_that_say_so() -> None:
    """A row tells its killers from those that fail it beside what they break, and knows who fails it alone."""
    beside = column(mutant("beside", "two", collateral={"one": "it leans on two"}), *failed("one", "two"))
    one, two = matrix(killed("alone", "one"), beside).rows

    assert (["alone"], ["alone"], ["beside"]) == (one.killers, one.alone, one.others)
    assert (["beside"], [], []) == (two.killers, two.alone, two.others)


def test_nothing_is_said_of_what_was_not_judged() -> None:
    """A mutant that met the checks of what it breaks alone may fail more, and what it says of others may hold."""
    bent = mutant("bent", "one", collateral={"two": "it leans on one"})
    found = replace(column(bent, *failed("one"), full=True), own=True)

    one, _ = matrix(found).rows

    assert (["bent"], []) == (one.killers, one.alone)
    assert [] == found.complaints


@pytest.mark.parametrize(
    ("columns", "excuse", "told"),
    [
        ([killed("bent", "one")], None, []),
        ([], "It cannot be broken.", []),
        ([], None, ["one: no mutant that declares to break it fails it"]),
        (
            [killed("bent", "one")],
            "It cannot be broken.",
            ["one: the catalogue states that no mutant can break it, but bent does"],
        ),
    ],
    ids=["killed", "excused", "neither", "both"],
)
def test_requirement_needs_a_mutant_or_a_reason(columns: list[object], excuse: str | None, told: list[str]) -> None:
    """One of them, and not both."""
    found = matrix(*columns, requirements=[requirement("one", no_mutant=excuse)])  # type: ignore[arg-type]

    assert told == found.complaints


def test_case_that_nothing_fails_is_told() -> None:
    """A case is proven by any mutant that fails it, in whatever cell, and by no crash."""
    bent = column(
        mutant("bent", "one", collateral={"two": "it leans on one"}),
        played("one", "fail", case="short", cell="anthropic/stream/async"),
        played("one", "not-reached", case="long"),
        played("one", "fail", case="odd", crash="KeyError"),
        played("two", "fail", case="a-case"),
    )
    found = matrix(bent, cases={"one": ["short", "long", "odd", "empty"], "two": ["a-case"]})

    assert [["long", "odd", "empty"], []] == [row.unproven for row in found.rows]
    assert {"cases": 5, "cases without a mutant": 3}.items() <= found.counted().items()
    assert [(4, ["long", "odd", "empty"]), (1, [])] == [
        (row["cases"], row["unproven"]) for row in found.serializable()["requirements"]
    ]


def test_case_that_nothing_can_fail_is_not_counted() -> None:
    """A requirement that no mutant can break has no cases to be proven."""
    found = matrix(requirements=[requirement("one", no_mutant="It cannot be broken.")], cases={"one": ["a-case"]})

    assert [[]] == [row.unproven for row in found.rows]
    assert {"cases": 0, "cases without a mutant": 0}.items() <= found.counted().items()


def test_everything_is_counted() -> None:
    """The counts say what there was of each, and what of it is proof."""
    counts = matrix(
        killed("first", "one"),
        column(mutant("second", "two"), *failed("two", "one")),
        column(mutant("third", "three")),
        requirements=[requirement(id) for id in ("one", "two", "three")],
    ).counted()

    wanted = {"killed": 2, "survived": 1, "noisy": 1, "requirements": 3, "requirements killed": 2}
    assert wanted == {name: counts[name] for name in wanted}
    assert 1 == counts["requirements killed alone"]
