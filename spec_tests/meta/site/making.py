"""Results to make pages of, written by hand: what matters in them is said where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from looptck.report.site.entries import Entry

Json = dict[str, Any]
CELL = "openai-chat/plain/sync"
STEPS: list[Json] = [
    {"actor": "loop", "title": "request 1: POST /v1/chat/completions", "lines": ['model: "m"']},
    {"actor": "service", "title": "reply 1: 200, a turn", "lines": ["call a: weather({})"]},
    {
        "actor": "loop",
        "title": "request 2: POST /v1/chat/completions",
        "lines": ["messages: [", "  {<script>}", "]"],
        "marked": [1],
        "wrong": "the service refuses it: a result is <missing>",
    },
]


def result(requirement: str, verdict: str = "pass", *, cell: str = CELL, **more: Any) -> Json:
    """One verdict."""
    fixed = {"profile": "core", "level": "MUST", "case": "one-call", "reason": "because", "impact": "unsafe"}
    return {"requirement": requirement, "cell": cell, "verdict": verdict, **fixed, **more}


def cause(requirement: str, places: Sequence[int], steps: Sequence[Json] = STEPS) -> Json:
    """A cause of the results at these places."""
    return {
        "id": requirement,
        "requirement": requirement,
        "level": "MUST",
        "impact": "unsafe",
        "text": "It runs `once`.",
        "source": "somewhere",
        "verdicts": {"fail": len(places)},
        "because": "it ran <twice>",
        "cells": [CELL],
        "cases": ["one-call"],
        "noticed_by": {},
        "evidence": [],
        "again": "looptck run --case one-call",
        "trace": None,
        "receipt": [*steps],
        "results": [*places],
    }


def data(name: str, version: str, results: Sequence[Json], causes: Sequence[Json] = (), **more: Any) -> Json:
    """The JSON of a run."""
    return {
        "looptck": "0.9",
        "driver": "python:x:Driver",
        "implementation": {
            "name": name,
            "version": version,
            "language": "python",
            "wires": ["openai-chat"],
            "modes": ["sync"],
            "profiles": [],
            "capabilities": {"stream": False, "limit": True},
            "dialect": {},
        },
        "summary": dict.fromkeys(["pass", "fail", "not-reached", "not-applicable", "error", "divergence"], 0),
        "results": [*results],
        "causes": [*causes],
        "traits": [{"trait": "unknown-tool", "cell": CELL, "answer": "told", "detail": ""}],
        "driver_faults": [],
        "stale_known_failures": [],
        "content": "0",
        **more,
    }


RIGHT = data("right", "1.0", [result("call-runs-its-tool-once"), result("every-call-is-answered")])
WRONG = data(
    "<wrong>",
    "2.0",
    [
        result("call-runs-its-tool-once", "fail", known="Theirs: loop.py runs `it` twice."),
        result("call-runs-its-tool-once", cell="openai-chat/stream/sync"),
        result("every-call-is-answered", "fail", known="Ours: the case is wrong.", impact="broken"),
        result("limit-is-a-ceiling", "not-applicable"),
    ],
    [cause("call-runs-its-tool-once", [0]), cause("every-call-is-answered", [2])],
)
NEWER = data("<wrong>", "10.0", [result("call-runs-its-tool-once"), result("every-call-is-answered")])


def entries() -> list[Entry]:
    """A right loop, a wrong one at two versions, and one that could not be installed."""
    return [
        Entry(
            "right", RIGHT, notes="\n## Choices\n\n| a | b |\n|---|---|\n| <twice> | `c` |\n", kind="loop", seconds=3.2
        ),
        Entry(
            "wrong@2",
            WRONG,
            reports={"twice": "# It runs <twice>\n\nSee `loop.py` and --requirement call-runs-its-tool-once\n"},
        ),
        Entry("wrong@10", NEWER, kind="program"),
        Entry("absent", None, "It cannot be installed: npm <said> no"),
    ]
