"""Right loops whose clients speak the revision of MCP without a handshake, alone or first. A fault replaces a step."""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from meta.strangers.mcp.client import Client, Failed
from meta.strangers.mcp.loops import Json, Loop

NEW = "2026-07-28"
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
PLAIN = re.compile(r"[\x21-\x7e]([\x20\x09\x21-\x7e]*[\x21-\x7e])?")
MODERN_ERRORS = {-32020, -32021, -32022}


class Talker:
    """Asks one server. Every question says for itself all that the server has to know."""

    tries = 5

    def __init__(self, name: str, url: str) -> None:
        self.name, self.url = name, url
        self.marks: dict[str, dict[tuple[str, ...], str]] = {}

    def connect(self) -> None:
        """There is nothing to connect."""

    def close(self) -> None:
        """There is nothing to close."""

    # -- a question ---------------------------------------------------------------------------------------------------

    def meta(self) -> Json:
        prefix = "io.modelcontextprotocol/"
        about = {"name": "stranger", "version": "2"}
        return {f"{prefix}protocolVersion": NEW, f"{prefix}clientInfo": about, f"{prefix}clientCapabilities": {}}

    def headers(self, method: str, params: Json) -> dict[str, str]:
        found = {"MCP-Protocol-Version": NEW, "Mcp-Method": method}
        if method == "tools/call":
            found["Mcp-Name"] = self.header_text(params["name"])
            found |= self.mirrored(params["name"], params.get("arguments") or {})
        return found

    def mirrored(self, tool: str, arguments: Json) -> dict[str, str]:
        values = {header: self.at(arguments, path) for path, header in self.marks.get(tool, {}).items()}
        return {f"Mcp-Param-{header}": self.header_text(one) for header, one in values.items() if one is not None}

    def at(self, value: Any, path: tuple[str, ...]) -> Any:
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value

    def header_text(self, value: Any) -> str:
        said = value if isinstance(value, str) else json.dumps(value)
        if PLAIN.fullmatch(said) and not (said.startswith("=?base64?") and said.endswith("?=")):
            return said
        return f"=?base64?{base64.b64encode(said.encode()).decode()}?="

    def new_id(self) -> str:
        return uuid.uuid4().hex

    def ask(self, method: str, params: Json) -> Json:
        """The result. Failed: there is none."""
        id = self.new_id()
        body = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": self.meta()}}
        usual = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
        question = Request(self.url, json.dumps(body).encode(), usual | self.headers(method, params))  # noqa: S310
        try:
            with urlopen(question, timeout=30) as reply:  # noqa: S310
                streams = reply.headers.get_content_type() == "text/event-stream"
                told = next(self.events(reply), None) if streams else json.loads(reply.read())
        except HTTPError as problem:
            self.refused(problem.code, problem.read())
            raise AssertionError from problem
        except (URLError, OSError, ValueError) as problem:
            raise Failed(f"no answer to {method}: {problem}") from problem
        if told is None:
            raise Failed(f"the answer to {method} was cut off")
        if "error" in told:
            raise Failed(f"{method}: {told['error']['message']}")
        return dict(told["result"])

    def refused(self, status: int, body: bytes) -> None:
        raise Failed(f"status {status}: {body!r}")

    def events(self, reply: Any) -> Iterator[Json]:
        """The responses in a stream."""
        data: list[bytes] = []
        for line in reply:
            if line.startswith(b"data:"):
                data.append(line[5:].strip(b" \r\n"))
            elif not line.strip() and data:
                message, data = json.loads(b"\n".join(data)), []
                if "method" not in message:
                    yield message

    # -- tools --------------------------------------------------------------------------------------------------------

    def list(self) -> list[Json]:
        return [tool for page in self.pages() for tool in page["tools"] if self.fits(tool)]

    def pages(self) -> Iterator[Json]:
        asked: Json = {}
        while True:
            page = self.ask("tools/list", asked)
            yield page
            if page.get("nextCursor") is None:
                return
            asked = {"cursor": page["nextCursor"]}

    def fits(self, tool: Json) -> bool:
        """Whether the marks of a tool are legal, which are kept then."""
        found = dict(self.marked(tool["inputSchema"]))
        names = [mark for mark, _ in found.values()]
        legal = all(isinstance(mark, str) and TOKEN.fullmatch(mark) for mark in names)
        if not legal or len({mark.lower() for mark in names}) < len(names):
            return False
        if any(kind not in {"string", "integer", "boolean"} for _, kind in found.values()):
            return False
        self.marks[tool["name"]] = {path: mark for path, (mark, _) in found.items()}
        return True

    def marked(self, schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[Any, Any]]]:
        for name, inner in schema.get("properties", {}).items():
            if "x-mcp-header" in inner:
                yield (*path, name), (inner["x-mcp-header"], inner.get("type"))
            yield from self.marked(inner, (*path, name))

    def call(self, name: str, arguments: Json) -> Json:
        params: Json = {"name": name, "arguments": arguments}
        for _ in range(self.tries):
            found = self.ask("tools/call", params)
            match found.get("resultType", "complete"):
                case "complete":
                    return found
                case "input_required" if not found.get("inputRequests"):
                    params = self.again(name, arguments, found)
                case other:
                    raise Failed(f"the server answers with {other}, which this client cannot serve")
        raise Failed("the server asks again and again")

    def again(self, name: str, arguments: Json, found: Json) -> Json:
        state = {"requestState": found["requestState"]} if "requestState" in found else {}
        return {"name": name, "arguments": arguments, **state}


class Stateless(Loop):
    """Speaks the revision without a handshake, and no other."""

    client: Any = Talker


class _Discovers(Talker):
    def connect(self) -> None:
        if NEW not in self.ask("server/discover", {})["supportedVersions"]:
            raise Failed("the server does not speak this revision")


class DiscoversFirst(Loop):
    """Asks what the server can do before anything else."""

    client: Any = _Discovers


class NeverAsksAgain(Loop):
    """Makes no call again: what is no answer has failed, for the model."""

    class client(Talker):
        tries = 1


class _Older(Exception):
    pass


class EitherRevision(Loop):
    """Speaks both kinds of revisions."""

    class client:
        """The new revision, or an older one if the server does not answer as a new one would."""

        class Probe(_Discovers):
            def refused(self, status: int, body: bytes) -> None:
                try:
                    code = json.loads(body)["error"]["code"]
                except (ValueError, LookupError, TypeError):
                    code = None
                if status == 400 and code not in MODERN_ERRORS:
                    raise _Older
                super().refused(status, body)

        def __init__(self, name: str, url: str) -> None:
            self.name, self.url = name, url
            self.one: Any = self.Probe(name, url)

        def connect(self) -> None:
            try:
                self.one.connect()
            except _Older:
                self.one = Client(self.name, self.url)
                self.one.connect()

        def __getattr__(self, name: str) -> Any:
            return getattr(self.one, name)


class SaysThatItLeaves(Stateless):
    """Sends a notification at the end: what it says of itself is required of requests alone."""

    class client(Talker):
        def close(self) -> None:
            note = {"jsonrpc": "2.0", "method": "notifications/x-stranger/leaves"}
            usual = {"Content-Type": "application/json", "Accept": "text/event-stream, application/json"}
            said = Request(self.url, json.dumps(note).encode(), usual | {"MCP-Protocol-Version": NEW})  # noqa: S310
            with suppress(HTTPError), urlopen(said, timeout=30):  # noqa: S310
                pass
