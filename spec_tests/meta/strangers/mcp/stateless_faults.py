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


class Unable(Stateless):
    """Leaves out its capabilities, since it has none."""

    class client(Talker):
        def meta(self) -> Json:
            return {name: one for name, one in super().meta().items() if not name.endswith("clientCapabilities")}


class HeaderAlone(Stateless):
    """Names the revision in the header, and has no metadata."""

    class client(Talker):
        def meta(self) -> Json:
            return {}


class MetadataAtFirst(Stateless):
    """Has its metadata in the first request alone, as if that were a handshake."""

    class client(Talker):
        told = False

        def meta(self) -> Json:
            found, self.told = ({} if self.told else super().meta()), True
            return found


class WithoutMethod(Stateless):
    """Has no header for the method."""

    class client(Talker):
        def headers(self, method: str, params: Json) -> dict[str, str]:
            return {name: one for name, one in super().headers(method, params).items() if name != "Mcp-Method"}


class WithoutName(Stateless):
    """Has no header for the tool's name."""

    class client(Talker):
        def headers(self, method: str, params: Json) -> dict[str, str]:
            return {name: one for name, one in super().headers(method, params).items() if name != "Mcp-Name"}


class WithoutRevision(Stateless):
    """Has no header for the revision."""

    class client(Talker):
        def headers(self, method: str, params: Json) -> dict[str, str]:
            return {name: one for name, one in super().headers(method, params).items() if "Protocol" not in name}


class AsInAUrl(Stateless):
    """Writes what is not ASCII as it is written in URLs."""

    class client(Talker):
        def header_text(self, value: Any) -> str:
            return quote(value, safe=" /") if isinstance(value, str) else super().header_text(value)


class Unmirrored(Stateless):
    """Does not know marked parameters."""

    class client(Talker):
        def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
            return {}


class AsPython(Stateless):
    """Writes true as True."""

    class client(Talker):
        def header_text(self, value: Any) -> str:
            return super().header_text(str(value))


class NullToo(Stateless):
    """Has a header for a parameter that is absent."""

    class client(Talker):
        def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
            absent = {f"Mcp-Param-{header}": "null" for header in self.marks.get(tool, {}).values()}
            return absent | super().mirrored(tool, arguments)


class Outermost(Stateless):
    """Looks for marks on the outermost parameters alone."""

    class client(Talker):
        def marked(self, schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[Any, Any]]]:
            return iter([one for one in super().marked(schema, path) if len(one[0]) == 1])


class LooksEncoded(Stateless):
    """Sends a text as it is if it looks encoded already."""

    class client(Talker):
        def header_text(self, value: Any) -> str:
            found = super().header_text(value)
            return str(value) if isinstance(value, str) and value.startswith("=?base64?") else found


class OffersBadlyMarked(Stateless):
    """Offers tools whose marks are illegal."""

    class client(Talker):
        def fits(self, tool: Json) -> bool:
            super().fits(tool)
            return True


class AllOrNothing(Stateless):
    """Ends the run if one tool has an illegal mark."""

    class client(Talker):
        def fits(self, tool: Json) -> bool:
            if not super().fits(tool):
                raise Failed(f"the tool {tool['name']} has an illegal mark")
            return True


class FirstAnswer(Stateless):
    """Reads each result as complete."""

    class client(Talker):
        def call(self, name: str, arguments: Json) -> Json:
            return {"content": [], **self.ask("tools/call", {"name": name, "arguments": arguments})}


class AnyType(Stateless):
    """Reads results of unknown types as complete."""

    class client(Talker):
        def call(self, name: str, arguments: Json) -> Json:
            params: Json = {"name": name, "arguments": arguments}
            found = self.ask("tools/call", params)
            while found.get("resultType") == "input_required":
                found = self.ask("tools/call", self.again(name, arguments, found))
            return found


class ReadsTheState(Stateless):
    """Reads the server's state, and writes it anew."""

    class client(Talker):
        def again(self, name: str, arguments: Json, found: Json) -> Json:
            state = json.dumps(json.loads(base64.b64decode(found["requestState"]))).encode()
            return super().again(name, arguments, found | {"requestState": base64.b64encode(state).decode()})


class TrimsTheState(Stateless):
    """Strips the server's state of blanks."""

    class client(Talker):
        def again(self, name: str, arguments: Json, found: Json) -> Json:
            return super().again(name, arguments, found | {"requestState": found["requestState"].strip()})


class ForgetsTheState(Stateless):
    """Makes a call again without the server's state."""

    class client(Talker):
        def again(self, name: str, arguments: Json, found: Json) -> Json:
            return {"name": name, "arguments": arguments}


class StateForAll(Stateless):
    """Sends the server's state with all later calls."""

    class client(Talker):
        state: Json | None = None

        def again(self, name: str, arguments: Json, found: Json) -> Json:
            params = super().again(name, arguments, found)
            self.state = {"requestState": params["requestState"]}
            return params

        def ask(self, method: str, params: Json) -> Json:
            return super().ask(method, params | (self.state or {}) if method == "tools/call" else params)


class SameId(Stateless):
    """Has one id for all requests."""

    class client(Talker):
        def new_id(self) -> str:
            return "1"


class AgainWithoutArguments(Stateless):
    """Leaves out the arguments of a call that it makes again."""

    class client(Talker):
        def again(self, name: str, arguments: Json, found: Json) -> Json:
            return super().again(name, {}, found)


class EmptyCursorEnds(Stateless):
    """Takes an empty cursor for the end."""

    class client(Talker):
        def pages(self) -> Iterator[Json]:
            asked: Json = {}
            while True:
                page = self.ask("tools/list", asked)
                yield page
                if not page.get("nextCursor"):
                    return
                asked = {"cursor": page["nextCursor"]}
