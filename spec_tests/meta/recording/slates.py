"""Cases to record, replies to record them from, and a tape for all of them."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from typing import Any

import pytest

from looptck.cases import Record, cases
from looptck.framing import NATURAL
from looptck.provider.http import HttpReply
from looptck.recording import record
from looptck.recording.takes import Slate
from looptck.recording.tape import Tape
from looptck.turns import Turn
from looptck.wires import WIRES
from meta.recording.far_end import stream, whole


def slate(name: str = "one-call", wire: str = "openai-chat", *, streams: bool = True, **changes: Any) -> Slate:
    """A declared case, some of it changed, on one wire."""
    case = replace(cases()[name], **changes)
    return Slate(case if case.record else replace(case, record=Record()), wire, streams)


def shares(patch: pytest.MonkeyPatch, taped: Tape) -> None:
    """Let ``record`` take this tape in place of one of its own, which would be a process for each test."""
    patch.setattr(record, "tape", lambda *_: contextlib.nullcontext(taped))


def events(wire: str, turn: Turn, n: int = 1) -> list[bytes]:
    """The events of a turn, each as its bytes."""
    return list(NATURAL.dress_each(WIRES[wire].events(turn, n, NATURAL), named=WIRES[wire].named_events))


def said(wire: str, turn: Turn, *, streams: bool) -> HttpReply:
    """A turn as a reply."""
    if streams:
        return stream(*events(wire, turn))
    return whole(200, json.dumps(WIRES[wire].body(turn, 1, NATURAL)).encode())
