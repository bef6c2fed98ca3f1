"""A script in the words of a program: each call of a tool becomes one of the described tool that leaves a mark.

A program that is given the kit's tools gets the calls as they are. To any other, only the description's own arguments
are sent: a word for the mark is all that is filled in, never a text of a case.
When the mark is found, the word tells for which call of the script it stands, and whether its turn was broken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from looptck.drivers.programs import Description, Tool
from looptck.drivers.programs.scratch import COMMENT, Scratch
from looptck.provider.script import Script, Step
from looptck.provider.toolbox import Behaviour, Raises
from looptck.values.frozen import dataclass
from looptck.values.history import parsed, spelled
from looptck.values.jsontext import compact
from looptck.values.turns import Call, Piece, Text, Turn, says

SPARE = 12
"""The most further requests that the last turn of a script answers: programs ask again where a library ends."""
HALF = len(COMMENT) // 2
"""How many characters of the arguments of a broken call are cut off: all of them are in the comment behind the mark."""
WORD = re.compile(r"looptck-(\d+\.\d+)-")
"""The word in a mark."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The call of the script that a mark stands for."""

    tool: str
    arguments: Any
    lost: bool


@dataclass(slots=True)
class Translation:
    """The translation of one run's script."""

    description: Description
    scratch: Scratch
    number: int
    """The number of the run, which its words carry."""
    offered: Collection[str]
    """The tools for which the described one stands; a call of any other is left as it is."""
    behaviours: Mapping[str, Sequence[Behaviour]] = field(default_factory=dict)
    _words: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    _meant: dict[str, Meant] = field(default_factory=dict)

    def script(self, script: Script) -> Script:
        """The script in the program's words, with spare turns behind its end."""
        steps = tuple(self.step(one) for one in script.steps)
        if script.endless is not None:
            endless = script.endless
            return replace(script, steps=steps, endless=lambda n: self.step(endless(n)))
        last = self.turn(_last_answer(script.steps), lost=False)
        return Script(steps, lambda _: Step(last), len(steps) + SPARE, script.stateful)

    def step(self, step: Step) -> Step:
        """A step in the program's words."""
        made = step
        if step.turn is not None:
            made = replace(made, turn=self.turn(step.turn, lost=step.fault is not None))
        if step.by is not None and self.description.mark is not None:
            by = step.by
            made = replace(made, by=lambda body: self.turn(by(self._with_results(body)), lost=step.fault is not None))
        return made

    def turn(self, turn: Turn, *, lost: bool) -> Turn:
        """A turn in the program's words; an answer ends with the call that ends the program, if it needs one."""
        pieces: tuple[Piece, ...] = tuple(
            self._call(one, lost) if isinstance(one, Call) else one for one in turn.pieces
        )
        final = self.description.final
        if final is not None and not turn.calls and turn.stopped == "end":
            text = turn.text or ""
            arguments = final.filled({**self.scratch.of_call(""), "text": text})
            return Turn((*pieces, Call.of(final.name, arguments)), None)
        return replace(turn, pieces=pieces)

    def meant(self, line: str) -> tuple[str, Meant] | None:
        """The word in a line of the mark's file, and the call it stands for; None if the line has none."""
        found = WORD.search(line)
        if found is None or found[0] not in self._meant:
            return None
        return found[0], self._meant[found[0]]

    def _call(self, call: Call, lost: bool) -> Call:
        mark = self.description.mark
        if mark is None or call.tool not in self.offered or call.custom:
            return call
        broken = False
        try:
            if not isinstance(parsed(call.arguments), dict):
                return replace(call, tool=mark.name)
        except ValueError:
            if not call.arguments.lstrip().startswith("{"):
                return replace(call, tool=mark.name)
            broken = True
        tool = self._tool_for(call.tool, mark)
        text = compact(tool.filled(self.scratch.of_call(self._word(call, lost or broken)))).decode()
        return replace(call, tool=tool.name, arguments=text[:-HALF] if broken else text)

    def _tool_for(self, name: str, mark: Tool) -> Tool:
        raising = any(isinstance(one, Raises) for one in self.behaviours.get(name, ()))
        return self.description.fail if raising and self.description.fail is not None else mark

    def _word(self, call: Call, lost: bool) -> str:
        """The word for a call: equal calls have the same, unless one of them is lost."""
        key = call.tool, spelled(call.arguments), lost
        if key not in self._words:
            word = self._words[key] = f"looptck-{self.number}.{len(self._words) + 1}-"
            self._meant[word] = Meant(call.tool, _value(call.arguments), lost)
        return self._words[key]

    def _with_results(self, body: Any) -> Any:
        """A request's body as a script's turn expects it: with the toolbox's usual result of each call that has one.

        They stand beside the members of the request, among which a turn may look for the tools.
        """
        text = compact(body).decode()
        counts: dict[str, int] = {}
        results = []
        for word, meant in self._meant.items():
            if word in text:
                counts[meant.tool] = counts.get(meant.tool, 0) + 1
                results.append(f"result {counts[meant.tool]} of {meant.tool}")
        return {**body, "results": results} if isinstance(body, dict) else results


def _last_answer(steps: Sequence[Step]) -> Turn:
    """The last turn without calls that arrives whole, for the requests behind the end of a script."""
    for step in reversed(steps):
        if step.turn is not None and step.fault is None and not step.turn.calls and step.turn.stopped == "end":
            texts = tuple(piece for piece in step.turn.pieces if isinstance(piece, Text) and piece.text)
            if texts:
                return Turn(texts)
    return says("All done.")


def _value(arguments: str) -> Any:
    """The value of an argument text; the text itself if it is not JSON."""
    try:
        return parsed(arguments)
    except ValueError:
        return arguments
