"""A model that speaks for several agents: each has a part, of which it says a line whenever its agent asks.

Who asks is read from the request: by the instructions, or else by the tools. So parts are said in whatever order a loop
asks, and also if two agents ask at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from looptck.bench.agent_calls import agent_call, renamed
from looptck.bench.checks import Implementation, RunOverrides
from looptck.bench.run import Run
from looptck.catalogue.agents import Tool
from looptck.provider.renamed import Names
from looptck.provider.script import RUNAWAY_CAP
from looptck.values.frozen import dataclass
from looptck.values.history import Asked, Item, Offered, Request, Said
from looptck.values.team import Member, Way
from looptck.values.transcript import Received
from looptck.values.turns import Call, Piece, Turn, says, turn
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

SYSTEM = {"system", "developer"}
OVER = says("That is all.")
"""What an agent says whose part is over."""
HANDED = says("The conversation is handed over.")
"""What an agent says that is asked once more behind its handoff, before the other one is."""


def _tool(name: str, description: str, parameter: str) -> Tool:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return Tool(name, description, schema)


TOOLS = (
    _tool("lookup", "Finds a customer by name.", "customer"),
    _tool("refund", "Pays an order back.", "order"),
    _tool("book", "Books a journey to a city.", "city"),
)
FRONT = Member("front", "Welcomes customers.", "You find out what customers want, and stay polite.", ["lookup"])
BILLING = Member("billing", "Knows all about invoices.", "You settle invoices, to the last penny.", ["refund"])
TRAVEL = Member("travel", "Plans journeys.", "You plan journeys, by train if there is one.", ["book"])


@dataclass(frozen=True, slots=True)
class On:
    """A call on another agent, made by what the request offers. ``stranger``: the name is another, of no agent."""

    agent: str
    input: str = "Please take care of it."
    way: Way = "handoff"
    stranger: str | None = None


def over(agent: str, *, stranger: str | None = None) -> On:
    """The agent hands the conversation over."""
    return On(agent, stranger=stranger)


def asks(agent: str, input: str) -> On:
    """The agent has a task done by another."""
    return On(agent, input, "subagent")


Line = Sequence[str | Piece | On]
"""The pieces of a turn."""


@dataclass(slots=True)
class Part:
    """The lines of an agent; ``hears``: words of the conversations in which it says them."""

    agent: str
    lines: Sequence[Line]
    hears: str = ""
    said: int = 0

    def next(self) -> Line | None:
        """The next line; None: there is none left."""
        self.said += 1
        return self.lines[self.said - 1] if self.said <= len(self.lines) else None


@dataclass(slots=True)
class Cast:
    """The agents of a run and their parts."""

    implementation: Implementation
    agents: Sequence[Member]
    parts: Sequence[Part]
    missing: list[str] = field(default_factory=list)
    """The calls on agents for which a request offered nothing."""
    _expected: str = ""
    """The agent that was called on last."""
    _left: str = ""
    """The agent that has handed the conversation over, until another one asks."""

    def play(self, question: str, *, most: int = RUNAWAY_CAP, limit: int | None = None) -> Run:
        """Run the loop with this cast until the run ends."""
        self.implementation.scenario.listens(self.turn, most=most)
        return self.implementation.run(question, agents=self.agents, tools=TOOLS, limit=limit)

    @property
    def how(self) -> RunOverrides:
        """How its runs differ from others."""
        return {"agents": self.agents, "tools": TOOLS}

    def turn(self, body: Any) -> Turn:
        """The turn that answers a request."""
        request = WIRES[self.implementation.cell.wire].service(True).read(body)
        who = asker(request, self.agents) or self._expected or self.agents[0].name
        if who == self._left:
            return HANDED
        part = self._part(who, request)
        line = None if part is None else part.next()
        self._left = ""
        if line is None:
            return OVER
        handed = [piece for piece in line if isinstance(piece, On) and piece.way == "handoff"]
        self._left = who if len(handed) == 1 and handed[0].stranger is None else ""
        pieces = [self._called(piece, request, who) if isinstance(piece, On) else piece for piece in line]
        return turn(*(piece for piece in pieces if piece is not None)) if all(pieces) else says("I cannot do that.")

    def _part(self, who: str, request: Request) -> Part | None:
        """The part of an agent whose words are the last that the request has."""
        own = [part for part in self.parts if part.agent == who]
        words = "\n".join(_words(item) for item in request.items)
        places = [(words.rfind(part.hears), part) for part in own]
        heard = [(place, part) for place, part in places if place >= 0]
        return max(heard, key=lambda one: one[0])[1] if heard else None

    def _called(self, on: On, request: Request, who: str) -> Call | None:
        """The call on an agent by what a request offers."""
        declared = self.implementation.started.agent_tools.get(on.way)
        own = _own(request.tools).values()
        call = agent_call(request.tools, own, on.agent, on.input, on.way, declared)
        if call is None:
            offered = ", ".join(tool.name for tool in request.tools) or "no tools"
            self.missing.append(f"{who} has no tool by which it can call on {on.agent}: its request offers {offered}")
            return None
        self._expected = on.agent
        return call if on.stranger is None else renamed(call, on.agent, on.stranger)

    def reached(self) -> None:
        """All calls on agents of the script were made. Raises NotReached if one could not be."""
        if self.missing:
            raise NotReached(self.missing[0])


def _own(tools: Sequence[Offered]) -> dict[str, Offered]:
    """The tools of the case among these, whatever the loop calls them, by their own names."""
    return Names({tool.name: tool.description for tool in TOOLS}).among(tools)


def asker(request: Request, agents: Sequence[Member]) -> str | None:
    """The agent that asks, by its instructions, or else by its tools; None: nothing tells.

    Of several instructions in one request those count whose tools are offered, and of those the last.
    """
    found = instructed(request, agents)
    offered = _own(request.tools).keys()
    holding = [agent.name for agent in agents if offered == {*agent.tools}]
    both = [name for name in found if name in holding]
    return next((names[-1] for names in (both, found, holding) if names), None)


def instructed(request: Request, agents: Sequence[Member]) -> list[str]:
    """The agents whose instructions a request has, in their order there; those of the user are looked at last."""
    said = [item for item in request.items if isinstance(item, Said)]
    for items in ([one for one in said if one.role in SYSTEM], [one for one in said if one.role == "user"]):
        words = _plain("\n".join(item.text for item in items))
        places = {agent.name: words.rfind(_plain(agent.instructions)) for agent in agents}
        if found := [name for name in sorted(places, key=places.__getitem__) if places[name] >= 0]:
            return found
    return []


def taken_over(run: Run, agents: Sequence[Member], turn: int) -> Received:
    """The request with which another agent goes on after a handoff in this turn, or else the next one.

    A loop may ask the agent that has handed over once more, before the other one. Raises NotReached if none came.
    """
    first = run.request(turn + 1)
    before = asker(run.request(turn).request, agents)
    others = (one for one in run.requests[turn:] if asker(one.request, agents) != before)
    return next(others, first)


def requests_of(run: Run, agents: Sequence[Member], name: str) -> list[Received]:
    """The requests of an agent, in order."""
    return [received for received in run.requests if asker(received.request, agents) == name]


def words_of(request: Request) -> str:
    """All words of a request but its instructions."""
    return "\n".join(_words(item) for item in request.items if not (isinstance(item, Said) and item.role in SYSTEM))


def _words(item: Item) -> str:
    return f"{item.tool} {item.arguments}" if isinstance(item, Asked) else item.text


def _plain(text: str) -> str:
    return " ".join(text.split())


def offered(received: Received) -> set[str]:
    """The names of the case's tools that a request offers."""
    return {*_own(received.request.tools)}


def answered(run: Run, turn: int) -> None:
    """Each call of a turn has one result in each later request that carries it, and none in the others.

    A loop may hand over a conversation without its calls, as words or not at all.

    Raises:
        AssertionError: with the first call that has none, or several.
    """
    for received in run.requests[turn:]:
        request = run.normalized(received.n)
        for call in run.delivered(turn).calls:
            carried = any(one.id == call.id for one in request.asked)
            results = sum(one.id == call.id for one in request.answers)
            number = f"{results} results" if results else "no result"
            carries = "carries" if carried else "does not carry"
            assert results == carried, (
                f"request {received.n} {carries} the call {call.tool} of turn {turn}, and has {number} for it"
            )
