"""The neutral values of the server's loop: a client's request, tool results, and the client's answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from looptck_reference.vocabulary.errors import BadArguments
from looptck_reference.vocabulary.tools import parse_arguments
from looptck_reference.vocabulary.values import Json, Stop, ToolCall

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
    """Whether tools may run: at once, after the client has approved, or never."""

    AUTO = "auto"
    ASK = "ask"
    DENY = "deny"

    def and_also(self, other: Permission) -> Permission:
        """The stricter of two."""
        order = list(Permission)
        return max(self, other, key=order.index)


class ToolPath(StrEnum):
    """The executor of a call; the values are those of `tool.kind` in approvals."""

    WEB_SEARCH = "web_search"
    CODE = "code_execution"
    CALLBACK = "custom"
    DISPATCH = "external"

    @property
    def tool_type(self) -> str:
        """The type in progress events, which treat callbacks and dispatched tools as one type."""
        return self.value if self in {ToolPath.WEB_SEARCH, ToolPath.CODE} else "custom"


def arguments_of(call: ToolCall) -> Json | str:
    """The parsed arguments, or the model's text if it is not a JSON object."""
    try:
        return parse_arguments(call.arguments)
    except BadArguments:
        return call.arguments


@dataclass(frozen=True, slots=True)
class Called:
    """A call to be run; `path` is None if no executor has tools of its name."""

    call: ToolCall
    path: ToolPath | None

    @property
    def arguments(self) -> Json | str:
        """The parsed arguments, or the model's text if it is not a JSON object."""
        return arguments_of(self.call)

    @property
    def tool_type(self) -> str:
        """The type that selects the data of its progress events."""
        return "custom" if self.path is None else self.path.tool_type


@dataclass(frozen=True, slots=True)
class Produced:
    """A file that a tool has made."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call.

    content: what the model reads.
    data: the members of progress events besides the input, which depend on the tool's type.
    summary: `result_content` of the plain response; None means the content.
    """

    content: str
    data: Mapping[str, Any] = field(default_factory=dict)
    summary: str | None = None
    produced: tuple[Produced, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a history in the form of Chat Completions; `hidden` messages were never sent to the client."""

    body: Json
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that the client puts into the working directory; `id` is that of an uploaded file."""

    name: str
    data: bytes
    id: str | None = None


@dataclass(frozen=True, slots=True)
class RequestFiles:
    """The member `files` of a request: input files, and names of files that a tool will write."""

    inputs: tuple[InputFile, ...] = ()
    declared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """A client's request, in any API.

    messages, tools, tool_choice and options are in the form of Chat Completions. `wants_search` and `wants_code` ask
    for a built-in tool in the form of today's server, `enables_code` is the document's `enable_code_execution`. `owner`
    identifies the client: sessions, files and approvals of one owner do not exist for another. `headers` are passed on
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
    """An executed call, as the plain response reports it; `number` is its place in the round."""

    round: int
    number: int
    called: Called
    result: Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The end of a run. `calls` did not run; they are left to the client. `capped`: the rounds were used up."""

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
