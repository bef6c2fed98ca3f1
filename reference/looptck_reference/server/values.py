"""The neutral words of the server's loop: what a client asked for, what tools did, and what the client gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from looptck_reference.errors import BadArguments
from looptck_reference.tools import parse_arguments
from looptck_reference.values import Json, Stop, ToolCall

__all__ = [
    "Answer",
    "Called",
    "InputFile",
    "Message",
    "Permission",
    "Produced",
    "Record",
    "RequestFiles",
    "Result",
    "RunRequest",
    "ToolPath",
    "arguments_of",
]


class Permission(StrEnum):
    """Whether tools may run: at once, after the client was asked, or never."""

    AUTO = "auto"
    ASK = "ask"
    DENY = "deny"

    def and_also(self, other: Permission) -> Permission:
        """The stricter of two."""
        order = list(Permission)
        return max(self, other, key=order.index)


class ToolPath(StrEnum):
    """Who executes a call; the values are the words of `tool.kind` in approvals."""

    WEB_SEARCH = "web_search"
    CODE = "code_execution"
    CALLBACK = "custom"
    DISPATCH = "external"

    @property
    def tool_type(self) -> str:
        """The word of progress events, which know callbacks and dispatched tools as one kind."""
        return self.value if self in {ToolPath.WEB_SEARCH, ToolPath.CODE} else "custom"


def arguments_of(call: ToolCall) -> Json | str:
    """The arguments, or the model's text where that is no JSON object."""
    try:
        return parse_arguments(call.arguments)
    except BadArguments:
        return call.arguments


@dataclass(frozen=True, slots=True)
class Called:
    """A call on its way to be run; `path` is None where nobody runs tools of its name."""

    call: ToolCall
    path: ToolPath | None

    @property
    def arguments(self) -> Json | str:
        """Parsed, or the model's text where that is no JSON object."""
        return arguments_of(self.call)

    @property
    def tool_type(self) -> str:
        """What kind of data its progress events carry."""
        return "custom" if self.path is None else self.path.tool_type


@dataclass(frozen=True, slots=True)
class Produced:
    """A file that a tool has made."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a call.

    content: what the model reads.
    data: what progress events tell beside the input, in the words of the tool's type.
    summary: `result_content` of the plain response; the content where it is None.
    """

    content: str
    data: Mapping[str, Any] = field(default_factory=dict)
    summary: str | None = None
    produced: tuple[Produced, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a history in the form of Chat Completions; `hidden` from the client, who has never seen it."""

    body: Json
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that the client puts into the working directory; `id` is that of an uploaded one."""

    name: str
    data: bytes
    id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestFiles:
    """The member `files` of a request: contents for a tool to read, and names of files that one shall write."""

    inputs: tuple[InputFile, ...] = ()
    declared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a client asked for, whichever API it used.

    messages, tools, tool_choice and options are in the form of Chat Completions. `wants_search` and `wants_code` ask
    for a built-in tool in the words of today's server, `enables_code` is the document's `enable_code_execution`.
    `owner` stands for the client: sessions, files and approvals of one owner do not exist for another. `headers` go on
    to the model and to the dispatch URL.
    """

    model: str
    messages: tuple[Json, ...]
    tools: tuple[Json, ...] = ()
    tool_choice: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False
    max_tool_rounds: int | None = None
    session_id: str | None = None
    wants_search: bool = False
    wants_code: bool = False
    enables_code: bool = False
    files: tuple[Json | str, ...] = ()
    permission: Permission = Permission.AUTO
    owner: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """An executed call, as the plain response tells it; `number` is its place in the round."""

    round: int
    number: int
    called: Called
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a run. `calls` were not run; they are the client's now. `capped`: the rounds were used up."""

    run_id: str
    model: str
    created: int
    text: str
    stop: Stop
    calls: tuple[ToolCall, ...] = ()
    usage: Json | None = None
    session_id: str | None = None
    tool_calls: tuple[Json, ...] | None = None
    """`agentic_tool_calls`; None on the client-side path."""
    files: tuple[Json, ...] = ()
    warnings: tuple[Json, ...] = ()
    capped: bool = False
