"""Cases to record, replies to record them from, and a traffic log for all of them."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from looptck.bench.cases import Record, cases
from looptck.commands.recording import record
from looptck.commands.recording.capture import CaptureTarget
from looptck.commands.recording.traffic_log import TrafficLog
from looptck.provider.http import HttpReply
from looptck.values.framing import DEFAULT
from looptck.values.turns import Turn
from looptck.wires import WIRES
from meta.recording.fake_upstream import stream, whole


def target(name: str = "one-call", wire: str = "openai-chat", *, streams: bool = True, **changes: Any) -> CaptureTarget:
    """A declared case, some of it changed, on one wire."""
    case = replace(cases()[name], **changes)
    return CaptureTarget(case if case.record else replace(case, record=Record()), wire, streams)


def shares(patch: pytest.MonkeyPatch, log: TrafficLog) -> None:
    """Let ``record`` use this log in place of its own, which would be a process for each test."""
    patch.setattr(record, "traffic_log", lambda *_: contextlib.nullcontext(log))


def events(wire: str, turn: Turn, n: int = 1) -> list[bytes]:
    """The events of a turn, each as its bytes."""
    return list(DEFAULT.encode_each(WIRES[wire].events(turn, n, DEFAULT), named=WIRES[wire].named_events))


def said(wire: str, turn: Turn, *, streams: bool) -> HttpReply:
    """A turn as a reply."""
    if streams:
        return stream(*events(wire, turn))
    return whole(200, json.dumps(WIRES[wire].body(turn, 1, DEFAULT)).encode())
