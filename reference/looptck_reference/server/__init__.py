"""A server that runs the agent loop itself, as mistral.rs does, in front of a model behind another API.

Read it in this order: `values`, `dialects`, `entry`, `steps`, `seams` and `loop` (the machine, without I/O), `sessions`
and `files` (data that outlives a run), `tools` (the executors of calls), `serving` (the execution of a run), `api` (the
formats for clients), `http` (ASGI) and `cli`.
"""

from __future__ import annotations

from looptck_reference.server.config import Config
from looptck_reference.server.dialects import DOCUMENT, TODAY, ServerDialect
from looptck_reference.server.limits import Limits
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Simulator
from looptck_reference.server.tools import Callback, Made, PythonLimits, SearchIndex
from looptck_reference.server.values import Permission, Produced

__all__ = [
    "DOCUMENT",
    "TODAY",
    "Callback",
    "Config",
    "Limits",
    "Made",
    "Permission",
    "Produced",
    "PythonLimits",
    "SearchIndex",
    "ServerDialect",
    "ServerLoop",
    "Simulator",
]
