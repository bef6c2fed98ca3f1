"""The tool of its own by whose call alone a loop takes an answer.

Such a loop offers the tool beside those of its case, and forces a call in each request. A model that obeys says its
answer as a call of that tool. Scripts and checks know nothing of it: an answer is spoken as the call, and requests are
read as if the model had said the text, and the tool were not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.history import Answered, Asked, Item, Offered, Request, Said, parsed
from looptck.values.jsontext import compact
from looptck.values.turns import Call, Stop, Text, Turn

CUT: frozenset[Stop] = frozenset({"length", "context_window", "content_filter"})
"""The stop reasons of an answer whose call is cut as its text was."""
NO_ANSWER: frozenset[Stop] = frozenset({"stop_sequence", "unknown", "calls"})
"""The stop reasons with which a text may be an answer, but none that such a loop takes."""


@dataclass(frozen=True, slots=True)
class AnswerTool:
    """The member ``answer`` of a driver's declaration."""

    tool: str
    argument: str
    """The argument with the text of the answer."""
    others: Mapping[str, Any] = field(default_factory=dict)
    """The further arguments of each call."""

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> AnswerTool:
        """From its form in ``started``, which the schema has accepted."""
        return cls(message["tool"], message["argument"], message.get("others", {}))

    def serializable(self) -> dict[str, Any]:
        """As a JSON object."""
        others = {"others": dict(self.others)} if self.others else {}
        return {"tool": self.tool, "argument": self.argument, **others}

    def offered(self, tools: Iterable[Offered]) -> bool:
        """Whether a request offers it."""
        return any(one.name == self.tool for one in tools)

    def call(self, text: str) -> Call:
        """The call that says a text; the text is last, as a model may be cut while it writes it."""
        return Call(self.tool, compact({**self.others, self.argument: text}).decode())

    def spoken(self, turn: Turn) -> Turn:
        """A turn whose text is a call of the tool, if it is an answer, whole or cut; any other as it is."""
        if turn.calls or turn.refusal is not None or not (turn.stopped == "end" or (turn.stopped in CUT and turn.text)):
            return turn
        call, stop = self.call(turn.text or ""), None
        if turn.stopped != "end":
            call, stop = replace(call, arguments=call.arguments.removesuffix('"}')), turn.stop
        return replace(turn, pieces=(*(one for one in turn.pieces if not isinstance(one, Text)), call), stop=stop)

    def read(self, request: Request) -> Request:
        """A request as it would be without the tool: its calls are texts of the assistant, and have no results."""
        tools = tuple(tool for tool in request.tools if tool.name != self.tool)
        if len(tools) == len(request.tools) and not any(one.tool == self.tool for one in request.asked):
            return request
        return replace(request, items=tuple(self._read(request.items)), tools=tools)

    def _read(self, items: Iterable[Item]) -> Iterator[Item]:
        said = set()
        for item in items:
            if isinstance(item, Asked) and item.tool == self.tool:
                said.add(item.id)
                yield Said("assistant", self._text(item.arguments), item.pointer)
            elif not (isinstance(item, Answered) and item.id in said):
                yield item

    def _text(self, arguments: str) -> str:
        """The text of a call; its arguments as they are where they have none."""
        try:
            value = parsed(arguments)
        except ValueError:
            return arguments
        text = value.get(self.argument) if isinstance(value, dict) else None
        return text if isinstance(text, str) else arguments
