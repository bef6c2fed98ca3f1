"""The OpenAPI document's models of what the server sends; nothing is checked against them at run time."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from looptck_reference.values import Json

__all__ = [
    "APPROVALS",
    "CHAT_RESPONSES",
    "ERRORS",
    "EVENTS",
    "MESSAGES_RESPONSES",
    "RESPONSES_RESPONSES",
    "FileBody",
    "FileList",
    "Health",
    "ModelList",
    "Resolved",
    "SessionBody",
]


class Open(BaseModel):
    """An object that may have more members."""

    model_config = ConfigDict(extra="allow")


class OpenAIError(BaseModel):
    """An error of the OpenAI APIs; `param` is the member of the request that is to blame."""

    class Detail(BaseModel):
        """What went wrong."""

        message: str
        type: str
        param: str | None
        code: str | None

    error: Detail


class AnthropicError(BaseModel):
    """An error of the Messages API."""

    class Detail(BaseModel):
        """What went wrong."""

        type: str
        message: str
        param: str | None = None

    type: Literal["error"]
    error: Detail


class Source(BaseModel):
    """Where a produced file comes from."""

    tool: str
    round: int = Field(ge=0)
    turn: int = Field(ge=0)


class FileBody(Open):
    """A file; its content is text, base64, or left out with a code and a message."""

    id: str
    name: str
    bytes: int = Field(ge=0)
    created_at: int
    purpose: str
    format: str | None = None
    mime_type: str | None = None
    source: Source | None = None
    text: str | None = None
    data_base64: str | None = None
    code: str | None = None


class ToolCallEntry(BaseModel):
    """An executed call in a plain response."""

    round: int = Field(ge=0)
    name: str
    arguments: str
    result_content: str
    file_ids: list[str] | None = None


class AgenticToolCallProgress(BaseModel):
    """The event around an execution."""

    class Data(Open):
        """What `calling` and `complete` tell of it."""

        tool_type: Literal["custom", "web_search", "code_execution"]

    type: Literal["agentic_tool_call_progress"]
    round: int = Field(ge=0)
    tool_name: str
    phase: Literal["calling", "complete"]
    data: Data


class FileProducedEvent(FileBody):
    """The event of a file, between the two of the call that made it."""

    source: Source


class ApprovalRequiredEvent(BaseModel):
    """The event of a run that waits."""

    class Tool(BaseModel):
        """What wants to run."""

        source: Literal["built_in", "user", "external"]
        kind: Literal["code_execution", "web_search", "custom", "external"]
        label: str

    type: Literal["agentic_tool_approval_required"]
    approval_id: str = Field(pattern=r"^appr_[0-9a-f]{32}$")
    session_id: str | None
    round: int = Field(ge=0)
    tool: Tool
    arguments: Any


class WarningEvent(BaseModel):
    """The event of something that was left out."""

    type: Literal["agentic_warning"]
    round: int = Field(ge=0)
    message: str
    tool_calls: list[dict[str, str]]


class AgenticMembers(Open):
    """What a plain response has beside the API's own members, if the loop was entered."""

    session_id: str | None = None
    agentic_tool_calls: list[ToolCallEntry] | None = None
    files: list[FileBody] | None = None
    agentic_warnings: list[WarningEvent] | None = None


class ChatCompletion(AgenticMembers):
    """The plain response of `/v1/chat/completions`."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any] | None = None


class MessageResponse(AgenticMembers):
    """The plain response of `/v1/messages`."""

    id: str
    type: Literal["message"]
    role: Literal["assistant"]
    model: str
    content: list[dict[str, Any]]
    stop_reason: str
    stop_sequence: str | None
    usage: dict[str, int]


class ResponseBody(AgenticMembers):
    """The plain response of `/v1/responses`."""

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "incomplete"]
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None


class SessionBody(Open):
    """A session; the form of its messages is the dialect's."""

    messages: list[dict[str, Any]]


class Resolved(BaseModel):
    """What became of a decision."""

    status: Literal["resolved", "not_found"]


class FileList(BaseModel):
    """Files without their contents."""

    object: Literal["list"]
    data: list[dict[str, Any]]


class ModelList(BaseModel):
    """Models."""

    object: Literal["list"]
    data: list[dict[str, Any]]


class Health(BaseModel):
    """How the server is, and how much it holds."""

    status: Literal["ok"]
    runs: int
    sessions: int
    files: int
    approvals: int


EVENTS: dict[str, type[BaseModel]] = {
    "agentic_tool_call_progress": AgenticToolCallProgress,
    "file_produced": FileProducedEvent,
    "agentic_tool_approval_required": ApprovalRequiredEvent,
    "agentic_warning": WarningEvent,
}
"""The named events, by name; a stream has them between those of its API."""


def _errors(model: type[BaseModel]) -> dict[int | str, Json]:
    reasons = {
        400: "No JSON, or no session.",
        404: "There is no such thing, or it is another client's.",
        413: "Too large.",
        422: "A member of the request is wrong; the error names it.",
        503: "Too many runs go on.",
    }
    return {status: {"model": model, "description": reason} for status, reason in reasons.items()}


def _run(model: type[BaseModel], error: type[BaseModel]) -> dict[int | str, Json]:
    """A response that is JSON or, with `stream`, events."""
    events = {"$ref": "#/components/schemas/AgenticEvent"}
    description = "The answer; with `stream`, the API's own events with the agentic ones between them."
    content = {"text/event-stream": {"schema": events}}
    whole: dict[int | str, Json] = {200: {"model": model, "description": description, "content": content}}
    return {**whole, **_errors(error), 502: {"model": error, "description": "The model cannot be asked."}}


ERRORS = _errors(OpenAIError)
APPROVALS: dict[int | str, Json] = {404: {"model": Resolved, "description": "No run waits for this decision."}}
CHAT_RESPONSES = _run(ChatCompletion, OpenAIError)
MESSAGES_RESPONSES = _run(MessageResponse, AnthropicError)
RESPONSES_RESPONSES = _run(ResponseBody, OpenAIError)
