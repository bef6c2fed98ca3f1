"""Names under which a loop offers the tools of its case, where it changes them: prefixes, other characters.

No service lets a model call a tool by a name that was not offered. So a scripted call of a renamed tool is spoken with
the offered name, and requests are read with the tools' own names. The trait `offered-tools` has the names as they are.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace

from looptck.values.history import Asked, Offered, Request
from looptck.values.turns import Call, Turn


@dataclass(slots=True)
class Names:
    """The names of one run's tools."""

    tools: Mapping[str, str] = field(default_factory=dict)
    """The description of each tool of the case, by the tool's own name."""
    offered: Mapping[str, str] = field(default_factory=dict)
    """The offered name by the own name, for those that differ."""
    own: Mapping[str, str] = field(default_factory=dict)
    """The own name by the offered name."""
    is_known: bool = False
    """Whether the names are known beforehand, and not found out."""

    @classmethod
    def of(cls, tools: Sequence[tuple[str, str]]) -> Names:
        """The names of tools, each given with its description.

        Of several with one name, as two MCP servers may have, it finds out nothing.
        """
        names = [name for name, _ in tools]
        return cls({name: about for name, about in tools if names.count(name) == 1})

    @classmethod
    def by(cls, pattern: str, tools: Sequence[str]) -> Names:
        """The names of tools that are offered by a pattern with ``{name}`` for the own name."""
        offered = {name: pattern.replace("{name}", name) for name in tools}
        return cls(offered=offered, own={other: name for name, other in offered.items()}, is_known=True)

    def learn(self, tools: Sequence[Offered]) -> None:
        """Find out under which names a request offers the tools; without a doubt, or not at all.

        A request that offers none, such as the last one before a limit, changes nothing.
        """
        if not tools or self.is_known:
            return
        there = {tool.name for tool in tools}
        missing = [name for name in self.tools if name not in there]
        if not missing:
            self.offered, self.own = {}, {}
            return
        strangers = [tool for tool in tools if tool.name not in self.tools]
        found = {name: meant for name in missing if (meant := self._meant(name, strangers)) is not None}
        once = [name for name in found if [*found.values()].count(found[name]) == 1]
        self.offered = {name: found[name] for name in once}
        self.own = {meant: name for name, meant in self.offered.items()}

    def among(self, tools: Sequence[Offered]) -> dict[str, Offered]:
        """Those of the offered tools that are the case's, by their own names, whatever the loop calls them."""
        self.learn(tools)
        known = {self.own.get(tool.name, tool.name): tool for tool in tools}
        return {name: tool for name, tool in known.items() if name in self.tools}

    def _meant(self, own: str, strangers: Sequence[Offered]) -> str | None:
        """The one tool with the description of this one; if either has none, the one whose name ends in its words."""
        about = self.tools[own]
        alone = bool(about) and [*self.tools.values()].count(about) == 1
        alike = {one.name for one in strangers if alone and about in one.description}
        silent = [one for one in strangers if not about or not one.description]
        alike = alike or {one.name for one in silent if _ends_in(_words(one.name), _words(own))}
        return alike.pop() if len(alike) == 1 else None

    def spoken(self, turn: Turn) -> Turn:
        """A turn with the offered names."""
        return _with(turn, self.offered)

    def meant(self, turn: Turn) -> Turn:
        """A turn with the own names."""
        return _with(turn, self.own)

    def read(self, request: Request, said: Container[str] = ()) -> Request:
        """A request whose calls and tools have the own names; ``said``: the ids of calls that the model has made.

        Such a call was said with the offered name. One that comes back with the own name has been changed.
        """
        if not self.own:
            return request
        items = (self._named(item, said) if isinstance(item, Asked) else item for item in request.items)
        tools = (replace(tool, name=self.own.get(tool.name, tool.name)) for tool in request.tools)
        return replace(request, items=tuple(items), tools=tuple(tools))

    def _named(self, call: Asked, said: Container[str]) -> Asked:
        if call.tool in self.offered and call.tool not in self.own and call.id in said:
            return replace(call, tool=f"{call.tool}, in place of {self.offered[call.tool]}")
        return replace(call, tool=self.own.get(call.tool, call.tool))


def _with(turn: Turn, names: Mapping[str, str]) -> Turn:
    if not any(call.tool in names for call in turn.calls):
        return turn
    pieces = (
        replace(piece, tool=names.get(piece.tool, piece.tool)) if isinstance(piece, Call) else piece
        for piece in turn.pieces
    )
    return replace(turn, pieces=tuple(pieces))


def _ends_in(words: Sequence[str], last: Sequence[str]) -> bool:
    return bool(last) and words[-len(last) :] == last


def _words(name: str) -> Sequence[str]:
    """The words of a name in any spelling: those of ``x__keep-note2`` and ``XKeepNote2`` are x, keep and note2."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+", name)]
