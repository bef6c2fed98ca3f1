"""Servers that run the loop themselves: what a person calls one, and how the kit starts and reaches it."""

from __future__ import annotations

from looptck.drivers.servers.declared import MODEL, USUAL
from looptck.drivers.servers.servers import Servers, servers

__all__ = ["MODEL", "USUAL", "Servers", "servers"]
