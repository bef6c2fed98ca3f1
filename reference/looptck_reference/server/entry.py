"""Entry conditions: whether a request enters the loop, and which tools the model is offered then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.errors import Refused
from looptck_reference.server.values import RunRequest, ToolPath
from looptck_reference.vocabulary.values import Json

__all__ = ["CODE_TOOL", "SEARCH_TOOL", "Offer", "Surface", "enter", "tool_name"]

SEARCH_TOOL = "mistralrs_search_the_web"
CODE_TOOL = "mistralrs_execute_python"

SEARCH_SCHEMA: Json = {
    "type": "function",
    "function": {
        "name": SEARCH_TOOL,
        "description": "Search the web.",
        "parameters": {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "What to look for."}},
            "required": ["query"],
        },
    },
}
CODE_SCHEMA: Json = {
    "type": "function",
    "function": {
        "name": CODE_TOOL,
        "description": "Run a Python program in a directory of its own and return what it prints.",
        "parameters": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "The program."},
                "outputs": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Files of the working directory to hand to the user.",
                },
            },
            "required": ["code"],
        },
    },
}


@dataclass(frozen=True, slots=True)
class Surface:
    """The tools that a server can run. `callbacks` are the schemas of the registered tools, by name."""

    search: bool = False
    code: bool = False
    callbacks: Mapping[str, Json] = field(default_factory=dict)
    dispatch: bool = False
    max_tool_rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The result for one request: whether the loop is entered, the schemas of all tools, and who runs which tool."""

    entered: bool
    tools: tuple[Json, ...]
    built_in: Mapping[str, ToolPath] = field(default_factory=dict)
    dispatch: bool = False

    def reaches(self, path: ToolPath, name: str) -> bool:
        """Whether a tool of this name can be run on this path; a tool that was not offered does not run."""
        if path is not ToolPath.DISPATCH:
            return self.built_in.get(name) is path
        return self.dispatch and any(tool_name(tool) == name for tool in self.tools)


def tool_name(schema: Json) -> str:
    """The name in a tool's schema."""
    name: str = schema["function"]["name"]
    return name


def enter(request: RunRequest, surface: Surface, dialect: ServerDialect) -> Offer:
    """Decide whether a request enters the loop, and with which tools.

    Raises:
        Refused: a tool of the request has the name of a server's tool, or the request has files and no tool for them.
    """
    today = dialect.entry == "today"
    cap = surface.max_tool_rounds if request.max_tool_rounds is None else request.max_tool_rounds
    if cap == 0 and dialect.zero_rounds == "bypass":
        return _without_loop(request)
    search = surface.search and (request.wants_search or not today)
    code = surface.code and (request.wants_code or (request.enables_code and not today))
    asked = today and (cap is not None or request.wants_search)
    if not (search or code or surface.callbacks or surface.dispatch or asked):
        return _without_loop(request)
    if request.files and not code:
        raise Refused(422, "files need code execution, which is not enabled for this request", param="files")
    built_in: dict[str, ToolPath] = dict.fromkeys(surface.callbacks, ToolPath.CALLBACK)
    schemas = list(surface.callbacks.values())
    if search:
        built_in[SEARCH_TOOL] = ToolPath.WEB_SEARCH
        schemas.append(SEARCH_SCHEMA)
    if code:
        built_in[CODE_TOOL] = ToolPath.CODE
        schemas.append(CODE_SCHEMA)
    for place, tool in enumerate(request.tools):
        if tool_name(tool) in built_in:
            message = f"Tool '{tool_name(tool)}' conflicts with a registered internal tool; give it another name"
            raise Refused(422, message, param=f"tools[{place}].function.name")
    return Offer(True, (*request.tools, *schemas), built_in, surface.dispatch)


def _without_loop(request: RunRequest) -> Offer:
    """The client-side path: only the request's own tools are offered, and the client runs all calls."""
    if request.files:
        raise Refused(422, "files need a tool that the server runs, and this request has none", param="files")
    return Offer(False, request.tools)
