"""Drivers: the thin adapters between the kit and an implementation, and the lines to them."""

from __future__ import annotations

from looptck.drivers.connection import Connection
from looptck.drivers.faults import DriverFault
from looptck.drivers.in_process import InProcess
from looptck.drivers.process import Process
from looptck.drivers.protocol import Started

REFERENCE = "python:looptck_reference.driver:Driver"
"""The driver of the reference simulator: what is run when no driver is named."""


def connect(driver: str) -> Connection:
    """A line to the driver that ``python:MODULE:NAME``, ``python:FILE.py:NAME`` or ``cmd:COMMAND LINE`` stands for.

    Raises:
        ValueError: it is neither.
    """
    kind, _, rest = driver.partition(":")
    if kind == "python" and ":" in rest:
        return InProcess(rest)
    if kind == "cmd" and rest.strip():
        return Process(rest)
    raise ValueError(f"{driver!r} is no driver: write python:MODULE:NAME, python:FILE.py:NAME or cmd:COMMAND LINE")


__all__ = ["REFERENCE", "Connection", "DriverFault", "InProcess", "Process", "Started", "connect"]
