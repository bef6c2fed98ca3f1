"""The scenario: what the provider and the tools will do in the next run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from looptck.provider.confirmation import Decides, Decision
from looptck.provider.gate import Gate
from looptck.provider.script import RUNAWAY_CAP, Script, Step, step
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.values.frozen import dataclass
from looptck.values.turns import Turn

if TYPE_CHECKING:
    from looptck.provider.mcp import Server
    from looptck.provider.mcp_results import Behaviour as ServedBehaviour
    from looptck.provider.mcp_results import Served


@dataclass(slots=True)
class Scenario:
    """What the provider and the tools will do in the next run."""

    steps: list[Step] = field(default_factory=list)
    endless: Callable[[int], Step] | None = None
    most: int = RUNAWAY_CAP
    behaviours: dict[str, Sequence[Behaviour]] = field(default_factory=dict)
    decisions: dict[str, Sequence[Decision]] = field(default_factory=dict)
    """The decisions for the confirmation hook, by tool; those under ``""`` are for all other tools."""
    decides_by: Decides | None = None
    """Makes the decision of the confirmation hook from the call, instead of those in order."""
    servers: list[Served] = field(default_factory=list)
    """The MCP servers that the loop is to be a client of."""
    stateful: bool = True
    """Whether the service stores its replies, on a wire with server-side state."""
    signal: Gate | None = None
    """A gate that the first model request opens, so that other runs can wait for it."""
    watching: tuple[Gate, ...] = ()
    """Further gates that events of the next runs open, so that a check can wait for them."""
    ahead: int = 0
    """How far the numbers of its replies and calls are ahead of those of a run that begins at one."""

    def plays(self, *what: Any, signal: Gate | None = None) -> None:
        """Answer the requests with these turns, faults or steps, in order."""
        self.steps = [step(one) for one in what]
        self.endless = None
        self.signal = signal

    def always(self, what: Callable[[int], Any], *, most: int = RUNAWAY_CAP) -> None:
        """After the steps, answer request ``n`` with ``what(n)``, a turn, a fault or a step, ``most`` times at most."""
        self.endless = lambda n: step(what(n))
        self.most = most

    def listens(self, turn: Callable[[Any], Turn], *, most: int = RUNAWAY_CAP) -> None:
        """After the steps, answer each request with the turn that ``turn`` makes from its body."""
        self.endless = lambda _: Step(None, by=turn)
        self.most = most

    def returns(self, tool: str, *values: Any) -> None:
        """Let a tool return these values, one per run; the last one is repeated."""
        self.behaviours[tool] = [Returns(value) for value in values]

    def raises(self, tool: str, message: str, type: str = "RuntimeError") -> None:
        """Let a tool raise an error of this type."""
        self.behaviours[tool] = [Raises(message, type)]

    def does(self, tool: str, *behaviours: Behaviour) -> None:
        """Let a tool show these behaviours, one per run; the last one is repeated."""
        self.behaviours[tool] = behaviours

    def decides(self, *decisions: Decision, about: str = "") -> None:
        """Answer the confirmation hook with these decisions, one per question; the last one is repeated.

        ``about`` is the tool that the decisions are for; by default all tools without decisions. Without any decision
        every call may run.
        """
        self.decisions[about] = decisions

    def serves(self, server: Server, **behaviours: Sequence[ServedBehaviour] | ServedBehaviour) -> None:
        """Let the loop be a client of this server too; behaviours of its tools by name, one per call."""
        from looptck.provider.mcp_results import Served  # few cases have servers

        listed = {tool: one if isinstance(one, Sequence) else [one] for tool, one in behaviours.items()}
        self.servers.append(Served(server, listed))

    @property
    def script(self) -> Script:
        """The script of the provider."""
        return Script(tuple(self.steps), self.endless, self.most, self.stateful)

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Every gate in the script and the toolbox."""
        held = [hold.gate for one in self.steps for hold in one.holds]
        before = [one.before for one in self.steps]
        tools = [behaviour.hold for many in self.behaviours.values() for behaviour in many]
        served = [one.hold for server in self.servers for many in server.behaviours.values() for one in many]
        decided = [decision.hold for many in self.decisions.values() for decision in many]
        every = (*held, *before, *tools, *served, *decided, *self.watching)
        return tuple(dict.fromkeys(gate for gate in every if gate is not None))
