"""Loops with one slip each, whose clients speak the revision of MCP without a handshake."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from meta.strangers.mcp.client import Failed
from meta.strangers.mcp.loops import Json
from meta.strangers.mcp.stateless import Stateless, Talker


class _Unable(Talker):
    def meta(self) -> Json:
        return {name: one for name, one in super().meta().items() if not name.endswith("clientCapabilities")}


class Unable(Stateless):
    """Leaves out its capabilities, since it has none."""

    client: Any = _Unable


class _HeaderAlone(Talker):
    def meta(self) -> Json:
        return {}


class HeaderAlone(Stateless):
    """Names the revision in the header, and has no metadata."""

    client: Any = _HeaderAlone


class _AtFirst(Talker):
    told = False

    def meta(self) -> Json:
        found, self.told = ({} if self.told else super().meta()), True
        return found


class MetadataAtFirst(Stateless):
    """Has its metadata in the first request alone, as if that were a handshake."""

    client: Any = _AtFirst


class _WithoutMethod(Talker):
    def headers(self, method: str, params: Json) -> dict[str, str]:
        return {name: one for name, one in super().headers(method, params).items() if name != "Mcp-Method"}


class WithoutMethod(Stateless):
    """Has no header for the method."""

    client: Any = _WithoutMethod


class _WithoutName(Talker):
    def headers(self, method: str, params: Json) -> dict[str, str]:
        return {name: one for name, one in super().headers(method, params).items() if name != "Mcp-Name"}


class WithoutName(Stateless):
    """Has no header for the tool's name."""

    client: Any = _WithoutName


class _WithoutRevision(Talker):
    def headers(self, method: str, params: Json) -> dict[str, str]:
        return {name: one for name, one in super().headers(method, params).items() if "Protocol" not in name}


class WithoutRevision(Stateless):
    """Has no header for the revision."""

    client: Any = _WithoutRevision


class _AsInAUrl(Talker):
    def header_text(self, value: Any) -> str:
        return quote(value, safe=" /") if isinstance(value, str) else super().header_text(value)


class AsInAUrl(Stateless):
    """Writes what is not ASCII as it is written in URLs."""

    client: Any = _AsInAUrl


class _Unmirrored(Talker):
    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        return {}


class Unmirrored(Stateless):
    """Does not know marked parameters."""

    client: Any = _Unmirrored


class _AsPython(Talker):
    def header_text(self, value: Any) -> str:
        return super().header_text(str(value))


class AsPython(Stateless):
    """Writes true as True."""

    client: Any = _AsPython


class _NullToo(Talker):
    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        absent = {f"Mcp-Param-{header}": "null" for header in self.marks.get(tool, {}).values()}
        return absent | super().mirrored(tool, arguments)


class NullToo(Stateless):
    """Has a header for a parameter that is absent."""

    client: Any = _NullToo


class _Outermost(Talker):
    def marked(self, schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[Any, Any]]]:
        return iter([one for one in super().marked(schema, path) if len(one[0]) == 1])


class Outermost(Stateless):
    """Looks for marks on the outermost parameters alone."""

    client: Any = _Outermost


class _Unquoted(Talker):
    def header_text(self, value: Any) -> str:
        found = super().header_text(value)
        return str(value) if isinstance(value, str) and value.startswith("=?base64?") else found


class LooksEncoded(Stateless):
    """Sends a text as it is if it looks encoded already."""

    client: Any = _Unquoted


class _BadMarks(Talker):
    def fits(self, tool: Json) -> bool:
        super().fits(tool)
        return True


class OffersBadlyMarked(Stateless):
    """Offers tools whose marks are illegal."""

    client: Any = _BadMarks


class _AllOrNothing(Talker):
    def fits(self, tool: Json) -> bool:
        if not super().fits(tool):
            raise Failed(f"the tool {tool['name']} has an illegal mark")
        return True


class AllOrNothing(Stateless):
    """Ends the run if one tool has an illegal mark."""

    client: Any = _AllOrNothing


class _FirstAnswer(Talker):
    def call(self, name: str, arguments: Json) -> Json:
        return {"content": [], **self.ask("tools/call", {"name": name, "arguments": arguments})}


class FirstAnswer(Stateless):
    """Reads each result as complete."""

    client: Any = _FirstAnswer


class _AnyType(Talker):
    def call(self, name: str, arguments: Json) -> Json:
        params: Json = {"name": name, "arguments": arguments}
        found = self.ask("tools/call", params)
        while found.get("resultType") == "input_required":
            found = self.ask("tools/call", self.again(name, arguments, found))
        return found


class AnyType(Stateless):
    """Reads results of unknown types as complete."""

    client: Any = _AnyType


class _Understands(Talker):
    def again(self, name: str, arguments: Json, found: Json) -> Json:
        state = json.dumps(json.loads(base64.b64decode(found["requestState"]))).encode()
        return super().again(name, arguments, found | {"requestState": base64.b64encode(state).decode()})


class ReadsTheState(Stateless):
    """Reads the server's state, and writes it anew."""

    client: Any = _Understands


class _Trims(Talker):
    def again(self, name: str, arguments: Json, found: Json) -> Json:
        return super().again(name, arguments, found | {"requestState": found["requestState"].strip()})


class TrimsTheState(Stateless):
    """Strips the server's state of blanks."""

    client: Any = _Trims


class _Stateful(Talker):
    def again(self, name: str, arguments: Json, found: Json) -> Json:
        return {"name": name, "arguments": arguments}


class ForgetsTheState(Stateless):
    """Makes a call again without the server's state."""

    client: Any = _Stateful


class _KeepsState(Talker):
    state: Json | None = None

    def again(self, name: str, arguments: Json, found: Json) -> Json:
        params = super().again(name, arguments, found)
        self.state = {"requestState": params["requestState"]}
        return params

    def ask(self, method: str, params: Json) -> Json:
        return super().ask(method, params | (self.state or {}) if method == "tools/call" else params)


class StateForAll(Stateless):
    """Sends the server's state with all later calls."""

    client: Any = _KeepsState


class _Onewords(Talker):
    def new_id(self) -> str:
        return "1"


class SameId(Stateless):
    """Has one id for all requests."""

    client: Any = _Onewords


class _WithoutArguments(Talker):
    def again(self, name: str, arguments: Json, found: Json) -> Json:
        return super().again(name, {}, found)


class AgainWithoutArguments(Stateless):
    """Leaves out the arguments of a call that it makes again."""

    client: Any = _WithoutArguments


class _Truthy(Talker):
    def pages(self) -> Iterator[Json]:
        asked: Json = {}
        while True:
            page = self.ask("tools/list", asked)
            yield page
            if not page.get("nextCursor"):
                return
            asked = {"cursor": page["nextCursor"]}


class EmptyCursorEnds(Stateless):
    """Takes an empty cursor for the end."""

    client: Any = _Truthy
