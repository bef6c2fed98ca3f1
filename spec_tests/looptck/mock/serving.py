"""The provider alone on a port, with a control API: what `looptck serve` does, without its output.

`POST /looptck/script` begins anew with a script; `GET /looptck/transcript` and `GET /looptck/verdicts` say what has
happened since. Pages of other sites cannot reach the control API: a browser names the page in `Origin`, and the name
that led it here in `Host`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from looptck.catalogue.dialects import dialect as dialect_named
from looptck.catalogue.yaml_files import BadFile
from looptck.mock import findings
from looptck.mock.endpoint import Endpoint
from looptck.mock.findings import Finding
from looptck.mock.requests import Request
from looptck.mock.script_file import ScriptFile, read_text
from looptck.provider.http import HttpReply, HttpRequest
from looptck.provider.replies import whole
from looptck.provider.script import Step
from looptck.values.masking import masked, masked_path
from looptck.values.transcript import Event, Received, Replied, SideRequest, UnroutedRequest
from looptck.wires import WIRES
from looptck.wires.spoken import spoken

CONTROL = "/looptck/"
KEEPS = 1000
"""How many of the latest requests are kept."""
READ = ("application/json", "application/yaml", "application/x-yaml", "text/yaml")
PATIENCE = 5.0


class Serving:
    """Answers every request on a port: to the model with the script, below ``/looptck/`` about it.

    Args:
        script: what is played first.
        on_answer: called with each request to the model, and with what answers it; None: it is refused, or the script
            is over.
    """

    def __init__(self, script: ScriptFile, on_answer: Callable[[Request, Step | None], None] | None = None) -> None:
        self._on_answer = on_answer
        self.endpoint = self._begun(script)

    def _begun(self, script: ScriptFile) -> Endpoint:
        speaks = dialect_named(script.dialect) if script.dialect is not None else None
        wires = [spoken(wire, speaks) if speaks is not None else wire for wire in WIRES.values()]
        endpoint = Endpoint(wires, patience=PATIENCE, keeps=KEEPS)
        endpoint.judges = script.judges
        endpoint.on_answer = self._on_answer
        for part in script.parts:
            endpoint.playlist.add(part.steps, part.when, repeats=part.repeats)
        return endpoint

    @property
    def findings(self) -> list[Finding]:
        """What is wrong so far; also that the script was not played to its end."""
        left = [item for one in self.endpoint.playlist.conversations for item in one.left]
        more = [findings.unplayed(left, self.endpoint.count)] if left else []
        return [*self.endpoint.findings, *more]

    def answer(self, request: HttpRequest) -> HttpReply | None:
        """Answer any request."""
        path = request.path.partition("?")[0]
        if not path.startswith(CONTROL):
            return self.endpoint.answer(request)
        why = _foreign(request)
        if why is not None:
            return whole(403, {"error": why})
        match request.method, path.removeprefix(CONTROL):
            case "POST", "script":
                return self._set(request)
            case "GET", "transcript":
                return whole(200, {"events": [shown for one in self._events() if (shown := _shown(one))]})
            case "GET", "verdicts":
                return whole(200, self.verdicts())
            case _:
                known = "POST /looptck/script, GET /looptck/transcript, GET /looptck/verdicts"
                return whole(404, {"error": f"there is no {request.method} {path}; there are {known}"})

    def verdicts(self) -> dict[str, Any]:
        """What has come of the script so far."""
        found = self.findings
        return {
            "verdict": "fail" if found else "pass",
            "requests": self.endpoint.count,
            "played": self.endpoint.played,
            "left": self.endpoint.playlist.left,
            "findings": [self._finding(one) for one in found],
        }

    def _finding(self, finding: Finding) -> dict[str, Any]:
        shown: dict[str, Any] = {"kind": finding.kind, "text": finding.text}
        if finding.number is not None:
            shown["request"] = finding.number
        asked = next((one for one in self.endpoint.requests if one.number == finding.number), None)
        if finding.kind == "refused" and asked is not None:
            shown["problems"] = [
                {"rule": one.rule, "pointer": one.pointer, "status": one.status, "message": one.message}
                for one in asked.refused_for
            ]
        return shown

    def _set(self, request: HttpRequest) -> HttpReply:
        type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if type not in READ:
            return whole(415, {"error": f"the content-type is {type!r:.80}: send {READ[0]} or {READ[1]}"})
        try:
            script = read_text("the script", request.body.decode())
        except (BadFile, UnicodeDecodeError) as error:
            return whole(400, {"error": str(error)})
        self.endpoint = self._begun(script)
        return whole(200, {"left": self.endpoint.playlist.left})

    def _events(self) -> list[Event]:
        return [*self.endpoint.transcript.events]


def _shown(event: Event) -> dict[str, Any] | None:
    """An event as the transcript shows it; None: it does not."""
    match event:
        case Received():
            headers = {name: masked(name, value) for name, value in event.headers.items()}
            return {
                "event": "request",
                "at": round(event.at, 6),
                "request": event.n,
                "wire": event.wire,
                "path": masked_path(event.path),
                "headers": headers,
                "body": event.body if event.body is not None else event.raw.decode(errors="replace"),
            }
        case Replied():
            raw = b"".join(event.stream) if event.stream else event.body
            return {
                "event": "reply",
                "at": round(event.at, 6),
                "request": event.n,
                "status": event.status,
                "what": event.what,
                "stream": bool(event.stream),
                "body": raw.decode(errors="replace"),
            }
        case SideRequest():
            side = {"method": event.method, "path": masked_path(event.path), "answered": event.answered}
            return {"event": "side-request", "at": round(event.at, 6), **side}
        case UnroutedRequest():
            path = f"{masked_path(event.path)}{event.why and ': '}{event.why}"
            return {"event": "unknown-route", "at": round(event.at, 6), "method": event.method, "path": path}
        case _:
            return None


def _foreign(request: HttpRequest) -> str | None:
    """Why a request may come from a page of another site; None if it cannot."""
    host = request.headers.get("host", "")
    if not _is_loopback(host):
        return f"the Host {host!r:.100} is no name of the loopback address"
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != host:
        return f"the Origin {origin!r:.100} is another site's"
    site = request.headers.get("sec-fetch-site", "none")
    return None if site in {"none", "same-origin"} else f"Sec-Fetch-Site is {site!r:.40}"


def _is_loopback(host: str) -> bool:
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
