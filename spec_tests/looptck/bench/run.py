"""Runs: one case played to one implementation in one cell, and the questions that checks ask about its conversation.

`Observed` has what happened; here is whether each request carries what it should. A question about an event that did
not happen raises NotReached, so that a check cannot pass by accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from looptck.bench import oracle as expected
from looptck.bench.observed import Observed
from looptck.bench.oracle import Difference, Ran
from looptck.values import call_ids as ids
from looptck.values.frozen import dataclass
from looptck.values.history import Answered, Asked, Item, Request, Said, holds, results_in_call_order, spelled
from looptck.values.jsontext import canonical
from looptck.values.transcript import Ended, Received, Replied
from looptck.values.turns import Call
from looptck.wires import WIRES


@dataclass(slots=True, repr=False)
class Run(Observed):
    """A run that has ended, and how its requests carry the conversation."""

    _expected: dict[tuple[int, int], list[expected.Wanted]] = field(default_factory=dict, repr=False, compare=False)
    """Expected histories, by the number of the request and of the events so far."""
    _pairing: ids.Pairing = field(default_factory=ids.Pairing, repr=False, compare=False)

    def comparable_history(self, n: int) -> list[Item]:
        """The history of request ``n`` in a form in which two runs of one conversation are equal.

        A result's text is replaced by the tool run that returned it: the toolbox numbers the runs of a tool as they
        come, and the order of the calls of a turn may be chance. Arguments are spelled canonically. The results of a
        turn are in the order of its calls. Words of the loop's own are left out, since they may tell the time.
        """
        gave = {(run.answer or {})["value"]: f"{run.tool}({canonical(run.arguments)})" for run in self._texts}
        items: list[Item] = []
        for item in self.without_own_words(self.normalized(n).items):
            if isinstance(item, Answered):
                holding = max((text for text in gave if text.strip() and holds(item.text, text)), key=len, default=None)
                given = gave.get(item.text) or (gave[holding] if holding else item.text)
                items.append(replace(item, text=given))
            elif isinstance(item, Asked):
                items.append(replace(item, arguments=spelled(item.arguments)))
            else:
                items.append(item)
        return results_in_call_order(items)

    def without_own_words(self, items: Sequence[Item]) -> list[Item]:
        """The same items without what the loop has said in nobody's name, as a reminder or the time of day."""
        found: list[Item] = []
        for item in items:
            if not isinstance(item, Said) or item.role == "assistant":
                found.append(item)
            elif given := [text for _, text in self.prompt if text.strip() and text in item.text]:
                found.append(replace(item, text="\n".join(given)))
        return found

    @property
    def _texts(self) -> list[Ran]:
        """The tool runs that answered with a text."""
        return [run for run in self.ran if isinstance((run.answer or {}).get("value"), str)]

    def normalized(self, n: int) -> Request:
        """Request ``n`` with the ids of the script, even if the loop gave the calls and their results other ids.

        Raises NotReached if there was none.
        """
        self._came(n)
        return ids.with_script_ids(*self._requests_and_calls(n), self._pairing)

    def renamed(self, n: int) -> dict[str, str]:
        """The new ids of the calls of turn ``n`` whose ids the loop changed; NotReached if there is no next request."""
        self.delivered(n)
        self.request(n + 1)
        return ids.renamed(*self._requests_and_calls(n + 1))

    def _requests_and_calls(self, n: int) -> tuple[list[Request], list[Sequence[Call]]]:
        """The first ``n`` requests, and the calls of the turns that answered all but the last of them."""
        turns: list[Sequence[Call]] = [self.turns[k].calls if k in self.turns else () for k in range(1, n)]
        return [received.request for received in self.received[:n]], turns

    def echoed(self, n: int) -> list[Asked]:
        """The calls of turn ``n`` as the next request carries them. Raises NotReached if there is no next request."""
        wanted = [call.id for call in self.delivered(n).calls]
        return [asked for asked in self.normalized(n + 1).asked if asked.id in wanted]

    def answers(self, n: int) -> list[Answered]:
        """The results for turn ``n`` as the next request carries them. Raises NotReached if there is none."""
        wanted = [call.id for call in self.delivered(n).calls]
        return [answer for answer in self.normalized(n + 1).answers if answer.id in wanted]

    def new_answers(self, n: int) -> list[Answered]:
        """The results that the request after turn ``n`` adds, with any id.

        Of a loop that no longer sends what was in the request before, those with the ids of the turn.
        """
        calls = self.delivered(n).calls
        before, after = (self.request(k).request.answers for k in (n, n + 1))
        if [one.id for one in before] != [one.id for one in after[: len(before)]]:
            return self.answers(n) if calls else []
        return list(self.normalized(n + 1).answers[len(before) :])

    def echo(self, n: int) -> list[Item]:
        """Turn ``n`` as the next request should carry it."""
        return WIRES[self.cell.wire].echo(self.delivered(n))

    def added(self, n: int) -> list[Item]:
        """The history items that the request after turn ``n`` adds. Raises NotReached if there is none.

        Instructions that it no longer carries are none of the items before them, nor are a loop's own words at the end
        of the request before. Of a loop that no longer sends its oldest rounds, those behind the last result that the
        request before had.
        """
        self.delivered(n)
        before, after = self.request(n).request.items, self.normalized(n + 1).items
        lost = max(0, _instructions(before) - _instructions(after))
        place = len(before) - lost
        while place > 0 and self._is_gone(before[place + lost - 1], after[place - 1 : place]):
            place -= 1
        last = self.normalized(n).items[-1:]
        if isinstance(next(iter(last), None), Answered) and last != after[place - 1 : place]:
            place = next((k for k in range(place - 1, 0, -1) if last == after[k - 1 : k]), place)
        return list(after[place:])

    def _is_gone(self, item: Item, now: Sequence[Item]) -> bool:
        """Whether these were words of the loop's own for one request: what is at their place now is something else."""
        if not isinstance(item, Said) or item.role == "assistant" or item in now:
            return False
        return not any(text in item.text for _, text in self.prompt)

    def expected(self, n: int) -> Sequence[expected.Wanted]:
        """The history that request ``n`` should carry. What was computed is kept until there is another event."""
        events = self.transcript.events
        if (n, len(events)) not in self._expected:
            whole = {event.n for event in events if isinstance(event, Replied) and event.what == "a turn"}
            turns = [self.turns[k] for k in sorted(self.turns) if k < n and k in whole]
            began = self._came(n).at
            ran = [run for run in self.ran if run.began <= began]
            self._expected[n, len(events)] = expected.items(self.prompt, turns, ran, WIRES[self.cell.wire].echo)
        return self._expected[n, len(events)]

    def first_difference(self, most: int) -> tuple[Received, Difference] | None:
        """The first request with a wrong history, and the place; None from the first request of another agent on.

        No more than the first ``most`` requests are looked at.
        """
        if self.pruned:
            return None
        own = [Said(role, text) for role, text in self.prompt]
        for received in self.received[:most]:
            if self.nested and expected.difference(own, received.request.items[: len(own)]):
                return None
            found = expected.difference(self.expected(received.n), self.normalized(received.n).items)
            if found:
                return received, found
        return None


def end(run: Run) -> None:
    """Add the outcome to the transcript."""
    run.transcript.append(Ended(run.transcript.now(), run.outcome))


def _instructions(items: Sequence[Item]) -> int:
    """How many of them are instructions."""
    return sum(isinstance(item, Said) and item.role == "system" for item in items)
