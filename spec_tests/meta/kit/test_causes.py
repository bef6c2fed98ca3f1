"""Causes: failures that come from one fault are told once, under the row that says most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from looptck.failures.blocks import one_line_each
from looptck.failures.causes import causes
from looptck.failures.groups import MOST_ROWS
from looptck.failures.pointed import ABOUT, DISPATCHED, ECHOED, LEAKS, REFUSED_OF_SERVERS, TYPED
from looptck.failures.signs import MISREAD, Sign
from looptck.values.outcome import UNSTREAMED
from looptck.values.transcript import UNREADABLE_CALL
from looptck.values.verdicts import Result
from meta.kit.causing import CHAT, ENDED, LOST, MESSAGES, PLAIN, REFUSED, ROWS, STREAM, finding, named, row


def test_one_sign_is_one_cause() -> None:
    """What failed on runs in which the same went wrong first has one cause, in whatever cell and case."""
    found = causes([finding("echo", LOST), finding("echo", LOST, cell=STREAM, run="r2")], ROWS)

    assert [[PLAIN, STREAM]] == [one.cells for one in found]


@pytest.mark.parametrize(("others", "name"), [(2, "answer"), (1, "leak")])
def test_a_loop_that_also_hung(others: int, name: str) -> None:
    """A hang names a cause only if no more failures of it say more: one fault may also hang where it meets another."""
    hung = finding("leak", LOST)
    hung = replace(hung, result=replace(hung.result, reason="liveness: the loop gave no outcome within 8 s"))

    assert [name] == list(named(hung, *(finding("answer", LOST, run=f"r{n}") for n in range(others))))


def test_rows_about_whole_conversations_name_nothing() -> None:
    """A row that only notices gives way to the one that says what is wrong, even where it fails more often."""
    general = [finding("whole", LOST, run=f"r{n}") for n in range(9)]

    assert {"order": ["whole"]} == named(*general, finding("order", LOST))
    assert {"whole": []} == named(*general)
    everywhere = [finding("whole", LOST, run=f"r{n}") for n in range(100)]
    assert {"whole": ["order"]} == named(*everywhere, finding("order", LOST))


def test_what_failed_names_before_what_was_not_reached() -> None:
    """A check that was not reached says nothing of what is wrong."""
    assert {"order": ["leak"]} == named(finding("leak", LOST, verdict="not-reached"), finding("order", LOST))


def test_the_worst_impact_names() -> None:
    """Of the rows that say what is wrong it is the one that hurts most, and then the one of the higher level."""
    assert {"leak": ["order", "answer"]} == named(*(finding(id, LOST) for id in ("order", "answer", "leak")))


CANCELS = replace(row("cancels", "unsafe"), needs=("cancel",))
"""A row about what only some loops can do."""


def test_a_row_of_every_loop_names_before_one_of_what_few_can_do() -> None:
    """A fault of cancelling does not show where nothing is cancelled, so what shows there has another reason."""
    rows = {**ROWS, "cancels": CANCELS, "told": replace(row("told", "unsafe"), needs=("chunks", "concurrent"))}
    cancelled = replace(finding("order", LOST), result=Result("cancels", "core", "MUST", PLAIN, "stopped", "fail"))
    told = replace(cancelled, result=replace(cancelled.result, requirement="told", case="in-pieces"))

    assert ["order"] == [one.row.id for one in causes([cancelled, finding("order", LOST)], rows)]
    assert ["told"] == [one.row.id for one in causes([told, finding("order", LOST)], rows)]
    assert ["cancels"] == [one.row.id for one in causes([cancelled], rows)]


def test_a_row_of_every_loop_that_fails_where_few_can_go_says_nothing() -> None:
    """A rule for all runs that is broken where a run is cancelled is no sign of a fault in other runs."""
    rows = {**ROWS, "cancels": CANCELS}
    cancelled = replace(finding("order", LOST), result=Result("cancels", "core", "MUST", PLAIN, "order-case", "fail"))
    found = [cancelled, finding("order", LOST)]
    usual = Result("answer", "core", "MUST", PLAIN, "order-case", "pass")

    assert ["cancels"] == [one.row.id for one in causes(found, rows)]
    assert ["order"] == [one.row.id for one in causes(found, rows, [usual])]


def test_a_row_of_a_few_failures_does_not_name_those_of_many() -> None:
    """The worst impact does not count where almost everything is something else."""
    many = [finding("echo", LOST, run=f"r{n}") for n in range(9)]

    assert {"echo": ["leak"]} == named(*many, finding("leak", LOST))


def test_a_row_that_never_passes_names_those_of_many() -> None:
    """What fails whenever it is played says what is wrong, be it played seldom; once may be chance."""
    always = [finding("leak", LOST, run=f"l{n}") for n in range(2)]
    found = [*always, *(finding("echo", LOST, run=f"r{n}") for n in range(9))]
    results = [one.result for one in found]
    passed = replace(always[0].result, verdict="pass")

    assert ["leak"] == [one.row.id for one in causes(found, ROWS, results)]
    assert ["echo"] == [one.row.id for one in causes(found, ROWS, [*results, passed])]
    assert ["echo"] == [one.row.id for one in causes(found[1:], ROWS, results[1:])]


def test_a_recording_names_nothing_that_a_script_names() -> None:
    """A recording has much at once that a loop may not read, and a scripted case one thing."""
    recorded = [
        replace(one, result=replace(one.result, case="one-call@a-server")) for one in (finding("leak", NO_JSON),)
    ]

    assert {"leak": []} == named(*recorded)
    assert {"crlf": ["leak"]} == named(*recorded, finding("crlf", NO_JSON, run="r2"))


def test_a_row_that_mostly_passes_gives_way() -> None:
    """Of two rows of one impact and level the one that fails whenever it is played there says what is wrong."""
    found = [finding(id, LOST, run=f"{id} {n}") for id in ("answer", "echo") for n in range(2)]
    results = [one.result for one in found]
    passed = [replace(results[0], verdict="pass")] * 3

    assert ["answer"] == [one.row.id for one in causes(found, ROWS, results)]
    assert ["echo"] == [one.row.id for one in causes(found, ROWS, [*results, *passed])]
    elsewhere = [replace(one, cell=STREAM) for one in passed]
    assert ["answer"] == [one.row.id for one in causes(found, ROWS, [*results, *elsewhere])]


def test_cells_that_only_compare_or_record_excuse_no_row() -> None:
    """Neither a comparison with another wire nor a recording of one shows that the fault is in that wire too."""
    found = [finding(id, LOST, run=f"{id} {n}") for id in ("answer", "echo") for n in range(2)]
    compared = finding("whole", LOST, cell=MESSAGES[0], run="answer 0")
    told = finding("answer", LOST, cell=MESSAGES[0], run="recorded")
    recorded = replace(told, result=replace(told.result, case="answer-case@a-server"))
    passed = [replace(found[0].result, cell=MESSAGES[0], verdict="pass")] * 9

    for beside in ([compared], [recorded], [compared, recorded]):
        results = [one.result for one in (*found, *beside)]
        assert ["answer"] == [one.row.id for one in causes([*found, *beside], ROWS, [*results, *passed])]
    scripted = [*found, finding("answer", LOST, cell=MESSAGES[0], run="scripted")]
    assert ["echo"] == [one.row.id for one in causes(scripted, ROWS, [*(one.result for one in scripted), *passed])]


def test_a_fault_in_ordinary_traffic_is_named_by_its_sign() -> None:
    """Where most requests are refused, or most histories wrong in one way, no other row says more than the sign."""
    refused, echoed, fragmented = "no-request-is-refused", ECHOED, "fragmented-arguments-are-joined"
    ROWS.update({id: row(id) for id in (refused, REFUSED_OF_SERVERS, echoed, fragmented, *ABOUT.values())})

    def head(id: str, sign: Sign, cell: str = STREAM, passes: int = 0) -> str:
        often = [finding(id, sign, cell=cell, run=f"r{n}") for n in range(9)]
        rare = [finding(one, sign, cell=STREAM, run=f"{one} {n}") for one in ("leak", fragmented) for n in range(2)]
        results = [one.result for one in (*often, *rare)]
        (cause,) = causes([*often, *rare], ROWS, [*results, *[replace(results[0], verdict="pass")] * passes])
        return cause.row.id

    for row_of_refusals in (refused, REFUSED_OF_SERVERS):
        assert (row_of_refusals, "leak") == (
            head(row_of_refusals, REFUSED),
            head(row_of_refusals, REFUSED, passes=20),
        )
    assert (fragmented, "leak") == (head(echoed, MISREAD), head(echoed, MISREAD, passes=20))
    assert echoed == head(echoed, MISREAD, PLAIN)
    for sign, about in ABOUT.items():
        assert (about, "leak") == (head(about, sign), head(about, sign, passes=20))


def test_refusals_of_what_other_runs_have_said_are_a_leak() -> None:
    """Where a run has what was said in those before it, the rules that the service finds broken there say nothing."""
    refused = "no-request-is-refused"
    ROWS.update({id: row(id) for id in (refused, LEAKS)})
    found = [finding(refused, REFUSED, run=f"r{n}") for n in range(9)]

    assert [refused] == [one.row.id for one in causes(found, ROWS)]
    assert [LEAKS] == [one.row.id for one in causes([*found, finding(LEAKS, REFUSED, run="l")], ROWS)]


def test_calls_that_are_posted_wrongly_are_named_by_their_sign() -> None:
    """A row about the posted body names what no endpoint can read, if it has failed for that."""
    ROWS[DISPATCHED] = row(DISPATCHED, level="SHOULD")
    sign: Sign = ("stray", "POST", f"{UNREADABLE_CALL}its members are name, parameters")
    found = [finding("leak", sign, run="r1"), finding(DISPATCHED, sign, run="r2")]

    assert [DISPATCHED] == [one.row.id for one in causes(found, ROWS)]
    assert ["leak"] == [one.row.id for one in causes(found[:1], ROWS)]


def test_streams_of_another_content_type_are_named_by_their_sign() -> None:
    """Where no stream can be read, the row about content types says more than rows about what streams carry."""
    ROWS[TYPED] = row(TYPED, level="SHOULD")
    sign: Sign = ("error", UNSTREAMED, "the reply has another content type")
    found = [finding(id, sign, run=f"r of {id}") for id in ("leak", TYPED)]

    assert [TYPED] == [one.row.id for one in causes(found, ROWS)]


@pytest.mark.parametrize(
    ("rule", "often", "name"),
    [("a-rule", 12, "no-request-is-refused"), ("a-rule", 11, "leak"), ("leak", 12, "leak")],
    ids=["everywhere", "here-and-there", "of-the-rule"],
)
def test_a_refusal_in_all_kinds_of_traffic_is_named_as_such(rule: str, often: int, name: str) -> None:
    """Where many requirements notice it now and then, none of them is about the reason, unless the rule is its own."""
    refused = "no-request-is-refused"
    ROWS.update({refused: row(refused)})
    sign = ("refused", rule)
    found = [finding(refused, sign, run=f"r{n}") for n in range(often)]
    found += [finding("leak", sign, run=f"l{n}") for n in range(2)]
    results = [one.result for one in found]
    (cause,) = causes(found, ROWS, [*results, *[replace(results[0], verdict="pass")] * often * 2])

    assert name == cause.row.id


@pytest.mark.parametrize(("often", "name"), [(12, "no-request-is-refused"), (11, "leak")])
def test_a_history_that_is_refused_in_all_kinds_of_traffic_is_named_as_such(often: int, name: str) -> None:
    """Where a wrong history is mostly seen by its refusal, what the service says of it is the best that is known."""
    refused = "no-request-is-refused"
    ROWS.update({refused: row(refused)})
    sign: Sign = ("history", "item", "changed")
    found = [finding(refused, sign, run=f"r{n}") for n in range(often)]
    found += [finding("leak", sign, run=f"l{n}") for n in range(2)]
    passed = [replace(found[0].result, verdict="pass")] * often * 2
    (cause,) = causes(found, ROWS, [*(one.result for one in found), *passed])

    assert name == cause.row.id


def test_a_row_names_where_most_of_its_failures_are() -> None:
    """A row that fails here and there does not name what another row is only seen with."""
    elsewhere = [finding("leak", ("refused", "a-rule"), run=f"r{n}") for n in range(3)]

    assert {"leak": [], "echo": ["leak"]} == named(*elsewhere, finding("leak", LOST), finding("echo", LOST))


def test_without_a_sign_each_row_has_its_own_cause() -> None:
    """Unless a run is shared: what fails on one run has one cause."""
    assert {"echo": [], "order": []} == named(finding("echo"), finding("order", run="r2"))
    assert {"echo": ["order"]} == named(finding("echo"), finding("order"))


def test_a_weak_sign_does_not_join_rarer_traffic() -> None:
    """Two readers of a stream that each lose its calls are two faults, where ordinary streams are read."""
    apart = [finding("crlf", ENDED, cell=STREAM), finding("bom", ENDED, cell=STREAM, run="r2")]

    assert {"crlf": [], "bom": []} == named(*apart)
    assert {"answer": ["crlf", "bom"]} == named(*apart, finding("answer", ENDED, cell=STREAM, run="r3"))
    assert {"answer": [], "crlf": [], "bom": []} == named(*apart, finding("answer", ENDED, run="r3"))


RESPONSES = "openai-responses/stream/sync"
NO_JSON: Sign = ("error", "JSONDecodeError", "Expecting value: line 0 column 0 (char 0)")
NO_ARGUMENTS: Sign = (*NO_JSON, "no arguments")
COMMENTS: Sign = (*NO_JSON, "comments, id or retry fields")


def test_one_message_on_different_traffic_is_not_one_cause() -> None:
    """What reads a stream and what reads a call's arguments may raise the same; neither hides the other."""
    empty = [finding("crlf", NO_ARGUMENTS, cell=cell, run=f"a {cell}") for cell in (PLAIN, STREAM, RESPONSES)]
    framed = [finding("whole", COMMENTS, cell=STREAM, run=f"r{n}") for n in range(35)]

    assert {"crlf": [], "whole": []} == named(*empty, *framed)
    assert {"crlf": [], "bom": ["whole"]} == named(*empty, *framed, finding("bom", COMMENTS, cell=STREAM, run="r99"))


def test_one_message_in_rows_of_two_wires_is_not_one_cause() -> None:
    """A missing index on one wire is not told under missing numbers on another."""
    elsewhere = [finding("crlf", NO_JSON, cell=RESPONSES, run=f"r{n}") for n in range(9)]

    assert {"crlf": [], "bom": []} == named(*elsewhere, finding("bom", NO_JSON, cell=STREAM, run="r99"))


def test_rows_of_one_wire_that_raise_on_the_same_lines_are_one_cause() -> None:
    """What was unusual about the reply is what they have in common; on another wire it is another reader."""
    pair = [finding("crlf", COMMENTS, cell=STREAM), finding("bom", COMMENTS, cell=STREAM, run="r2")]
    apart = [finding("crlf", COMMENTS, cell=STREAM), finding("bom", COMMENTS, cell=RESPONSES, run="r2")]

    assert {"crlf": ["bom"]} == named(*pair)
    assert {"crlf": [], "bom": []} == named(*apart)


def test_a_loop_that_always_raises_is_one_cause() -> None:
    """Where ordinary traffic ends in an error, what is rarer ends in it for the same reason."""
    rare = [finding(id, sign, run=f"{id} {sign}") for id in ("crlf", "bom", "whole") for sign in (NO_JSON, COMMENTS)]
    waits = [finding("order", NO_JSON, run=f"w{n}", verdict="not-reached") for n in range(99)]

    assert {"answer": ["order", "crlf", "bom", "whole"]} == named(finding("answer", NO_JSON, run="x"), *rare, *waits)


def test_one_error_in_many_rows_is_one_cause() -> None:
    """A reader that ends in one error in so many rows of a wire is one fault; where the words say nothing it is not."""
    ids = [f"rare-{n}" for n in range(MOST_ROWS + 1)]
    ROWS.update({id: row(id, "fragile") for id in ids})

    def told(sign: Sign, count: int) -> int:
        return len(named(*(finding(id, sign, cell=STREAM, run=id) for id in ids[:count])))

    assert 1 == told(NO_JSON, MOST_ROWS + 1)
    assert MOST_ROWS == told(NO_JSON, MOST_ROWS)
    assert MOST_ROWS + 1 == told(("error", "KeyError", "…"), MOST_ROWS + 1)


def test_an_error_before_the_first_request_is_one_cause() -> None:
    """What would have come after it differs, and says nothing of the fault."""
    sign = ("unasked", "TypeError", "items is no list")
    rows = {"crlf": STREAM, "answer": PLAIN, "echo": PLAIN}
    found = causes([finding(id, sign, verdict="not-reached", cell=cell) for id, cell in rows.items()], ROWS)

    assert ["answer"] == [one.row.id for one in found]
    assert one_line_each(found, CHAT)[0].endswith("(not reached either: crlf, echo)")


def test_two_errors_in_one_row_are_two_causes() -> None:
    """Each is told with its own words."""
    found = causes([finding("crlf", NO_JSON), finding("crlf", ("error", "TypeError", "not a list"), run="r2")], ROWS)

    assert ["crlf", "crlf-2"] == [one.id for one in found]


def test_two_causes_of_one_name_have_two_ids() -> None:
    """Requests that are refused for two reasons are two causes, also where one row names both."""
    found = causes([finding("echo", ("refused", "a")), finding("echo", ("refused", "b"), run="r2")], ROWS)

    assert ["echo", "echo-2"] == [one.id for one in found]


def test_the_smallest_example_is_shown() -> None:
    """Of what failed the run in which least happened, and never what was not reached."""
    small = finding("echo", LOST, verdict="not-reached", size=1)

    (found,) = causes([finding("echo", LOST, size=9), small, finding("echo", LOST, size=3)], ROWS)

    assert 3 == found.example.size
