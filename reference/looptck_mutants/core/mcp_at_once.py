"""Clients of MCP servers, in the revision without a handshake, that leave out what a request has to say for itself."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

from looptck_mutants.parts import breaks
from looptck_reference.mcp import McpClient
from looptck_reference.mcp.metadata import Metadata
from looptck_reference.vocabulary.values import Json

# -- what a request says ----------------------------------------------------------------------------------------------


@breaks("mcp-requests-describe-themselves")
class CapabilitiesUnsaid(Metadata):
    """Leaves out its capabilities, since it has none."""

    def fields(self) -> Json:
        return {name: one for name, one in super().fields().items() if not name.endswith("clientCapabilities")}


@breaks("mcp-requests-describe-themselves")
class DescribedOnce(Metadata):
    """Describes itself in its first request alone."""

    described = False

    def fields(self) -> Json:
        found, self.described = ({} if self.described else super().fields()), True
        return found


@breaks("mcp-headers-mirror-the-request")
class NoHeaderForTheMethod(Metadata):
    """Has no header for the method."""

    def headers(self, method: str, params: Json) -> dict[str, str]:
        return {name: text for name, text in super().headers(method, params).items() if name != "mcp-method"}


@breaks(
    "mcp-headers-mirror-the-request",
    collateral={"mcp-marked-parameters-are-mirrored": "a parameter is written as names are"},
)
class QuotedAsInAUrl(Metadata):
    """Writes what is not ASCII as it would be in a URL."""

    def text(self, value: str | int) -> str:
        return quote(value, safe=" /") if isinstance(value, str) else super().text(value)


@breaks("mcp-marked-parameters-are-mirrored")
class MarksUnread(Metadata):
    """Does not know marked parameters."""

    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        return {}


@breaks("mcp-marked-parameters-are-mirrored")
class AbsentIsNull(Metadata):
    """Writes null for a parameter that has no value."""

    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        values = {mark.header: mark.value(arguments) for mark in self.marks.get(tool, ())}
        return {f"mcp-param-{header}": "null" if one is None else self.text(one) for header, one in values.items()}


@breaks("mcp-marked-parameters-are-mirrored")
class TruthAsInPython(Metadata):
    """Writes true as Python does."""

    def text(self, value: str | int) -> str:
        return super().text(str(value))


@breaks("mcp-badly-marked-tools-are-left-out")
class AnyMark(Metadata):
    """Offers tools whatever their marks are."""

    def accepts(self, listed: Json) -> bool:
        super().accepts(listed)
        return True


@breaks("mcp-empty-cursor-is-a-cursor")
class EmptyCursorEnds(McpClient):
    """Takes an empty cursor for the end."""

    def goes_on(self, page: Json) -> bool:
        return bool(page.get("nextCursor"))


# -- what becomes of a result -----------------------------------------------------------------------------------------


@breaks("mcp-interim-results-are-no-answers")
class InterimIsComplete(McpClient):
    """Reads an interim result as complete."""

    def type_of(self, result: Json) -> str:
        type = super().type_of(result)
        result.setdefault("content", [])
        return "complete" if type == "input_required" else type


@breaks("mcp-unknown-results-are-invalid")
class AnyTypeIsComplete(McpClient):
    """Reads results of all types that it does not know as complete."""

    def type_of(self, result: Json) -> str:
        type = super().type_of(result)
        return type if type == "input_required" else "complete"


@breaks("mcp-request-state-comes-back")
class StateReadAndWritten(McpClient):
    """Reads the state of the server where it can, and writes it again."""

    def again(self, params: Json, interim: Json) -> Json:
        return super().again(params, interim | {"requestState": _written_again(interim["requestState"])})


def _written_again(state: str) -> Any:
    try:
        return base64.b64encode(json.dumps(json.loads(base64.b64decode(state, validate=True))).encode()).decode()
    except ValueError:
        return state


@breaks("mcp-request-state-comes-back", "mcp-request-ids-are-used-once")
class OneIdForAll(McpClient):
    """Has one id for all requests."""

    def new_id(self) -> int:
        return 1


@breaks("mcp-request-state-comes-back")
class StateKeptForOthers(McpClient):
    """Sends the state of a server with all calls that come after it."""

    state: Json = {}  # noqa: RUF012  one client for each run

    def again(self, params: Json, interim: Json) -> Json:
        self.state = {"requestState": interim["requestState"]}
        return super().again(params, interim)

    def completed(self, params: Json) -> Json:
        return super().completed(params | self.state)
