"""What requests of all three APIs may say about the loop, beside the API's own members."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Permission
from looptck_reference.values import Json

__all__ = ["AgenticBody", "ToolChoice", "Tools", "named_function", "text_of", "without"]

SessionId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")]
FILES = 'Ids, `{"id"}`, `{"name", "text"}`, `{"name", "data_base64"}`, or `{"name"}` of one that a tool shall write.'
ToolChoice = str | dict[str, Any] | None


class AgenticBody(BaseModel):
    """The members that all requests share; what else a request has goes to the model, if its API has a word for it."""

    model_config = ConfigDict(extra="allow", strict=True)

    model: str = Field(min_length=1, max_length=256)
    stream: bool | None = None
    max_tool_rounds: int | None = Field(None, ge=0, le=10_000, description="Rounds in which tools may run.")
    session_id: SessionId | None = Field(None, description="The session to go on with, or the name of a new one.")
    web_search_options: dict[str, Any] | None = Field(None, description="Asks for web search.")
    enable_code_execution: bool | None = Field(None, description="Asks for code execution.")
    files: list[str | dict[str, Any]] | None = Field(None, max_length=64, description=FILES)
    agent_permission: Literal["auto", "ask", "deny"] | None = None

    def agentic(self) -> Json:
        """These members in the words of `RunRequest`."""
        return {
            "model": self.model,
            "stream": bool(self.stream),
            "max_tool_rounds": self.max_tool_rounds,
            "session_id": self.session_id,
            "wants_search": self.web_search_options is not None,
            "enables_code": bool(self.enable_code_execution),
            "files": tuple(self.files or ()),
            "permission": Permission(self.agent_permission or "auto"),
        }

    def beside(self) -> Json:
        """The members that no field has."""
        return dict(self.model_extra or {})


class Tools:
    """The tools of a request: functions in the form of Chat Completions, and words for built-in ones."""

    def __init__(self) -> None:
        self.functions: list[Json] = []
        self.search = False
        self.code = False

    def add(self, tool: Json, place: int) -> None:
        """Take a tool that is no function.

        Raises:
            Refused: nobody here knows its type.
        """
        kind = str(tool.get("type", ""))
        if kind.startswith("web_search"):
            self.search = True
        elif kind.startswith(("code_interpreter", "code_execution")):
            self.code = True
        else:
            where = f"tools[{place}].type"
            raise Refused(422, f"{where}: no tool of type {kind!r:.100} is known here", param=where)


def named_function(tool: Json, place: int, where: str, **members: Any) -> Json:
    """A function in the form of Chat Completions, without the members that are None.

    Raises:
        Refused: it has no name.
    """
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        path = f"tools[{place}].{where}name"
        raise Refused(422, f"{path} is no name", param=path)
    function = {"name": name, **{key: value for key, value in members.items() if value is not None}}
    return {"type": "function", "function": function}


def text_of(item: Json, name: str, where: str) -> str:
    """The text under this name.

    Raises:
        Refused: there is none.
    """
    text = item.get(name)
    if not isinstance(text, str):
        raise Refused(422, f"{where}.{name} is no text", param=f"{where}.{name}")
    return text


def without(members: Json, *names: str) -> Json:
    """The members without these."""
    return {name: value for name, value in members.items() if name not in names}
