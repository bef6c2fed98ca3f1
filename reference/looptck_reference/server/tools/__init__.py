"""The four paths on which a call is executed."""

from __future__ import annotations

from looptck_reference.server.tools.callbacks import Callback, Made
from looptck_reference.server.tools.dispatch import DispatchUrl
from looptck_reference.server.tools.python import PythonLimits, PythonRunner
from looptck_reference.server.tools.search import FAKE_INDEX, Page, SearchIndex
from looptck_reference.server.tools.workdir import Workshop

__all__ = [
    "FAKE_INDEX",
    "Callback",
    "DispatchUrl",
    "Made",
    "Page",
    "PythonLimits",
    "PythonRunner",
    "SearchIndex",
    "Workshop",
]
