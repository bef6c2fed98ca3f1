"""The members about the loop that requests of all three APIs may have, in addition to the API's own members."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from looptck_reference.server.errors import Refused
from looptck_reference.server.values import Permission
from looptck_reference.vocabulary.values import Json

__all__ = ["MOST_MESSAGES", "AgenticBody", "ToolChoice", "Tools", "named_function", "text_of", "without"]

SessionId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[\x21-\x7e]+$")]
FILES = 'Ids, `{"id"}`, `{"name", "text"}`, `{"name", "data_base64"}`, or `{"name"}` of a file that a tool will write.'
MOST_MESSAGES = 20_000
"""The most entries of a history. Each costs many times its bytes, and while they are read no other client is served."""
ToolChoice = str | dict[str, Any] | None


class AgenticBody(BaseModel):
    """The members that all requests share; other members go to the model, if its API has them."""

    model_config = ConfigDict(extra="allow", strict=True)

    model: str = Field(min_length=1, max_length=256)
    stream: bool | None = None
    max_tool_rounds: int | None = Field(None, ge=0, le=10_000, description="Rounds in which tools may run.")
    session_id: SessionId | None = Field(None, description="The session to continue, or the id of a new one.")
    web_search_options: dict[str, Any] | None = Field(None, description="Asks for web search.")
    enable_code_execution: bool | None = Field(None, description="Asks for code execution.")
    files: list[str | dict[str, Any]] | None = Field(None, max_length=64, description=FILES)
    agent_permission: Literal["auto", "ask", "deny"] | None = None

    def agentic(self) -> Json:
        """These members as fields of `RunRequest`."""
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
        """The members without a field."""
        return dict(self.model_extra or {})


class Tools:
    """The tools of a request: functions in the form of Chat Completions, and flags for built-in tools."""

    def __init__(self) -> None:
        self.functions: list[Json] = []
        self.search = False
        self.code = False

    def add(self, tool: Json, place: int) -> None:
        """Take a tool that is no function.

        Raises:
            Refused: its type is unknown.
        """
        kind = str(tool.get("type", ""))
        if kind.startswith("web_search"):
            self.search = True
        elif kind.startswith(("code_interpreter", "code_execution")):
            self.code = True
        else:
            where = f"tools[{place}].type"
            raise Refused(422, f"{where}: the tool type {kind!r:.100} is unknown", param=where)


def named_function(tool: Json, place: int, where: str, **members: Any) -> Json:
    """A function in the form of Chat Completions, without the members that are None.

    Raises:
        Refused: it has no name.
    """
    name = tool.get("name")
    if not isinstance(name, str) or not name:
        path = f"tools[{place}].{where}name"
        raise Refused(422, f"{path} is not a name", param=path)
    function = {"name": name, **{key: value for key, value in members.items() if value is not None}}
    return {"type": "function", "function": function}


def text_of(item: Json, name: str, where: str) -> str:
    """The string under this name.

    Raises:
        Refused: there is none.
    """
    text = item.get(name)
    if not isinstance(text, str):
        raise Refused(422, f"{where}.{name} is not a string", param=f"{where}.{name}")
    return text


def without(members: Json, *names: str) -> Json:
    """The members except for these."""
    return {name: value for name, value in members.items() if name not in names}
