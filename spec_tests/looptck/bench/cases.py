"""Declared cases: scenarios as data, in ``fixtures/cases/TOPIC/NAME.yaml``. Adding one needs no code."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from looptck.bench.scenario import Scenario
from looptck.bench.standing import REFUSED
from looptck.catalogue.agents import Tool
from looptck.catalogue.agents import agent as agent_named
from looptck.catalogue.data import fixture
from looptck.catalogue.requirements import catalogue, unknown
from looptck.catalogue.yaml_files import BadFile, load
from looptck.provider.script import Step
from looptck.provider.toolbox import Behaviour, Raises, Returns
from looptck.values.cell import Cell
from looptck.values.framing import DEFAULT, PRESETS
from looptck.values.frozen import dataclass
from looptck.values.turns import Call, Hosted, Piece, Refusal, Served, Text, Thinking, Turn, Unknown
from looptck.wires import WIRES


@dataclass(frozen=True, slots=True)
class Record:
    """How a case is recorded from a real server: the members of the requests in addition to prompt and tools."""

    tool_choice: str | None = None
    """``required``, ``none`` or the name of a tool, in the first request; None: the model chooses."""
    stop: str | None = None
    """A stop sequence. A turn without calls ends where the model writes it."""


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
    """The wires that the case was written for."""
    stateful: bool
    record: Record | None
    """None: the case is not recorded."""
    fingerprint: str
    """The SHA-256 of everything a recording depends on: agent, question, script, tools and ``record``."""

    def fits(self, cell: Cell) -> bool:
        """Whether the cell's wire can express every turn and every framing of the case."""
        wire = WIRES[cell.wire]
        return cell.wire in self.wires and all(
            step.turn is None or (wire.can_say(step.turn, stream=cell.stream) and wire.carries_out(step.framing))
            for step in self.steps
        )

    def set(self, scenario: Scenario) -> None:
        """Set up a scenario with this case."""
        scenario.plays(*self.steps)
        scenario.stateful = self.stateful
        for tool, behaviours in self.behaviours.items():
            scenario.does(tool, *behaviours)

    @property
    def tools(self) -> list[Tool]:
        """The agent's tools, with those without a handler marked."""
        tools = agent_named(self.agent).tools
        return [replace(tool, handled=tool.name not in self.unhandled) for tool in tools]


class Declared(Mapping[str, Case]):
    """The cases in a folder's topics, by name; each is read when it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._schema = folder / "case.schema.json"
        self._paths = {path.stem: path for path in sorted(folder.glob("*/*.yaml"))}
        self._read: dict[str, Case] = {}

    def __getitem__(self, name: str) -> Case:
        """The case of this name, which KeyError says is not there. Raises BadFile if it breaks the schema."""
        if name not in self._read:
            path = self._paths[name]
            self._read[name] = _case(path, load(path, self._schema))
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths

    def checking(self, ids: Container[str]) -> Iterator[Case]:
        """The cases that some of these requirements are judged on; no other is read."""
        for name, path in self._paths.items():
            if REFUSED in ids or any(id in ids for id in _KEY.findall(path.read_text(encoding="utf-8"))):
                case = self[name]
                if any(id in ids for id in case.checks):
                    yield case


_KEY = re.compile(r"^ +([a-z][a-z0-9-]*):", re.MULTILINE)
"""An indented key of a YAML file, as the id of each requirement in a case is one."""


@cache
def cases() -> Declared:
    """Every declared case, by name."""
    return Declared(fixture("cases"))


def read(folder: Path) -> dict[str, Case]:
    """All cases in a folder's topics, checked against ``case.schema.json`` in the folder and against each other.

    Raises:
        BadFile: a case breaks the schema, or names a requirement, a framing, a control or a tool that does not exist,
            or has the question of another case that is recorded.
    """
    found: dict[str, Case] = {}
    recorded: list[Case] = []
    ids = [requirement.id for requirement in catalogue()]
    paths = sorted(folder.glob("*/*.yaml"))
    for path in paths:
        if path.stem in found:
            raise BadFile(path, f"a case with the name {path.stem} already exists")
        case = found[path.stem] = _case(path, load(path, folder / "case.schema.json"))
        known = [tool.name for tool in agent_named(case.agent).tools]
        for tool in (*case.behaviours, *case.unhandled):
            if tool not in known:
                raise BadFile(path, f"the agent {case.agent} has no such tool: {unknown('tool', tool, known)}")
        for id in case.checks:
            if id not in ids:
                raise BadFile(path, unknown("requirement", id, ids))
        if case.record is not None:
            _recordable(path, case, case.record, recorded)
            recorded.append(case)
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
        steps=tuple(step_of(path, step) for step in data["script"]),
        behaviours={tool: _behaviours(does) for tool, does in data.get("tools", {}).items()},
        unhandled=tuple(data.get("unhandled", ())),
        checks=_checks(data),
        wires=tuple(data.get("wires", WIRES)),
        stateful=data.get("stateful", True),
        record=Record(**data["record"]) if "record" in data else None,
        fingerprint=_fingerprint(data),
    )


def _checks(data: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The checks of a case; unless it is ``refusable``, also the check that no request is refused."""
    return data["checks"] if "refusable" in data else {**data["checks"], REFUSED: {"accepted": True}}


def _fingerprint(data: Mapping[str, Any]) -> str:
    actor = agent_named(data.get("agent", "assistant"))
    offered = [(tool.name, tool.description, tool.parameters) for tool in actor.tools]
    shared = {key: data[key] for key in ("question", "script", "tools", "record") if key in data}
    text = json.dumps({"agent": [actor.template, offered], **shared}, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _recordable(path: Path, case: Case, record: Record, others: Iterable[Case]) -> None:
    """Raises BadFile if recordings could be mistaken for another case's, or a server cannot follow the script."""
    if twin := next((other for other in others if other.question == case.question), None):
        raise BadFile(
            path, f"/question: the case {twin.name} has the same question, which must identify the recordings"
        )
    choices = ["required", "none", *(tool.name for tool in case.tools)]
    if record.tool_choice is not None and record.tool_choice not in choices:
        raise BadFile(path, f"/record/tool_choice: {unknown('tool choice', record.tool_choice, choices)}")
    if record.stop is None and any(step.turn and step.turn.stop == "stop_sequence" for step in case.steps):
        raise BadFile(path, "/record: needs the stop sequence (stop) at which a turn of the script ends")


def step_of(path: Path, step: Mapping[str, Any]) -> Step:
    """The step that is written in a file. Raises BadFile if it names a framing that there is not."""
    framing = step.get("framing")
    if framing is not None and framing not in PRESETS:
        raise BadFile(path, unknown("framing", framing, list(PRESETS)))
    turn = Turn(tuple(_pieces(step)), step.get("stop"), step.get("container"))
    return Step(turn, framing=PRESETS[framing] if framing else DEFAULT, forgets=step.get("forgets"))


def _pieces(step: Mapping[str, Any]) -> Iterator[Piece]:
    """The pieces of a turn: those of the short form (text, refusal, calls), then those listed in ``pieces``."""
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
    "served": lambda value: Served(json.dumps(value, ensure_ascii=False)),
}
"""The keys of ``pieces`` in ``fixtures/cases/case.schema.json``."""


def _behaviours(does: Any) -> tuple[Behaviour, ...]:
    return tuple(_behaviour(one) for one in (does if isinstance(does, list) else [does]))


def _behaviour(does: Mapping[str, Any]) -> Behaviour:
    if "raises" in does:
        return Raises(does["raises"], does.get("type", "RuntimeError"))
    return Returns(does["returns"])
