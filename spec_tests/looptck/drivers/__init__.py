"""Drivers: the thin adapters between looptck and an implementation, and the connections to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from looptck.catalogue.extras import need
from looptck.drivers.connection import Connection, Line
from looptck.drivers.faults import DriverFault
from looptck.drivers.in_process import InProcess
from looptck.drivers.mends import of_word
from looptck.drivers.process import Process
from looptck.drivers.protocol import AGENT_LOOP, ALONE, PROGRAM, SERVER_LOOP, Started
from looptck.drivers.servers import MODEL, USUAL, Servers, servers

if TYPE_CHECKING:
    from looptck.drivers.programs import Programs

REFERENCE = "python:looptck_reference.kit.driver:Driver"
"""The driver of the reference simulator, the default driver."""

SERVER = "server:python:looptck_reference.server.bench:Bench"
"""The reference server that runs the loop itself, for the profile ``server-loop``."""

SOLUTIONS = "python:looptck_reference.agent_loop_010.driver:Driver"
"""The reference loop whose model writes Solutions, for the profile ``agent-loop-010``."""

PROGRAM_OF_REFERENCE = "program:python:looptck_reference.program:Program"
"""The small program around the reference loop, for the profile ``program``."""

_OF_REFERENCE = "python:looptck_reference.", "python:looptck_mutants"
"""The prefixes of the reference's drivers and mutants, after ``server:`` or ``program:``."""

_REFERENCES = {SERVER_LOOP: SERVER, AGENT_LOOP: SOLUTIONS, PROGRAM: PROGRAM_OF_REFERENCE}
"""The references of the standalone profiles."""


def reference(profiles: Collection[str] = ()) -> str:
    """The driver of the reference for these profiles."""
    asked = {*profiles}
    return _REFERENCES.get(asked.pop(), REFERENCE) if len(asked) == 1 else REFERENCE


def need_reference(name: str) -> None:
    """Raises NotInstalled if a driver or a collection of mutants belongs to the reference and its extra is missing."""
    if name.removeprefix("server:").removeprefix("program:").startswith(_OF_REFERENCE):
        need("The reference loop", "reference")


def connect(driver: str, starting: float | None = None) -> InProcess | Process | Servers | Programs:
    """A connection to the implementation that a driver names.

    ``python:MODULE:NAME``, ``python:FILE.py:NAME`` and ``cmd:COMMAND LINE`` are drivers; ``server:URL``,
    ``server:FILE`` and ``server:python:MODULE:NAME`` are servers that run the loop themselves; ``program:FILE`` and
    ``program:python:MODULE:NAME`` are whole programs. ``starting``: seconds that a driver may take to start; None: as
    many as suit its kind.

    Raises:
        ValueError: the name has none of these forms.
        BadFile: the file of a server or program does not describe one.
        NotInstalled: it needs an extra.
    """
    need_reference(driver)
    kind, _, rest = driver.partition(":")
    if kind == "python" and ":" in rest:
        return InProcess(rest, starting)
    if kind == "cmd" and rest.strip():
        return Process(rest, starting)
    if kind == "server":
        need("A server under test", "server")
        return servers(rest, starting)
    if kind == "program":
        from looptck.drivers.programs import programs  # few implementations are programs

        return programs(rest)
    meant = of_word(driver)
    raise ValueError(
        f"{driver!r} is not a driver: write python:MODULE:NAME, python:FILE.py:NAME, cmd:COMMAND LINE, "
        "server:FILE, server:URL or program:FILE" + (f"; did you mean {meant}?" if meant else "")
    )


__all__ = [
    "AGENT_LOOP",
    "ALONE",
    "MODEL",
    "PROGRAM",
    "PROGRAM_OF_REFERENCE",
    "REFERENCE",
    "SERVER",
    "SOLUTIONS",
    "USUAL",
    "Connection",
    "DriverFault",
    "InProcess",
    "Line",
    "Process",
    "Servers",
    "Started",
    "connect",
    "need_reference",
    "reference",
]
