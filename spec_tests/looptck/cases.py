"""Declared cases: scenarios as data, in ``fixtures/cases/TOPIC/NAME.yaml``. Adding one needs no code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from looptck.agents import Tool
from looptck.agents import agent as agent_named
from looptck.catalogue import catalogue, unknown
from looptck.cells import Cell
from looptck.data import fixture
from looptck.framing import NATURAL, PRESETS
from looptck.kit import Scene
from looptck.provider.script import Step
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.turns import Call, Hosted, Piece, Refusal, Text, Thinking, Turn, Unknown
from looptck.wires import WIRES
from looptck.yamlfile import BadFile, load


@dataclass(frozen=True, slots=True)
class Case:
    """One scenario and what each requirement expects of it."""

    name: str
    why: str
    agent: str
    question: str
    limit: int | None
    steps: tuple[Step, ...]
    behaviours: Mapping[str, tuple[Behaviour, ...]]
    unhandled: tuple[str, ...]
    checks: Mapping[str, Mapping[str, Any]]
    wires: tuple[str, ...]
    """The wires that it was written for."""
    stateful: bool

    def fits(self, cell: Cell) -> bool:
        """Whether the cell's wire has words for every turn, and carries out every framing."""
        wire = WIRES[cell.wire]
        return cell.wire in self.wires and all(
            step.turn is None or (wire.can_say(step.turn, stream=cell.stream) and wire.carries_out(step.framing))
            for step in self.steps
        )

    def set(self, scene: Scene) -> None:
        """Set the scene for it."""
        scene.plays(*self.steps)
        scene.stateful = self.stateful
        for tool, behaviours in self.behaviours.items():
            scene.does(tool, *behaviours)

    @property
    def tools(self) -> list[Tool]:
        """The agent's tools, those without a handler marked."""
        tools = agent_named(self.agent).tools
        return [replace(tool, handled=tool.name not in self.unhandled) for tool in tools]


@cache
def cases() -> dict[str, Case]:
    """Every declared case, by name.

    Raises:
        BadFile: a case breaks the schema, or names a requirement, a framing or a control that does not exist.
    """
    return read(fixture("cases"))


def read(folder: Path) -> dict[str, Case]:
    """The cases in a folder's topics, checked against ``case.schema.json`` in the folder."""
    found: dict[str, Case] = {}
    ids = [requirement.id for requirement in catalogue()]
    paths = sorted(folder.glob("*/*.yaml"))
    for path in paths:
        if path.stem in found:
            raise BadFile(path, f"a case of the name {path.stem} already exists")
        case = found[path.stem] = _case(path, load(path, folder / "case.schema.json"))
        known = [tool.name for tool in agent_named(case.agent).tools]
        for tool in (*case.behaviours, *case.unhandled):
            if tool not in known:
                raise BadFile(path, f"the agent {case.agent} has no such tool: {unknown('tool', tool, known)}")
        for id in case.checks:
            if id not in ids:
                raise BadFile(path, unknown("requirement", id, ids))
    for path in paths:
        for expectations in found[path.stem].checks.values():
            if expectations.get("control", path.stem) not in found:
                raise BadFile(path, unknown("case", expectations["control"], list(found)))
    return found


def _case(path: Path, data: Mapping[str, Any]) -> Case:
    return Case(
        name=path.stem,
        why=data["why"],
        agent=data.get("agent", "assistant"),
        question=data.get("question", "Go."),
        limit=data.get("limit"),
        steps=tuple(_step(path, step) for step in data["script"]),
        behaviours={tool: _behaviours(does) for tool, does in data.get("tools", {}).items()},
        unhandled=tuple(data.get("unhandled", ())),
        checks=data["checks"],
        wires=tuple(data.get("wires", WIRES)),
        stateful=data.get("stateful", True),
    )


def _step(path: Path, step: Mapping[str, Any]) -> Step:
    framing = step.get("framing")
    if framing is not None and framing not in PRESETS:
        raise BadFile(path, unknown("framing", framing, list(PRESETS)))
    turn = Turn(tuple(_pieces(step)), step.get("stop"))
    return Step(turn, framing=PRESETS[framing] if framing else NATURAL, forgets=step.get("forgets"))


def _pieces(step: Mapping[str, Any]) -> Iterator[Piece]:
    """The pieces of a turn: those of the short form (text, refusal, calls), then those that are listed in order."""
    if step.get("text") is not None:
        yield Text(step["text"])
    if step.get("refusal") is not None:
        yield Refusal(step["refusal"])
    yield from (_call(call) for call in step.get("calls", ()))
    for piece in step.get("pieces", ()):
        ((kind, value),) = piece.items()
        yield _PIECES[kind](value)


def _call(call: Mapping[str, Any]) -> Call:
    raw = call.get("raw")
    text = raw if raw is not None else json.dumps(call.get("arguments", {}), ensure_ascii=False)
    return Call(call["tool"], text, call.get("id"), call.get("custom", False))


_PIECES: dict[str, Callable[[Any], Piece]] = {
    "text": lambda value: Text(value) if isinstance(value, str) else Text(**value),
    "refusal": Refusal,
    "call": _call,
    "thinking": Thinking,
    "redacted": lambda value: Thinking(value, redacted=True),
    "hosted": lambda value: Hosted(**value),
    "unknown": lambda value: Unknown(value or None),
}
"""The words for pieces in ``fixtures/cases/case.schema.json``."""


def _behaviours(does: Any) -> tuple[Behaviour, ...]:
    return tuple(_behaviour(one) for one in (does if isinstance(does, list) else [does]))


def _behaviour(does: Mapping[str, Any]) -> Behaviour:
    if "raises" in does:
        return Raises(does["raises"], does.get("type", "RuntimeError"))
    return Returns(does["returns"])
