"""The expectations of declared cases: one function for each key of ``checks`` in ``fixtures/cases/case.schema.json``.

Each takes the run and the value of the key. It raises AssertionError if the expectation is not met, and NotReached if
the deciding event did not happen.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from looptck.bench.oracle import Owed, agrees, describe
from looptck.bench.run import Run
from looptck.bench.standing import refusals
from looptck.values.history import Answered, Asked, Opaque, Said, holds, spelled
from looptck.values.jsontext import canonical
from looptck.values.outcome import Failed, Value
from looptck.values.plain import MOST, cut, plain, times
from looptck.values.structured import left_out
from looptck.values.verdicts import NotApplicable, NotReached

STILL_ASKING = "still asking when looptck ended the conversation"
LONG = 120
"""Lists of tool runs with more characters are told without what they have in common."""


def hold(run: Run, expectations: Mapping[str, Any]) -> None:
    """Check every expectation except the control, which needs another run."""
    for word, value in expectations.items():
        if word != "control":
            VOCABULARY[word](run, value)


def model_calls(run: Run, expected: int) -> None:
    """Decided by the outcome: too few calls are a failure only if the loop believes it is done."""
    made = len(run.requests)
    if made < expected and run.failed:
        raise NotReached(f"the loop {run.outcome} after {made} of {expected} model requests")

    assert expected == made, f"the model was asked {times(made)}, not {times(expected)}; the loop {run.outcome}"


def tools_ran(run: Run, expected: list[dict[str, Any]]) -> None:
    """Decided by the delivery of every turn with calls, and the end of the run."""
    _all_turns_with_calls_delivered(run)
    wanted = [_pair(*next(iter(one.items()))) for one in expected]
    ran = [_pair(tool, arguments) for tool, arguments in run.tools_ran]

    assert Counter(wanted) == Counter(ran), other_runs(wanted, ran)


def never_ran(run: Run, tools: list[str]) -> None:
    """Decided by the delivery of every turn with calls, and the end of the run."""
    _all_turns_with_calls_delivered(run)
    ran = [_pair(tool, arguments) for tool, arguments in run.tools_ran if tool in tools]

    assert not ran, f"expected no run of {', '.join(tools)}; actual tool runs: {_runs(ran)}"


def text(run: Run, expected: str) -> None:
    """Decided by the value that the loop returned. White space around it is judged separately (`text_to_the_blank`)."""
    got = run.value.text or ""

    assert expected.strip() == got.strip(), f"the caller received {got!r}, not {expected!r}"


def text_or_error(run: Run, expected: dict[str, str]) -> None:
    """Decided by the outcome. A message that is the name alone, as of a failed look-up, tells a caller nothing."""
    if not isinstance(run.outcome, Failed):
        text(run, expected["text"])
        return
    name, said = expected["names"], run.outcome.message
    told = name in said and re.search(r"\w", said.replace(name, " "))

    assert told, f"the loop {run.outcome}; neither the answer nor words about {name!r}"


def text_to_the_blank(run: Run, expected: str) -> None:
    """Decided by the value that the loop returned."""
    got = run.value.text or ""

    assert expected == got, f"the caller received {got!r}, not {expected!r}"


def text_parts(run: Run, parts: list[str]) -> None:
    """Decided by the value that the loop returned. How the parts are joined is the SDK's choice."""
    got = run.value.text or ""
    pattern = r"\s*".join(re.escape(part.strip()) for part in parts)

    assert re.fullmatch(rf"\s*{pattern}\s*", got), f"the caller received {got!r}; the parts of the answer are {parts}"


def text_is_not(run: Run, unwanted: str) -> None:
    """Decided by the outcome, and by the request after the turn with that text, which also has a call."""
    run.delivered(1)
    got = run.outcome.text if isinstance(run.outcome, Value) else None

    assert unwanted not in (got or ""), f"the caller received {got!r}, the text of a turn that also has a call"
    run.request(2)


def outcome(run: Run, expected: str) -> None:
    """Decided by the outcome, after the first turn was delivered."""
    run.replied(1)
    reported = shows_failure(run)
    holds = {
        "told": reported,
        "told-or-asked-again": reported or len(run.requests) > 1,
        "cut-is-told": _shows_truncation(run),
        "ended": run.ended,
    }[expected]

    assert holds, f"the loop {run.outcome}, as if that were a complete answer"


def ended_or_asked_anew(run: Run, turn: int) -> None:
    """Decided by the end of the run or the request after the turn: a repetition, or one with a new message.

    Some loops write what is new behind the last message, if that has the same role.
    """
    run.delivered(turn)
    if len(run.requests) == turn:
        assert run.ended, f"no outcome came: the loop {run.outcome}"
        return
    last = run.normalized(turn + 1).items[-1]
    is_new = last in run.added(turn) or last not in run.normalized(turn).items
    anew = isinstance(last, Said) and last.role != "assistant" and is_new

    again = run.request(turn).body == run.request(turn + 1).body
    assert anew or again, (
        f"the next request neither repeats the previous one nor ends in a new message; it ends in {describe(last)}"
    )


def error(run: Run, expected: dict[str, str]) -> None:
    """Decided by the error that the loop raised; any other outcome fails."""
    run.replied(1)

    assert isinstance(run.outcome, Failed), f"no error: the loop {run.outcome}"
    wanted, got = expected.get("type", run.outcome.type), run.outcome.type
    assert wanted == got, f"the loop {run.outcome}; expected the type {wanted}"
    pattern = expected.get("message", ".*")
    assert re.fullmatch(pattern, run.outcome.message, re.DOTALL), f"{run.outcome.message!r} does not match {pattern!r}"


def calls_echoed(run: Run, turn: int) -> None:
    """Decided by the request after the turn. Ids may change, as long as the results have the new ids."""
    wanted = [(call.id, call.tool, spelled(call.arguments)) for call in run.delivered(turn).calls]
    echoed = [(asked.id, asked.tool, spelled(asked.arguments)) for asked in run.echoed(turn)]
    added = [(item.id, item.tool, item.arguments) for item in run.added(turn) if isinstance(item, Asked)]

    carries = _calls(echoed or added)
    assert wanted == echoed, f"the turn had the calls {_calls(wanted)}; the next request has {carries}"


def answers(run: Run, turn: int) -> None:
    """Decided by each result in the request after the turn: it has the id of the call that it answers.

    The text that the tool returned may stand in JSON or among other words, as some loops wrap it.
    """
    owed = {one.id: one for one in run.expected(turn + 1) if isinstance(one, Owed)}
    ids = [call.id for call in run.delivered(turn).calls]
    answered = run.new_answers(turn)
    if not answered:
        raise NotReached(f"request {turn + 1} carries no result for turn {turn}")
    for one in answered:
        assert one.id in ids, f"the request has a result for {one.id!r}, but turn {turn} has no call with this id"
        want = owed[one.id]
        assert agrees(want, one), f"the result for {one.id} is {one.text!r}, but its tool returned {want.text!r}"


def answers_in_order(run: Run, turn: int) -> None:
    """Decided by the request after the turn, if it has at least two results."""
    wanted = [call.id for call in run.delivered(turn).calls]
    got = [answer.id for answer in run.answers(turn)]
    if len(got) < 2:
        raise NotReached(f"request {turn + 1} has {len(got)} results of turn {turn}; an order needs two")

    assert [id for id in wanted if id in got] == got, (
        f"the calls are in the order {wanted}, their results in the order {got}"
    )


def answers_follow(run: Run, turn: int) -> None:
    """Decided by the request after the turn."""
    wanted = {call.id for call in run.delivered(turn).calls}
    items = run.normalized(turn + 1).items
    last = max(
        (place for place, item in enumerate(items) if isinstance(item, Asked) and item.id in wanted), default=None
    )
    if last is None:
        raise NotReached(f"request {turn + 1} does not carry the calls of turn {turn}")
    results = [place for place, item in enumerate(items) if isinstance(item, Answered) and item.id in wanted]
    if not results:
        raise NotReached(f"request {turn + 1} carries no result for turn {turn}")

    follow = list(range(last + 1, last + 1 + len(results)))
    assert follow == results, (
        f"the last call is item {last} of the history; the results are items {results}, not right after it"
    )


def answered_once(run: Run, turn: int) -> None:
    """Decided by the request after the turn."""
    wanted = Counter(call.id for call in run.delivered(turn).calls)

    got = Counter(answer.id for answer in run.new_answers(turn))
    assert wanted == got, f"the calls were {_numbered(wanted)}; the next request answers {_numbered(got)}"


def error_is_told(run: Run, expected: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Decided by the outcome, or else by the request after the turn; of several errors, each that occurred."""
    if isinstance(expected, list):
        first, *others = expected
        error_is_told(run, first)
        for one in others:
            if len(run.requests) >= one["turn"]:
                error_is_told(run, one)
        return
    turn = run.delivered(expected["turn"])
    if len(run.requests) == expected["turn"]:
        assert shows_failure(run), f"the error reached neither the caller nor the model: the loop {run.outcome}"
        return
    if run.program is not None and _asks_anew(run, expected["turn"]):
        return
    id = turn.calls[expected.get("call", 1) - 1].id
    answered = [answer for answer in run.answers(expected["turn"]) if answer.id == id]

    assert answered, f"the loop went on without a result for {id}"
    text = answered[0].text
    assert text.strip(), f"the result for {id} is empty"
    if expected.get("or_reads_as_error") and (answered[0].failed or READS_AS_ERROR.search(text)):
        return
    assert expected["holds"] in text, f"the result for {id} is {text!r}, without {expected['holds']!r}"


def _asks_anew(run: Run, turn: int) -> bool:
    """Whether a program asks for a turn again, as before or with a message about what was wrong with it."""
    before, after = run.request(turn).request, run.request(turn + 1).request
    if before == after:
        return True
    ids = {call.id for call in run.delivered(turn).calls}
    if any(asked.id in ids for asked in after.asked):
        return False
    added = [item for item in after.items if isinstance(item, Said) and item.role != "assistant"]
    return any(READS_AS_ERROR.search(item.text) for item in added if item not in before.items)


def result_texts(run: Run, expected: dict[str, Any]) -> None:
    """Decided by the request after the turn. A program's own tool has its own words: only their number is compared."""
    texts = [answer.text for answer in run.answers(expected["turn"])]
    wanted = expected["texts"]
    assert len(wanted) == len(texts), f"there are {len(texts)} results, not {len(wanted)}: {plain(texts, MOST)}"
    if run.program is not None and not run.program.takes_tools:
        return

    whole = all(holds(text, one) for text, one in zip(texts, wanted, strict=True))
    assert whole, f"the results are {plain(texts, MOST)}, not {plain(wanted, MOST)}"


def result_says(run: Run, expected: dict[str, Any]) -> None:
    """Decided by the request after the turn."""
    texts = [answer.text for answer in run.answers(expected["turn"])]

    assert 1 == len(texts), f"expected one result, got {texts}"
    lost = left_out(expected["says"], texts[0])
    assert not lost, f"the result {texts[0]!r} does not contain {lost[0]!r}"


def result_holds(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn; blanks do not matter."""
    texts = ["".join(answer.text.split()) for answer in run.answers(wanted["turn"])]

    assert 1 == len(texts), f"expected one result, got {texts}"
    assert wanted["text"] in texts[0], f"the result {texts[0]!r} does not hold {wanted['text']}"


def thinking_leads(run: Run, turn: int) -> None:
    """Decided by the request after the turn."""
    first = list(takewhile(lambda item: isinstance(item, Opaque), run.echo(turn)))
    if not first:
        raise ValueError(f"turn {turn} does not begin with thinking on {run.cell.wire}, so nothing would be checked")
    kinds = {item.kind for item in first if isinstance(item, Opaque)}
    added = run.added(turn)
    back = [item for item in added if isinstance(item, Opaque) and item.kind in kinds]
    if not back or not any(isinstance(item, Asked) for item in added):
        raise NotReached(f"request {turn + 1} does not carry the thinking and the calls of turn {turn}")

    for item in added[: min(len(first), len(back))]:
        assert item in back, f"at {item.pointer}: {describe(item)}, where the thinking of the turn should be"


def turn_echoed(run: Run, turn: int) -> None:
    """Decided by the request after the turn: the items that it adds begin with those of the turn."""
    wanted = run.echo(turn)
    added = run.added(turn)

    for place, want in enumerate(wanted):
        got = added[place] if place < len(added) else None
        assert got is not None, f"the next request ends before {describe(want)}"
        assert agrees(want, got), f"at {got.pointer}: {describe(got)}, where the turn had {describe(want)}"


def kept(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn."""
    turn, kinds = wanted["turn"], wanted["kinds"]
    sent = [item for item in run.echo(turn) if isinstance(item, Opaque) and item.kind in kinds]
    if not sent:
        raise ValueError(f"turn {turn} has no {' or '.join(kinds)} on {run.cell.wire}, so nothing would be checked")
    returned = [item for item in run.added(turn) if isinstance(item, Opaque) and item.kind in kinds]

    same = len(sent) == len(returned) and all(map(agrees, sent, returned))
    assert same, f"the turn had {_listed(sent)}; the next request carries {_listed(returned)}"


def sent_beside(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn: it names the container in which the service has run code."""
    body = run.request(wanted["turn"] + 1).body

    container = body.get("container")
    named = container.get("id") if isinstance(container, dict) else container
    assert wanted["container"] == named, f"the request names the container {container!r}, not {wanted['container']!r}"


def asks_for_compaction(run: Run, wanted: bool) -> None:
    """Decided by the first request: the service compacts on request, and pauses for it only on request."""
    body = run.request(1).body
    management = body.get("context_management") if isinstance(body, dict) else None
    edits = management.get("edits") if isinstance(management, dict) else None
    for edit in edits if isinstance(edits, list) else ():
        if (
            isinstance(edit, dict)
            and str(edit.get("type")).startswith("compact_")
            and edit.get("pause_after_compaction")
        ):
            return
    raise NotApplicable("the request does not ask for a pause after compaction, so the service would not pause")


def resumed(run: Run, turn: int) -> None:
    """Decided by the end of the run or the request after the turn: it adds only the turn, and keeps the tools."""
    run.delivered(turn)
    assert len(run.requests) > turn, f"the turn was not sent back: the loop {run.outcome}"
    turn_echoed(run, turn)
    extra = run.added(turn)[len(run.echo(turn)) :]

    assert not extra, f"after the turn the next request adds {describe(extra[0])}"
    before, after = (run.request(n).request.tools for n in (turn, turn + 1))
    assert before == after, f"request {turn} offers {before}, request {turn + 1} offers {after}"


def accepted(run: Run, wanted: bool) -> None:
    """Decided by every request: the service refuses none."""
    run.request(1)
    found = list(refusals(run))

    assert not found, "\n".join(found)


def failed_results(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn, if the loop continues."""
    turn = wanted["turn"]
    ids = [call.id for call in run.delivered(turn).calls]
    if run.failed and len(run.requests) == turn:
        raise NotApplicable("the loop does not continue after a failed call")
    marks = {answer.id: answer.failed for answer in run.answers(turn)}

    right = {id: number in wanted["calls"] for number, id in enumerate(ids, 1)}
    assert right == marks, f"results marked as failed: expected {_marked(right)} of {ids}, got {_marked(marks)}"


VOCABULARY: dict[str, Callable[[Run, Any], None]] = {
    word.__name__: word
    for word in (
        model_calls,
        tools_ran,
        never_ran,
        text,
        text_or_error,
        text_to_the_blank,
        text_parts,
        text_is_not,
        outcome,
        ended_or_asked_anew,
        error,
        calls_echoed,
        answers,
        answers_in_order,
        answers_follow,
        answered_once,
        error_is_told,
        result_texts,
        result_says,
        thinking_leads,
        turn_echoed,
        kept,
        asks_for_compaction,
        sent_beside,
        result_holds,
        resumed,
        failed_results,
        accepted,
    )
}


READS_AS_ERROR = re.compile(
    r"error|fail|invalid|unknown|unavailable|unsupported|unrecogni|exist|not (found|available|defined|registered|known)"
    r"|no (such|tool)|cannot|can't|could not|missing",
    re.IGNORECASE,
)
"""Words by which a model or a person recognizes an error message."""
CUT = {"length", "content_filter", "refusal", "other"}
"""The stop reasons of an outcome that show its caller that the answer is incomplete."""


def shows_failure(run: Run) -> bool:
    """Whether the caller can see that the answer is incomplete or missing."""
    return run.failed or (isinstance(run.outcome, Value) and run.outcome.stop not in {None, "end"})


def _shows_truncation(run: Run) -> bool:
    """Whether the caller can see that the answer was cut."""
    return run.failed or (isinstance(run.outcome, Value) and run.outcome.stop in CUT)


def _all_turns_with_calls_delivered(run: Run) -> None:
    for n in range(1, len(run.requests) + 1):
        run.replied(n)
    run.delivered(1)


def _listed(pieces: list[Opaque]) -> str:
    return ", then ".join(map(describe, pieces)) or "none"


def _numbered(ids: Mapping[str, int] | Mapping[str | None, int]) -> str:
    return ", ".join(f"{id} {count} times" if count > 1 else f"{id}" for id, count in ids.items()) or "none"


def _marked(marks: Mapping[str, bool] | Mapping[str | None, bool]) -> list[str | None]:
    return [id for id, failed in marks.items() if failed]


def other_runs(wanted: Sequence[tuple[str, str]], ran: Sequence[tuple[str, str]]) -> str:
    """What ran in place of what should have; where many ran, without those that are as they should be."""
    right = Counter(wanted) & Counter(ran)
    told = f"expected tool runs: {_runs(wanted)}; actual tool runs: {_runs(ran)}"
    if not right or len(told) <= LONG:
        return told
    missing, wrong = ([*(Counter(pairs) - right).elements()] for pairs in (wanted, ran))
    return f"expected tool runs: {_runs(missing)}; actual tool runs: {_runs(wrong)}; {right.total()} others are right"


def _runs(pairs: Sequence[tuple[str, str]]) -> str:
    """Tool runs as text."""
    return ", ".join(plain(pair, MOST) for pair in pairs) or "none"


def _calls(calls: Sequence[tuple[str | None, str, str]]) -> str:
    """Calls as text, with their ids."""
    return ", ".join(f"{id}: {tool}({cut(arguments, MOST)})" for id, tool, arguments in calls) or "none"


def _pair(tool: str, arguments: object) -> tuple[str, str]:
    return tool, canonical(arguments)
