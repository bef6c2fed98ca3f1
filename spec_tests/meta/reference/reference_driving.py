"""The reference's driver, whole or broken, on the cases of a kit that is not there."""

from __future__ import annotations

import json
from typing import Any

import respx

from looptck_reference import Loop, Wire
from looptck_reference.kit.driver import Driver
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import QUESTION, URL, Json
from meta.reference.reference_wires import Side

TOOL = "http://toolbox.test/weather"


def case(**more: Any) -> Json:
    """A case as the kit hands it over."""
    tool = {"name": "weather", "kind": "function", "description": "", "parameters": {"type": "object"}, "url": TOOL}
    return {
        "name": "case", "profile": "core", "wire": "openai-chat", "mode": "sync", "stream": False, "base_url": URL,
        "api_key": "k", "model": "m", "agent": {"name": "a", "description": "", "template": [QUESTION]},
        "messages": [QUESTION], "inputs": {}, "tools": [tool], "options": {}, **more,
    }  # fmt: skip


def driver(broken: type[Loop] = Loop, *, side: Side | None = None, wire: Wire | None = None) -> Driver:
    """A driver of this loop, with this wire in the place of the side's own."""
    wires = {**Driver.wires, **({side.name: wire} if side and wire else {})}
    made: Driver = type("Broken", (Driver,), {"loop": broken, "wires": wires})()
    return made


def told(side: Side, *bodies: Any, loop: type[Loop] = Loop, wire: Wire | None = None, stream: bool = True) -> Json:
    """The outcome of a run with these replies."""
    replies(*bodies, url=side.url)
    return driver(loop, side=side, wire=wire).run(case(wire=side.name, stream=stream), lambda _: None)


def asked(
    side: Side, *bodies: Any, loop: type[Loop] = Loop, wire: Wire | None = None, stream: bool = True
) -> list[Json]:
    """The requests of a run with these replies, whose tool says sunny."""
    respx.post(TOOL).respond(json={"value": "sunny"})
    before = len(respx.calls)
    told(side, *bodies, loop=loop, wire=wire, stream=stream)
    return [json.loads(one.request.content) for one in list(respx.calls)[before:] if str(one.request.url) == side.url]


def ran(side: Side, body: Any, *, loop: type[Loop] = Loop, wire: Wire | None = None, stream: bool = True) -> list[Any]:
    """What the tool was called with in a run whose first reply is this and whose second ends it."""
    toolbox = respx.post(TOOL).respond(json={"value": "sunny"})
    before = toolbox.call_count
    told(side, body, side.body("x", stream=stream), loop=loop, wire=wire, stream=stream)
    return [json.loads(one.request.content)["arguments"] for one in list(toolbox.calls)[before:]]
