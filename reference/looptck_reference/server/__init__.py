"""A server that runs the agent loop itself, as mistral.rs does; the model behind it is somebody else's to play.

Read it in this order: `values`, `dialects`, `entry`, `steps`, `seams` and `loop` (the machine, without I/O), `sessions`
and `files` (what outlives a run), `tools` (who runs a call), `serving` (how a run is played), `api` (what is spoken to
clients), `http` (ASGI) and `cli`. `http`, and the requests in `api`, need the extra `server`.
"""

from __future__ import annotations

from looptck_reference.server.config import Config
from looptck_reference.server.dialects import DOCUMENT, TODAY, ServerDialect
from looptck_reference.server.limits import Limits
from looptck_reference.server.loop import AgentLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import Callback, Made, PythonLimits, SearchIndex
from looptck_reference.server.values import Permission, Produced

__all__ = [
    "DOCUMENT",
    "TODAY",
    "AgentLoop",
    "Callback",
    "Config",
    "Limits",
    "Made",
    "Permission",
    "Produced",
    "PythonLimits",
    "SearchIndex",
    "ServerDialect",
    "Simulator",
]
