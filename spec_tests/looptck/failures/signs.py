"""Signs: the first wrong event of a run, in a form that is equal for two runs with the same fault.

A sign states the kind of the wrong event, without anything that differs between two runs of one loop, such as ids and
texts. Failures from runs with the same sign have one cause.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from looptck.bench.oracle import Difference, Owed, Wanted, agrees, describe, difference
from looptck.bench.run import Run
from looptck.failures.deltas import encoding_of
from looptck.provider.server import KEPT
from looptck.values.history import STORED, Answered, Asked, Item, Opaque, Said, same_arguments
from looptck.values.outcome import Failed, Nothing, Value
from looptck.values.transcript import Ended, Event, Received, Replied, ToolBegan, UnroutedRequest
from looptck.values.turns import Call, Turn

Sign = tuple[str, ...]
"""Its first word is the kind: refused, leak, history, tool, error, silence, given-up, answer, hang, stray, unasked.

The last is an error before the first request, as of a loop that cannot offer a tool, whatever would have come.
"""

LOOKED_AT = 100
"""The most requests of a run whose histories are looked at: a loop that loses something does so early."""
WEAK = frozenset({"silence", "given-up", "answer", "tool", "error"})
"""The kinds that can follow from many faults."""
OF_AN_ERROR = 3
"""The number of words in an error's sign about the error; the words after them are about the unusual reply."""
_COMPLETE = frozenset({"end", "calls"})
_ALIKE = {"context_window": "length", "cancelled": "in_progress", "queued": "in_progress"}
"""Stop reasons that mean the same to a loop as another one."""


def wrong_events(run: Run) -> Sequence[tuple[Event, Sign]]:
    """The wrong events of a run with their signs, in order, the slight ones last."""
    return run.once("wrong events", _wrong_events)


def _wrong_events(run: Run) -> Sequence[tuple[Event, Sign]]:
    found = sorted(_found(run), key=lambda one: one[0])
    return [(event, sign) for _, event, sign in sorted(found, key=lambda one: one[2] in SLIGHT)]


MISREAD: Sign = ("history", "call", "arguments changed")
"""The loop has read a call's arguments wrongly: it sends others back, and the tool runs with others, if it runs."""
FORGOTTEN: Sign = ("history", "call", "left out")
"""The next request lacks a call of the turn, so that the model does not learn that it has called."""
RENAMED: Sign = ("history", "call", "tool changed")
FOREIGN: Sign = ("leak", "a function of another run")
"""The loop has called the function that it was given in another run."""
RUN_OTHERWISE = ("tool", "runs as no turn asked")
"""How the sign begins of a tool that ran with other arguments, though the call goes back as it was."""
SLIGHT: frozenset[Sign] = frozenset(
    {("history", "text beside calls", "left out"), ("history", "results", "in another order")}
)
"""Signs that break nothing by themselves: they are the cause only if nothing else is wrong."""


def _found(run: Run) -> Iterator[tuple[float, Event, Sign]]:
    """The wrong events of a run, each with its time."""
    for event in run.transcript.events:
        match event:
            case Received() if any(KEPT in answer.text for answer in event.request.answers):
                yield event.at, event, FOREIGN
            case Received() if event.problems:
                yield event.at, event, ("refused", event.problems[0].rule)
            case UnroutedRequest():
                yield event.at, event, ("stray", event.method, _alike(f"{event.path}{event.why}"))
            case Ended(at, Failed() as outcome):
                kind = "error" if run.received else "unasked"
                yield at, event, (kind, outcome.type, _alike(outcome.message), *_unusual(run))
            case Ended(at, Nothing()):
                yield at, event, ("hang",)
            case Ended(at, Value() as outcome):
                yield from ((at, event, one) for one in _ending(run, outcome))
    histories = [*_histories(run)]
    yield from histories
    if not any(sign == MISREAD for _, _, sign in histories):
        yield from _tools(run)


def first_difference(run: Run) -> tuple[Received, Difference] | None:
    """The first wrong request, and the place in it. A loop may begin with words of its own."""
    grown = run.once("grown", _grown)
    if grown is not None:
        return grown[0], grown[2]
    first = run.first_difference(LOOKED_AT)
    if first is None or _is_stored(first[1]) or _is_own(run, *first):
        return None
    return first


def _is_stored(found: Difference) -> bool:
    """Whether it lies in what the service has stored: its form of a turn, which the loop has not sent."""
    return found.pointer.startswith(STORED)


def _is_own(run: Run, received: Received, found: Difference) -> bool:
    """Whether a difference is an instruction that the loop added, or any words of its own beside the prompt."""
    item = next((one for one in received.request.items if one.pointer == found.pointer), None)
    if isinstance(item, Said) and item.role in {"system", "developer"}:
        return True
    given = run.without_own_words(run.normalized(received.n).items)
    return difference(run.expected(received.n), given) is None


# -- histories --------------------------------------------------------------------------------------------------------


def _histories(run: Run) -> Iterator[tuple[float, Event, Sign]]:
    """The wrong history, timed just before the refusal that follows from it: the missing item is the better sign."""
    grown = run.once("grown", _grown)
    if grown is not None:
        received, sign, _ = grown
        yield received.at - 1e-6, received, sign


def _grown(run: Run) -> tuple[Received, Sign, Difference] | None:
    """The first request whose history does not follow from the turns before it; its beginning may be any."""
    if run.pruned or run.nested or run.scripted is not None or not run.received:
        return None
    first = run.received[0].request.items
    for received in run.received[1:LOOKED_AT]:
        items = run.normalized(received.n).items
        place = next((at for at, one in enumerate(first) if at >= len(items) or items[at] != one), None)
        if place is not None:
            got = items[place] if place < len(items) else None
            pointer = got.pointer if got is not None else "the end of the history"
            words = describe(got) if got is not None else "nothing: the history ends here"
            return received, ("history", "the prompt", "changed"), Difference(pointer, describe(first[place]), words)
        wanted = run.expected(received.n)[len(run.prompt) :]
        found = difference(wanted, items[len(first) :])
        if found is not None and not _is_stored(found):
            return received, _left_out(wanted, items[len(first) :]), found
    return None


def _left_out(wanted: Sequence[Wanted], got: Sequence[Item]) -> Sign:
    """The kind of the wrong history item and its fault: calls, results and opaque items come before text."""
    firm = [piece for piece in wanted if not isinstance(piece, Said)], [one for one in got if not isinstance(one, Said)]
    for place, want in enumerate(firm[0]):
        if place >= len(firm[1]):
            return "history", _name(want), "left out"
        if not agrees(want, firm[1][place]):
            if any(agrees(want, one) for one in firm[1]):
                kinds = {type(want), type(firm[1][place])}
                same = "results" if kinds == {Owed, Answered} else _name(want)
                return "history", same, "in another order"
            return "history", _name(want), _aspect(want, firm[1][place])
    if len(firm[1]) > len(firm[0]):
        return "history", _name(firm[1][len(firm[0])]), "added"
    spoken = sum(isinstance(piece, Said) for piece in wanted), sum(isinstance(one, Said) for one in got)
    if spoken[0] > spoken[1]:
        return "history", "text beside calls", "left out"
    return "history", "text beside calls", "added" if spoken[0] < spoken[1] else "changed"


def _aspect(want: Wanted, got: Item) -> str:
    """The part in which an item differs."""
    match want, got:
        case Asked(), Asked():
            if want.id != got.id:
                return "id changed"
            return "tool changed" if want.tool != got.tool else "arguments changed"
        case Owed(), Answered():
            return "id changed" if want.id != got.id else ("text changed" if got.text else "empty")
        case Opaque(), Opaque():
            return "changed" if want.kind == got.kind else "left out"
        case _:
            return "left out"


def _name(piece: Wanted | Item) -> str:
    match piece:
        case Said():
            return "text"
        case Asked():
            return "call"
        case Owed() | Answered():
            return "result"
        case Opaque():
            return piece.kind


# -- tools ------------------------------------------------------------------------------------------------------------


def _tools(run: Run) -> Iterator[tuple[float, Event, Sign]]:
    """The first tool run that no turn asked for, or that belongs to a turn whose calls must not run."""
    if run.scripted is not None:
        return
    left: list[tuple[Call, Turn, str]] = []
    ran: Counter[str] = Counter()
    has_asked = False
    replies = _replies(run)
    for event in sorted((one for one in run.transcript.events if isinstance(one, Received | ToolBegan)), key=_at):
        if isinstance(event, Received):
            turn = run.turns.get(event.n, Turn())
            left += [(call, turn, replies.get(event.n, "")) for call in turn.calls]
            has_asked = True
            continue
        if not has_asked:
            continue  # a call of the run that this one resumes
        text = json.dumps(event.arguments)
        of_tool = [one for one in reversed(left) if one[0].tool == event.tool]
        asked = next((one for one in of_tool if _same(one[0], text)), None)
        if asked is None and of_tool and not _is_whole(of_tool[0]):
            asked = of_tool[0]
        if asked is None:
            again = f"{event.tool}({text})" in ran
            yield event.at, event, (*(("tool", "runs again") if again else RUN_OTHERWISE), *_stimulus(run))
            return
        left.remove(asked)
        ran[f"{event.tool}({text})"] += 1
        if not _is_whole(asked):
            _, turn, what = asked
            how = _ALIKE.get(turn.stopped, turn.stopped)
            yield event.at, event, ("tool", "runs in a turn that is not whole", how, what)
            return


def _is_whole(asked: tuple[Call, Turn, str]) -> bool:
    """Whether a call belongs to a complete turn, whose calls must run."""
    _, turn, what = asked
    return turn.stopped in _COMPLETE and what == "a turn"


def _at(event: Received | ToolBegan) -> float:
    return event.at


def _same(call: Call, text: str) -> bool:
    return same_arguments(call.arguments, text)


def _replies(run: Run) -> dict[int, str]:
    """The description of each reply, by number."""
    return {event.n: event.what for event in run.transcript.events if isinstance(event, Replied)}


def _stimulus(run: Run) -> Sign:
    """What was unusual about the replies and the tool results of a run."""
    replies = {_alike(what) for what in _replies(run).values() if what != "a turn"}
    raised = {"a tool that raises" for one in run.ran if one.answer is not None and "error" in one.answer}
    return tuple(sorted(replies | raised))


# -- endings ----------------------------------------------------------------------------------------------------------


def _ending(run: Run, outcome: Value) -> Iterator[Sign]:
    """What is wrong with the value that the loop returned, compared with the last reply."""
    replies = _replies(run)
    if not replies or run.scripted is not None:
        return
    last = max(replies)
    what, turn = replies[last], run.turns.get(last)
    if what != "a turn" or turn is None:
        yield "silence", _alike(what)
    elif turn.calls and turn.stopped in _COMPLETE and run.limit is not None and last >= run.limit:
        yield "given-up", "calls at the limit" if run.limit else "calls at the limit 0"
    elif turn.calls and turn.stopped in _COMPLETE:
        sort = _calls(run, turn)
        yield "given-up", f"{sort} behind others that ran" if sort == "calls" and run.ran and last > 1 else sort
    elif turn.stopped not in _COMPLETE:
        yield "silence", f"a turn that stops with {turn.stopped}"
    elif (turn.text or "") != (outcome.text or "") and outcome.output is None:
        yield "answer", "nothing" if not outcome.text else "another text"


def _calls(run: Run, turn: Turn) -> str:
    """The kind of the calls in the turn after which the loop ended."""
    if any(not _is_object(call.arguments) for call in turn.calls):
        return "bad arguments"
    if run.offered and any(call.tool not in run.offered for call in turn.calls):
        return "an unknown tool"
    if any(one.answer is not None and "error" in one.answer for one in run.ran):
        return "a tool that raises"
    return "calls"


def _unusual(run: Run) -> Iterator[str]:
    """What was unusual about the last reply before the loop raised: its kind, its encoding, its calls, its tools."""
    replies = [event for event in run.transcript.events if isinstance(event, Replied)]
    if not replies or run.scripted is not None:
        return
    last = max(replies, key=lambda event: event.n)
    what, turn = last.what.partition(UNREAD)[0], run.turns.get(last.n)
    if what != "a turn":
        yield _alike(what)
    elif turn is not None and turn.stopped not in _COMPLETE:
        yield f"a turn that stops with {turn.stopped}"
    elif turn is not None and any(not call.arguments.strip() for call in turn.calls):
        yield "no arguments"
    elif turn is not None and turn.calls and (sort := _calls(run, turn)) != "calls":
        yield sort
    if last.stream and (lines := encoding_of(last.stream)):
        yield lines


UNREAD = ", which the loop did not read"
"""The start of the provider's note on a reply that was still being sent when the loop ended."""


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments or "{}"), dict)
    except ValueError:
        return False


_VARIES = (
    (re.compile(r"https?://\S+"), "URL"),
    (re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`"), "…"),
    (re.compile(r"\b(?=\w*\d)[\w-]{6,}\b"), "ID"),
    (re.compile(r"\d+"), "0"),
)


def _alike(message: str) -> str:
    """The first line of a message, without text that differs from run to run."""
    line = message.strip().partition("\n")[0]
    for pattern, word in _VARIES:
        line = pattern.sub(word, line)
    return line[:80]
