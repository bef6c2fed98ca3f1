"""The description of a program: how it is started, on which wires it asks, and one harmless tool that leaves a mark."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.wrongs import wrong
from looptck.catalogue.yaml_files import BadFile, faults, parse, pointer
from looptck.values.frozen import dataclass

SECONDS = 120.0
MEMORY = 4096
PROCESSES = 64
MERGED = ("env", "files", "tools")
"""The keys of which a description that is like another takes the entries that it does not have itself."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the program: its name, and arguments with places for what the kit fills in."""

    name: str
    arguments: Mapping[str, Any]

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Tool:
        return cls(message["name"], message["arguments"])

    def filled(self, places: Mapping[str, str]) -> dict[str, Any]:
        """The arguments with their places filled in."""
        made: dict[str, Any] = _filled(self.arguments, places)
        return made


@dataclass(frozen=True, slots=True)
class Description:
    """One program. Its fields are the keys of ``fixtures/program.schema.json``."""

    name: str
    version: str
    wires: Sequence[str]
    mark: Tool | None = None
    """None: it is given the kit's tools."""
    mcp: str | None = None
    """The name under which it offers a tool of the kit, with ``{name}`` for the tool's own; None: it is given none."""
    language: str = ""
    plain: bool = False
    once: Sequence[str] = ()
    acp: Sequence[str] = ()
    authenticate: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    keeps_home: bool = False
    fail: Tool | None = None
    final: Tool | None = None
    answer: re.Pattern[str] | None = None
    accepts: Sequence[str] = ()
    seconds: float = SECONDS
    memory: int = MEMORY
    processes: int = PROCESSES
    folder: Path = field(default_factory=Path.cwd)

    @classmethod
    def read(cls, path: Path) -> Description:
        """From a file.

        Raises:
            BadFile: it breaks the schema, lacks what every program needs, or is like a file that does; the message
                names the line.
        """
        return cls.of(_read(path, ()), path)

    @classmethod
    def of(cls, message: Mapping[str, Any], path: Path) -> Description:
        """From its content.

        Raises:
            BadFile: it breaks the schema, or lacks what every program needs.
        """
        _complain(path, message)
        if lacking := [key for key in ("name", "version", "wire") if key not in message]:
            raise BadFile(path, f"line 1: lacks {', '.join(lacking)}")
        if not message.keys() & {"tools", "mcp"}:
            raise BadFile(path, "line 1: lacks tools, one that it has anyway, or mcp, how it offers those of the kit")
        if not message.keys() & {"once", "acp"}:
            raise BadFile(
                path, "line 1: lacks once, the command of a process for each case, or acp, that of one for all"
            )
        if "mcp" in message and "once" in message and "acp" not in message and not _names_the_server(message):
            told = "nothing tells it of the server: no command, file or variable has {mcp_url}"
            raise BadFile(path, f"{_place(path, ['mcp'])}: {told}")
        tools = {} if "mcp" in message else message["tools"]
        for name, tool in tools.items():
            if not re.search(r"\{text\}", json.dumps(tool["arguments"])):
                raise BadFile(
                    path, f"{_place(path, ['tools', name])}: the arguments have no {{text}} to be marked with"
                )
        try:
            answer = re.compile(message["answer"], re.DOTALL) if "answer" in message else None
        except re.error as error:
            raise BadFile(path, f"{_place(path, ['answer'])}: is no regular expression: {error}") from error
        return cls(
            name=message["name"],
            version=message["version"],
            wires=(message["wire"],) if isinstance(message["wire"], str) else tuple(message["wire"]),
            mark=Tool.of(tools["mark"]) if "mark" in tools else None,
            mcp=message["mcp"]["name"] if "mcp" in message else None,
            language=message.get("language", ""),
            plain=message.get("plain", False),
            once=tuple(message.get("once", ())),
            acp=tuple(message.get("acp", ())),
            authenticate=message.get("authenticate"),
            env=message.get("env", {}),
            files=message.get("files", {}),
            keeps_home=message.get("home") == "kept",
            fail=Tool.of(tools["fail"]) if "fail" in tools else None,
            final=Tool.of(message["final"]) if "final" in message else None,
            answer=answer,
            accepts=tuple(message.get("accepts", ())),
            seconds=float(message.get("seconds", SECONDS)),
            memory=message.get("memory", MEMORY),
            processes=message.get("processes", PROCESSES),
            folder=path.resolve().parent,
        )


def _read(path: Path, before: tuple[Path, ...]) -> dict[str, Any]:
    """The content of a file, with what it takes from the files that it is like."""
    message = parse(path, given=True)
    if not isinstance(message, dict):
        raise BadFile(path, "line 1: is no mapping")
    _complain(path, message)
    if "like" not in message:
        return message
    other = path.parent / message.pop("like")
    if other in (*before, path):
        raise BadFile(path, f"{_place(path, ['like'])}: it is like itself")
    found = _read(other, (*before, path))
    merged = {key: {**found[key], **message[key]} for key in MERGED if key in found and key in message}
    return {**found, **message, **merged}


def _complain(path: Path, message: Mapping[str, Any]) -> None:
    errors = faults(path, message, _validator())
    found = [f"{_place(path, error.instance_path)}: {wrong(error, _schema())}" for error in errors]
    if found:
        raise BadFile(path, "; ".join(found[:3]))


def _names_the_server(message: Mapping[str, Any]) -> bool:
    """Whether anything that a program is given has the address of the kit's tools."""
    texts = [*message.get("once", ()), *message.get("env", {}).values(), *message.get("files", {}).values()]
    return any("{mcp_url}" in text for text in texts)


def _place(path: Path, place: Sequence[Any]) -> str:
    """Where a value is in a file: its line and its pointer."""
    if not path.is_file():
        return pointer([*place])
    from looptck.catalogue.yaml_text import line_of  # which a right description does not need

    return f"line {line_of(path, place)}, {pointer([*place])}"


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(_schema())


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = json_fixture("program.schema.json")
    return schema


_PLACES = re.compile(r"\{([a-z_]+)\}")


def filled(text: str, places: Mapping[str, str]) -> str:
    """A text with its places filled in; a brace that is no place stays as it is, as in JSON."""
    return _PLACES.sub(lambda found: places.get(found[1], found[0]), text)


def _filled(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return filled(value, places)
    if isinstance(value, dict):
        return {key: _filled(inner, places) for key, inner in value.items()}
    return [_filled(inner, places) for inner in value] if isinstance(value, list) else value
