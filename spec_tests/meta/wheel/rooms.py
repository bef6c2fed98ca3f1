"""Which extra of the distribution each room of the wheel needs.

On the standard library alone, so that it can be read in an environment that has nothing but the wheel.
"""

from __future__ import annotations

ROOMS = {
    "looptck": "",
    "looptck.bench.client.visit": "server",
    "looptck.drivers.programs.acp": "program",
    "looptck.commands.kill.page": "reference",
    "looptck.commands.matrix": "site",
    "looptck.commands.recording": "record",
    "looptck.commands.recording.scripted": "scripted",
    "looptck.signatures": "signatures",
    "looptck.report.site": "site",
    "looptck_mutants": "reference",
    "looptck_reference": "reference",
}
"""By the name of a module, for it and all below it; ``""``: what is installed without an extra."""


def extra_of(module: str) -> str:
    """The extra that a module of the wheel needs. Raises KeyError where it is in no room."""
    room = module
    while room not in ROOMS and "." in room:
        room = room.rpartition(".")[0]
    return ROOMS[room]
