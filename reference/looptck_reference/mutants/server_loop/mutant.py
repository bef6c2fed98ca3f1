"""What every broken server is: the simulator with one seam broken on purpose, and the word for what must come of it.

class ServerOneRoundTooMany(ServerMutant):
'''Runs one tool more than its cap allows: `server-cap-bounds-the-rounds`.'''

breaks = ("server-cap-bounds-the-rounds",)

class simulator(Simulator):  # the bench's attribute
class loop(AgentLoop):
def cap_reached(self) -> bool:
return self.round > self.cap
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from looptck_reference.mutants.mutant import CHAT
from looptck_reference.server.bench import Bench

__all__ = ["ServerMutant"]


class ServerMutant(Bench):
    """The simulator on its bench with one fault; `Mutant` says what the members mean."""

    breaks: ClassVar[tuple[str, ...]]
    also: ClassVar[Mapping[str, str]] = MappingProxyType({})
    cells: ClassVar[tuple[str, ...]] = CHAT
    coarse: ClassVar[bool] = False
