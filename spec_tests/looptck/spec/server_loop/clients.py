"""Tools of a client's own for checks with several clients, so that each client's calls can be recognised."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from looptck.bench.client.reply import Progress
from looptck.bench.server import tool
from looptck.catalogue.agents import Tool
from looptck.provider.toolbox import Behaviour, Returns
from looptck.values.frozen import dataclass
from looptck.values.turns import Call, Turn, calls, says


@dataclass(frozen=True, slots=True)
class Client:
    """One of many clients; its name appears in every text of its conversation."""

    name: str

    @property
    def tool(self) -> Tool:
        """The tool that this client offers."""
        return tool(f"note_{self.name}", text="string")

    @property
    def question(self) -> str:
        return f"Please take notes, {self.name}."

    @property
    def answer(self) -> str:
        return f"Noted for {self.name}."

    def arguments(self, n: int) -> dict[str, str]:
        """The arguments of its call in round ``n``."""
        return {"text": f"note {n} of {self.name}"}

    def result(self, n: int) -> str:
        """The result of its call in round ``n``."""
        return f"result {n} for {self.name}"

    def turn(self, n: int) -> Turn:
        """The model's turn in round ``n``."""
        return calls(Call.of(self.tool.name, self.arguments(n)))

    def turns(self, rounds: int) -> tuple[Turn, ...]:
        """All turns of the model: one call in each round, then the answer."""
        return (*(self.turn(n) for n in range(rounds)), says(self.answer))

    def results(self, rounds: int) -> list[Behaviour]:
        """The results of its tool, one for each round."""
        return [Returns(self.result(n)) for n in range(rounds)]


def phases_of(events: Iterable[Progress]) -> list[tuple[int, Any]]:
    """The phases of progress events and how many rounds came before, whatever number the server gives the first."""
    rounds: list[Any] = []
    found = []
    for one in events:
        if one.round not in rounds:
            rounds.append(one.round)
        found.append((rounds.index(one.round), one.phase))
    return found
