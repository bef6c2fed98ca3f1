"""Servers that run the loop themselves: how they are named, started and reached."""

from __future__ import annotations

from looptck.drivers.servers.declared import MODEL, USUAL
from looptck.drivers.servers.servers import Servers, servers

__all__ = ["MODEL", "USUAL", "Servers", "servers"]
