"""Runs the reference, looptck's reader and the judge on one record."""

from __future__ import annotations

from looptck.catalogue.dialects import dialect, names
from looptck.values.problem import Problem
from looptck.values.turns import Turn
from looptck.wires import WIRES
from looptck.wires.found import NoTurn
from looptck.wires.spoken import without
from looptck_reference import LoopError, ProviderError
from looptck_reference import Turn as Decoded
from tools.corpus.following import ALONE, problems_after
from tools.corpus.records import Record
from tools.corpus.tally import Tally
from tools.corpus.understood import decoded, of_kit, of_reference, read

REFUSALS = frozenset({400, 413, 422})
"""The statuses with which a service refuses a request because of its content."""


def judge(record: Record, tally: Tally) -> None:
    """Count the results of both sides for a record."""
    group = f"{record.wire} {'official' if record.official else 'compatible'} {'stream' if record.stream else 'plain'}"
    if record.request is not None:
        _request(record, tally, group)
    if record.body is None:
        tally.because("left out", "the corpus left the body of the reply out", group, record.id)
    elif record.status == 200:
        _reply(record, record.body, tally, group)
    else:
        _error(record, record.body, tally, group)


def _request(record: Record, tally: Tally, group: str) -> None:
    problems = ALONE[record.wire](record.request, record.request_headers)
    known = accepted_by(record) if problems and record.status == 200 else None
    if known:
        tally.count(group, "declared")
        tally.because("a dialect accepts it", f"{known}: {problems[0].rule}", group, record.id)
        problems = ()
    rule = problems[0].rule if problems else ""
    if record.status == 200:
        tally.count(group, "answered", "refused" if rule else "accepted")
        if rule:
            tally.because("the judge refuses what was answered", rule, group, record.id)
        elif not known and (leant := WIRES[record.wire].service(True).judge(record.request, record.request_headers)):
            tally.count(group, "leaning")
            tally.because("the request leans on what was answered before it", leant[0].rule, group, record.id)
    elif record.status in REFUSALS:
        tally.count(group, "400", "both" if rule else "only it")
        what = "the judge refuses what was refused" if rule else "the judge accepts what was refused"
        tally.because(what, rule or f"status {record.status}", group, record.id)
    else:
        tally.count(group, "other")
        if rule:
            tally.because(f"the judge refuses what was answered with {record.status}", rule, group, record.id)


def accepted_by(record: Record) -> str | None:
    """The dialect that declares why a compatible server has answered this request.

    The host says which it is; where no dialect is of that host, any may be.
    """
    if record.official:
        return None
    known = [dialect(name) for name in names()]

    def judge(body: object) -> list[Problem]:
        return list(ALONE[record.wire](body, record.request_headers))

    for one in [one for one in known if one.is_spoken_at(record.host)] or known:
        accepts = [accepted for accepted in one.accepts if accepted.wire == record.wire]
        if not without(record.wire, accepts, record.request, judge):
            return one.name
    return None


def _reply(record: Record, body: bytes, tally: Tally, group: str) -> None:
    tally.count(group, "replies")
    by_reference, by_kit = _decoded(record, body, tally, group), _read(record, body, tally, group)
    if by_reference is not None and by_kit is not None:
        differences = of_reference(by_reference).differences(of_kit(by_kit, record.wire))
        if differences:
            tally.because("the two understood different turns", ", ".join(differences), group, record.id)
        else:
            tally.count(group, "same")
    if by_reference is not None:
        _next(record, by_reference, by_kit, tally, group)


def _decoded(record: Record, body: bytes, tally: Tally, group: str) -> Decoded | None:
    try:
        turn = decoded(record, body)
    except LoopError as error:
        tally.because("the reference reads no turn", _reason(error), group, record.id)
        return None
    tally.count(group, "read")
    return turn


def _read(record: Record, body: bytes, tally: Tally, group: str) -> Turn | None:
    try:
        turn = read(record, body)
    except NoTurn as error:
        tally.because("the kit reads no turn", _reason(error), group, record.id)
        return None
    tally.count(group, "read by kit")
    return turn


def _next(record: Record, by_reference: Decoded, by_kit: Turn | None, tally: Tally, group: str) -> None:
    problems = problems_after(by_reference, by_kit, record.wire, stream=record.stream)
    if problems is None:
        return
    tally.count(group, "next", *([] if problems else ["next ok"]))
    if problems:
        tally.because("the judge refuses the reference's next request", problems[0].rule, group, record.id)


def _error(record: Record, body: bytes, tally: Tally, group: str) -> None:
    tally.count(group, "errors")
    try:
        decoded(record, body)
    except ProviderError:
        tally.count(group, "told")
    except LoopError as error:
        tally.because("the reference does not tell an error", _reason(error), group, record.id)


def _reason(error: Exception) -> str:
    """The error without the quoted part of a reply, which follows a colon."""
    return f"{type(error).__name__}: {str(error).split(': ')[0]}"[:150]
