"""What the checks with several clients share: tools of a client's own, so that its calls are told from all others."""

from __future__ import annotations

from dataclasses import dataclass

from looptck.agents import Tool
from looptck.guest import tool
from looptck.provider.toolbox import Behaviour, Returns
from looptck.turns import Call, Turn, calls, says


@dataclass(frozen=True, slots=True)
class Client:
    """One of many; its name stands in all that is said for it."""

    name: str

    @property
    def tool(self) -> Tool:
        """The one that it offers."""
        return tool(f"note_{self.name}", text="string")

    @property
    def question(self) -> str:
        return f"Please take notes, {self.name}."

    @property
    def answer(self) -> str:
        return f"Noted for {self.name}."

    def arguments(self, n: int) -> dict[str, str]:
        """Those of its call in round ``n``."""
        return {"text": f"note {n} of {self.name}"}

    def result(self, n: int) -> str:
        """What that call gives."""
        return f"result {n} for {self.name}"

    def turn(self, n: int) -> Turn:
        """The model's turn in round ``n``."""
        return calls(Call.of(self.tool.name, self.arguments(n)))

    def turns(self, rounds: int) -> tuple[Turn, ...]:
        """All turns of the model: one call for each round, then the answer."""
        return (*(self.turn(n) for n in range(rounds)), says(self.answer))

    def results(self, rounds: int) -> list[Behaviour]:
        """What its tool does in each round."""
        return [Returns(self.result(n)) for n in range(rounds)]
