"""Events: what a loop tells its caller of calls and results while it runs, held against what has happened.

Events of calls that the loop makes for itself, such as that of a tool by which it takes its answer, are left out.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from looptck.bench.checks import Implementation
from looptck.bench.choices import own_names
from looptck.bench.run import Run
from looptck.values.history import holds, spelled
from looptck.values.jsontext import canonical
from looptck.values.outcome import shortened
from looptck.values.plain import Listed, times
from looptck.values.transcript import Chunk, Told
from looptck.values.turns import Call
from looptck.values.verdicts import NotApplicable, NotReached

Event = Mapping[str, Any]
NOWHERE = " (a driver whose loop tells events only in streams declares that: dialect events, streams)"
"""What a failure adds where a plain run tells nothing at all."""


def require_events(implementation: Implementation) -> None:
    """Raises NotApplicable if no run in this cell tells events."""
    if implementation.started.dialect.get("events") == "streams" and not implementation.cell.stream:
        raise NotApplicable("the driver declares that only runs that ask for streams tell events")


def told(run: Run) -> list[Event]:
    """The events of the calls that the case is about, in order, with the case's names of tools.

    A loop that offers tools under names of its own may tell of either.
    """
    own = {wire: name for received in run.received for wire, name in own_names(run, received).items()}
    named = [{**one, "name": own.get(one["name"], one["name"])} if one["kind"] == "call" else one for one in run.told]
    names = {*run.offered, *(call.tool for turn in run.turns.values() for call in turn.calls)}
    others = {one["call_id"] for one in named if one["kind"] == "call" and one["name"] not in names}
    return [one for one in named if one["kind"] != "end" and (one["call_id"] is None or one["call_id"] not in others)]


def calls_told(run: Run) -> list[Event]:
    """The events of calls."""
    return [one for one in told(run) if one["kind"] == "call"]


def results_told(run: Run) -> list[Event]:
    """The events of results."""
    return [one for one in told(run) if one["kind"] == "result"]


def ends_told(run: Run) -> list[Event]:
    """The events of the end."""
    return [one for one in run.told if one["kind"] == "end"]


def each_run_is_told_once(run: Run) -> None:
    """Assert that there is one event for each call whose tool has run."""
    ran = Counter(one.tool for one in run.ran)
    heard = Counter(one["name"] for one in calls_told(run))
    where = "" if run.told or run.cell.stream else NOWHERE
    for tool, count in ran.items():
        assert count == heard[tool], (
            f"{tool} ran {times(count)}, and the caller is told of {_calls(heard[tool])}{where}"
        )


def results_close_their_calls(run: Run) -> None:
    """Assert that one result with its id follows each call that is told, and that no result comes without one."""
    waiting: list[Event] = []
    closed: list[Any] = []
    for event in told(run):
        if event["kind"] == "call":
            waiting.append(event)
        elif event["kind"] == "result":
            place = next((at for at, one in enumerate(waiting) if one["call_id"] == event["call_id"]), None)
            assert place is not None, _without_a_call(event, run, closed)
            closed.append(waiting.pop(place)["call_id"])
    assert not waiting, _without_a_result(waiting[0], closed)


def results_are_told(run: Run) -> None:
    """Assert that as many results are told as tools have ended of whose calls the caller was told."""
    called, ended = len(calls_told(run)), len([one for one in run.ran if one.answer is not None])
    heard = len(results_told(run))
    assert heard >= min(called, ended), (
        f"the caller is told of {called} calls, whose tools ran {times(ended)}, and of "
        f"{heard or 'no'} result{'' if heard == 1 else 's'}; the loop {run.outcome}"
    )


def _without_a_result(call: Event, closed: Sequence[Any]) -> str:
    if call["call_id"] is not None and call["call_id"] in closed:
        return f"the caller is told of the call {_call(call)} more than once"
    return f"the caller is told of the call {_call(call)}, and never of its result"


def _without_a_call(result: Event, run: Run, closed: Sequence[Any]) -> str:
    id = result["call_id"]
    if id in closed:
        return f"the caller is told the result of the call {id!r} twice"
    if any(one["call_id"] == id for one in calls_told(run)):
        return f"the caller is told the result of the call {id!r} before the call"
    known = Listed(one["call_id"] for one in calls_told(run))
    return f"the caller is told a result of the call {id!r}, of which it was not told: it knows {known}"


def arguments_are_told(run: Run, wanted: Sequence[Call]) -> None:
    """Assert that the events of these calls have the arguments that the model has written.

    Raises:
        NotApplicable: the caller is told no arguments.
    """
    heard = [one for one in calls_told(run) if "arguments" in one]
    if calls_told(run) and not heard:
        raise NotApplicable("the loop tells its caller no arguments of calls")
    left = [(one["name"], _arguments(one["arguments"])) for one in heard]
    for call in wanted:
        written = call.tool, spelled(call.arguments)
        others = [arguments for tool, arguments in left if tool == call.tool]
        assert written in left, (
            f"the model has called {call.tool}({shortened(call.arguments)}), and the caller is told "
            f"{f'the arguments {shortened(others[0])}' if others else 'of no such call'}"
        )
        left.remove(written)


def pieces_join(run: Run, wanted: Sequence[Call]) -> None:
    """Assert that the pieces of arguments of each of these calls, whose tools differ, join to its arguments.

    Pieces may come under the id that the model wrote, where a loop gives calls ids of its own once they are whole.

    Raises:
        NotApplicable: the caller is told no pieces.
    """
    pieces = [one for one in told(run) if one["kind"] == "arguments"]
    if not pieces:
        raise NotApplicable("the loop tells its caller no pieces of arguments")
    ids = {one["name"]: one["call_id"] for one in calls_told(run)}
    written: defaultdict[Any, str] = defaultdict(str)
    for one in pieces:
        written[one["call_id"]] += one["text"]
    strange = [spelled(text) for id, text in written.items() if id not in ids.values()]
    for call in wanted:
        assert call.tool in ids, f"the caller is told pieces of arguments, but not of the call of {call.tool}"
        joined = written[ids[call.tool]]
        assert spelled(call.arguments) == spelled(joined) or (not joined and spelled(call.arguments) in strange), (
            f"the model has called {call.tool}({call.arguments}), and the pieces under the id of the call join to "
            f"{shortened(joined)}"
        )


def results_are_those_of_the_model(run: Run, n: int) -> None:
    """Assert that the events of results say what the next request says of the calls of turn ``n``, whose tools differ.

    Raises:
        NotApplicable: the caller is told no results, or not of which calls.
    """
    for event, answer, text in results_of_a_turn(run, n):
        result_is_told(event, answer, text)


def results_of_a_turn(run: Run, n: int) -> list[tuple[Event, Event, str]]:
    """Of each call of turn ``n``, whose tools differ: the event of its result, what the tool gave, what the model gets.

    Raises:
        NotApplicable: the caller is told no results, or not of which calls.
        NotReached: the caller is not told the result of one of the calls.
    """
    heard = results_told(run)
    if heard and not any("result" in one for one in heard):
        raise NotApplicable("the loop tells its caller of results, but not what they are")
    names: dict[Any, str] = {one["call_id"]: one["name"] for one in calls_told(run)}
    if None in names and len(run.delivered(n).calls) > 1:
        raise NotApplicable("the loop tells its caller no ids of calls")
    answers = {one.id: one.text for one in run.answers(n)}
    found: list[tuple[Event, Event, str]] = []
    for call in run.delivered(n).calls:
        of_it = [one for one in heard if names.get(one["call_id"]) == call.tool and {"result", "failed"} & one.keys()]
        if not of_it:
            raise NotReached(f"the caller is told no result of {call.tool}")
        given = [one.answer for one in run.ran if one.tool == call.tool and one.answer is not None]
        found.append((of_it[0], given[-1] if given else {}, answers.get(call.id or "", "")))
    return found


def result_is_told(event: Event, answer: Event, text: str) -> None:
    """Assert that an event has what a tool gave (``answer``) or what the model gets (``text``), or a part of it.

    One that says whether the call has failed, and no result, is judged by that alone.
    """
    gave = str(answer.get("value", "")) or str((answer.get("error") or {}).get("message", ""))
    words = words_told(event)
    said = (
        "result" not in event
        or bool(gave and holds(words, gave))
        or holds(words, text)
        or (words.strip() != "" and words.strip(" .…") in text)
    )
    whence = f"the tool gave {gave!r}, and " if gave and gave != text else ""
    assert said, f"{whence}the model gets {shortened(text)}, and the caller is told {shortened(words)}"
    assert not ("value" in answer and event.get("failed")), f"the tool gave {gave!r}, and the caller is told a failure"
    assert not ("error" in answer and event.get("failed") is False), (
        f"the tool raised {gave!r}, and the caller is told that the call has not failed; a driver whose caller is told "
        "neither of the two leaves `failed` out"
    )


def order_is_kept(run: Run, earlier: str, later: str) -> None:
    """Assert that the caller is told the result of the tool ``earlier`` before the call of the tool ``later``."""
    ids = {one["call_id"] for one in calls_told(run) if one["name"] == earlier}
    events = told(run)
    results = [at for at, one in enumerate(events) if one["kind"] == "result" and one["call_id"] in ids]
    following = [at for at, one in enumerate(events) if one["kind"] == "call" and one["name"] == later]
    if not results or not following:
        raise NotReached(f"the caller is not told of a result of {earlier} and a call of {later}")
    assert results[0] < following[0], (
        f"the model called {later} when it had the result of {earlier}, and the caller is told of that call first"
    )


def answer_comes_last(run: Run, answer: str) -> None:
    """Assert that no event of a call or a result comes after the beginning of this answer. NotReached if none came.

    An empty piece is the beginning of nothing: services begin the stream of any turn with one.
    """
    heard = [one for one in run.transcript.events if isinstance(one, Chunk | Told)]
    texts = ((at, one.text) for at, one in enumerate(heard) if isinstance(one, Chunk))
    begun = next((at for at, text in texts if text and answer.startswith(text)), None)
    if begun is None:
        raise NotReached("the caller has received no text of the answer while the run went on")
    late = [one.event for one in heard[begun:] if isinstance(one, Told) and one.event["kind"] in {"call", "result"}]
    assert not late, f"the caller has the beginning of the answer, and is then told {shortened(late[0])}"


def end_is_told_once(run: Run) -> None:
    """Assert that not more than one end is told, and nothing after it, and no success of a run that has failed."""
    ends = ends_told(run)
    assert len(ends) <= 1, f"the caller is told {len(ends)} ends of one run: {Listed(_how(one) for one in ends)}"
    heard = [one for one in run.transcript.events if isinstance(one, Chunk | Told)]
    for end in ends:
        place = next(at for at, one in enumerate(heard) if isinstance(one, Told) and one.event is end)
        after = heard[place + 1 :]
        assert not after, f"the caller is told the end of the run, and then gets {_what(after[0])}"
        assert not (run.failed and end.get("how") == "value"), (
            f"the run {run.outcome}, and the caller is told an end with a value"
        )


def summaries(run: Run) -> list[str]:
    """The events of calls and results without their ids, in a form in which two are equal that say the same."""
    return Listed(_summary(one) for one in told(run) if one["kind"] != "arguments")


def _summary(event: Event) -> str:
    if event["kind"] == "call":
        return f"{event['name']}({_arguments(event['arguments']) if 'arguments' in event else ''})"
    return f"the result {words_told(event)}"


def _what(one: Chunk | Told) -> str:
    return f"the text {shortened(one.text)}" if isinstance(one, Chunk) else shortened(one.event)


def _how(end: Event) -> str:
    return str(end.get("how", "end"))


def _arguments(value: Any) -> str:
    return spelled(value) if isinstance(value, str) else canonical({} if value is None else value)


def words_told(result: Event) -> str:
    """What the event of a result says that it is; a value that is no text as JSON."""
    value = result.get("result")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _call(event: Event) -> str:
    return f"{event['name']} ({event['call_id']})"


def _calls(number: int) -> str:
    return f"{number or 'no'} call{'' if number == 1 else 's'} of it"
