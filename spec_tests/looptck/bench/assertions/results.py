"""The results of tools in the request after a turn: ids, order, texts, marks, and errors that the model learns of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise, takewhile
from typing import Any

from looptck.bench.assertions.caller import shows_failure
from looptck.bench.assertions.failure_texts import READS_AS_ERROR, tells_of_failure
from looptck.bench.oracle import Owed, agrees
from looptck.bench.run import Run
from looptck.values.history import Answered, Asked, Said, holds, spelled
from looptck.values.jsontext import canonical
from looptck.values.plain import MOST, amount, begun, plain
from looptck.values.structured import left_out
from looptck.values.verdicts import NotApplicable, NotReached


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
        raise NotReached(f"request {turn + 1} has {amount(len(got), 'result')} of turn {turn}; an order needs two")

    assert [id for id in wanted if id in got] == got, (
        f"the calls are in the order {plain(wanted)}, their results in the order {plain(got)}"
    )


def answers_follow(run: Run, turn: int) -> None:
    """Decided by the request after the turn.

    On Messages a turn is one message. On the other wires each result may also follow its own call, before the next
    call of the turn. What else the turn has may stand behind its calls: in which order it goes back is not asked here.
    """
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
    rest = [piece for piece in run.echo(turn) if not isinstance(piece, Asked)]
    last += sum(1 for _ in takewhile(lambda item: any(agrees(piece, item) for piece in rest), items[last + 1 :]))

    follow = list(range(last + 1, last + 1 + len(results)))
    by_their_calls = [
        place
        for place, (before, item) in enumerate(pairwise(items), 1)
        if isinstance(item, Answered) and isinstance(before, Asked) and item.id == before.id in wanted
    ]
    allowed = [follow] if run.cell.wire == "anthropic-messages" else [follow, by_their_calls]
    assert results in allowed, (
        f"the turn ends with item {last} of the history; the results are items {results}, not right after it"
    )


def results_stay(run: Run, turn: int) -> None:
    """Decided by the request after the turn. A loop need not send the results again that the request before it had."""
    run.delivered(turn)
    before, after = (run.normalized(n).answers for n in (turn, turn + 1))
    if [one.id for one in before] != [one.id for one in after[: len(before)]]:
        return

    for was, now in zip(before, after, strict=False):
        assert was.text == now.text, (
            f"the earlier result for {was.id} was {was.text!r} in request {turn}, and it is {now.text!r} in request "
            f"{turn + 1}"
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
        which = turn.calls[expected.get("call", 1) - 1 :]
        of = f" of the call {which[0].tool}({begun(str(which[0].arguments), MOST)})" if which else ""
        error = f"the error{of}"
        assert shows_failure(run), f"{error} reached neither the caller nor the model: the loop {run.outcome}"
        return
    if _asks_anew(run, expected):
        return
    call = turn.calls[expected.get("call", 1) - 1]
    id = call.id
    answered = [answer for answer in run.answers(expected["turn"]) if answer.id == id]

    assert answered, f"the loop went on without a result for {id}"
    text = answered[0].text
    assert text.strip(), f"the result for {id} is empty"
    tells = answered[0].failed or tells_of_failure(text, f"{call.tool} {call.arguments}")
    if expected.get("or_reads_as_error") and tells:
        return
    lacks = "neither tells of an error nor names" if expected.get("or_reads_as_error") else "does not name"
    assert expected["holds"] in text, f"the result for {id} {lacks} {expected['holds']!r}: {text!r}"


def result_texts(run: Run, expected: dict[str, Any]) -> None:
    """Decided by the request after the turn. A program's own tool has its own words: only their number is compared."""
    texts = [answer.text for answer in run.answers(expected["turn"])]
    wanted = expected["texts"]
    assert len(wanted) == len(texts), f"there are {len(texts)} results, not {len(wanted)}: {plain(texts, MOST)}"
    if run.program is not None and not run.program.takes_tools:
        return

    whole = all(holds(text, one) for text, one in zip(texts, wanted, strict=True))
    assert whole, f"the results are {plain(texts, MOST)}, not {plain(wanted, MOST)}"


def one_result(run: Run, turn: int) -> Answered:
    """The only result for a turn in the request after it."""
    answered = run.answers(turn)
    assert 1 == len(answered), f"request {turn + 1} carries {amount(len(answered), 'result')} of turn {turn}, not one"
    return answered[0]


def result_says(run: Run, expected: dict[str, Any]) -> None:
    """Decided by the request after the turn."""
    text = one_result(run, expected["turn"]).text

    lost = left_out(expected["says"], text)
    says = plain(expected["says"], MOST)
    assert not lost, f"the tool returned {says}, and the model reads {plain(text, MOST)}"


def result_holds(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn; blanks do not matter."""
    text = "".join(one_result(run, wanted["turn"]).text.split())

    assert wanted["text"] in text, f"the result reached the model as {text!r}, without {wanted['text']}"


def failed_results(run: Run, wanted: dict[str, Any]) -> None:
    """Decided by the request after the turn, if the loop continues and each call has its result there."""
    turn = wanted["turn"]
    ids = [call.id for call in run.delivered(turn).calls]
    if run.ended and len(run.requests) == turn:
        raise NotApplicable("the loop does not continue after a failed call")
    failing = {call.tool for number, call in enumerate(run.delivered(turn).calls, 1) if number in wanted["calls"]}
    if ran := next((one.tool for one in run.ran if one.tool in failing and "value" in (one.answer or {})), None):
        raise NotApplicable(f"{ran} has run and returned, so that its result is not that of a failure")
    marks = {answer.id: answer.failed for answer in run.answers(turn)}
    if missing := [id for id in ids if id not in marks]:
        if _asks_anew(run, {"turn": turn, "holds": "", "or_reads_as_error": True}):
            raise NotApplicable("the loop leaves out the turn, and tells the model in other words what was wrong")
        raise NotReached(f"request {turn + 1} carries no result for {plain(missing)}, so none could be marked")

    right = {id: number in wanted["calls"] for number, id in enumerate(ids, 1)}
    begun_runs = [(tool, canonical(arguments)) for tool, arguments in run.tools_ran]
    for call in run.delivered(turn).calls:
        if call.id in marks and not right[call.id] and (call.tool, spelled(call.arguments)) not in begun_runs:
            right[call.id] = marks[call.id]  # what has not run is told as failed by some
    assert right == marks, (
        f"results marked as failed: expected {plain(_marked(right))} of {plain(ids)}, got {plain(_marked(marks))}"
    )


def _asks_anew(run: Run, expected: dict[str, Any]) -> bool:
    """Whether a loop leaves out a turn of which nothing ran, and its model is told in other words what was wrong.

    A program may also ask for the turn again as before, and its words need not say what a result would have to hold.
    """
    n = expected["turn"]
    before, after = run.request(n).request, run.request(n + 1).request
    if run.program is not None and before == after:
        return True
    ids = {call.id for call in run.delivered(n).calls}
    if any(asked.id in ids for asked in run.normalized(n + 1).asked) or (run.program is None and _ran_between(run, n)):
        return False
    added = [item.text for item in after.items if isinstance(item, Said) and item.role != "assistant"]
    old = {item.text for item in before.items if isinstance(item, Said)}
    wanted = "" if run.program is not None or expected.get("or_reads_as_error") else expected["holds"]
    return any(READS_AS_ERROR.search(text) and wanted in text for text in added if text not in old)


def _ran_between(run: Run, n: int) -> bool:
    """Whether a tool began to run between request ``n`` and the one after it."""
    begin, end = run.request(n).at, run.request(n + 1).at
    return any(begin <= ran.began < end for ran in run.ran)


def _numbered(ids: Mapping[str, int] | Mapping[str | None, int]) -> str:
    named = {id or "an empty id": count for id, count in ids.items()}
    return ", ".join(f"{id} {count} times" if count > 1 else id for id, count in named.items()) or "none"


def _marked(marks: Mapping[str, bool] | Mapping[str | None, bool]) -> list[str | None]:
    return [id for id, failed in marks.items() if failed]
