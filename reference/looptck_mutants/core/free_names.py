"""Names that the loop has for itself: the seams `handler_for`, `handler_of_name` and `bind`."""

from __future__ import annotations

from looptck_mutants.cells import CHAT
from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.tools import Handler, Tool
from looptck_reference.vocabulary.values import Json, ToolCall

OWN = ("config", "runtime", "context", "state")


@breaks("inherited-names-are-no-tools", cells=CHAT)
class MembersAreTools(Loop):
    """Calls a member of the loop where no tool has the name."""

    def handler_for(self, call: ToolCall) -> Handler | None:
        return super().handler_for(call) or ((lambda **_: "None") if hasattr(self, call.name) else None)


@breaks("parameters-may-have-any-name", cells=CHAT)
class OwnParametersAreDropped(Loop):
    """Takes parameters of some names for its own, and does not hand them on."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        return super().bind(tool, {name: value for name, value in arguments.items() if name not in OWN})


@breaks("keys-that-objects-inherit-are-kept", cells=CHAT)
class PrototypesAreDropped(Loop):
    """Drops the keys by which a copy of an object could change all objects, at every depth."""

    def parse_arguments(self, text: str) -> Json:
        return _harmless(super().parse_arguments(text))


def _harmless(value: Json) -> Json:
    kept = {name: one for name, one in value.items() if name not in {"__proto__", "constructor", "prototype"}}
    return {name: _harmless(one) if isinstance(one, dict) else one for name, one in kept.items()}


@breaks("left-out-parameters-stay-out", cells=CHAT)
class LeftOutIsNull(Loop):
    """Gives a tool null for what was left out beside a required parameter."""

    def bind(self, tool: Tool | None, arguments: Json) -> Json:
        known = tool.parameters if tool is not None and arguments else {}
        missing = known.get("properties", {}).keys() - set(known.get("required", ()))
        return super().bind(tool, {**dict.fromkeys(missing), **arguments})


@breaks("calls-run-the-tool-they-name", cells=CHAT)
class CapitalsAreSmallLetters(Loop):
    """Looks up the name of a call in small letters."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return self.registry.get_tool(call.name.lower()) or super().handler_of_name(call)


@breaks("calls-run-the-tool-they-name", cells=CHAT)
class PrefixesAreCut(Loop):
    """Looks up what follows the last two underscores of a name."""

    def handler_of_name(self, call: ToolCall) -> Handler | None:
        return self.registry.get_tool(call.name.rpartition("__")[2]) or super().handler_of_name(call)
