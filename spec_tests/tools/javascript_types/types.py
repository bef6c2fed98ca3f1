"""Types in TypeScript of the JSON Schemas of the driver protocol.

The vocabulary is that of these schemas alone; a keyword that is not in it is an error, and not a looser type.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from looptck.catalogue.data import json_fixture

BEGIN = "// Generated from fixtures/protocol/ by python -m tools.javascript_types.\n"
END = "// End of what is generated.\n"
WIDTH = 120
TO: dict[str, Any] = json_fixture("protocol/to-driver.schema.json")["$defs"]
FROM: dict[str, Any] = json_fixture("protocol/from-driver.schema.json")["$defs"]
CASE, STARTED = TO["case"]["properties"], FROM["started"]["properties"]

CHOICES: dict[str, Any] = {
    "Wire": CASE["wire"],
    "Mode": CASE["mode"],
    "Stop": FROM["value"]["properties"]["stop"],
    "Reason": FROM["error"]["properties"]["reason"],
}
OBJECTS: dict[str, Any] = {
    "Case": TO["case"],
    "Agent": CASE["agent"],
    "Input": TO["input"],
    "Message": TO["message"],
    "Call": TO["message"]["properties"]["calls"]["items"],
    "Tool": TO["tool"],
    "TextPart": TO["text_part"],
    "ImagePart": TO["image_part"],
    "Options": CASE["options"],
    "Chosen": CASE["options"]["properties"]["tool_choice"]["oneOf"][1],
    "Server": TO["server"],
    "Hosted": CASE["hosted_tools"]["items"],
    "Telemetry": CASE["telemetry"],
    "Member": TO["member"],
    "Resume": CASE["resume"],
    "Decision": TO["decision"],
    "ContextMessage": TO["context_message"],
    "Started": FROM["started"],
    "Capabilities": STARTED["capabilities"],
    "Dialect": STARTED["dialect"],
    "Answer": STARTED["answer"],
    "CallEvent": FROM["call_event"],
    "ArgumentsEvent": FROM["arguments_event"],
    "ResultEvent": FROM["result_event"],
    "EndEvent": FROM["end_event"],
    "AgentTools": STARTED["agent_tools"],
    "AgentTool": FROM["agent_tool"],
    "Value": FROM["value"],
    "Usage": FROM["usage"],
    "Error": FROM["error"],
    "Suspended": FROM["suspended"],
    "Pending": FROM["suspended"]["properties"]["calls"]["items"],
}
"""The names of types, as in `looptck.driver`, and their schemas."""

SCALARS = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
NARROWER = {"minLength", "minItems", "minimum", "uniqueItems", "pattern"}
"""Keywords that no type says."""


def written(declarations: str) -> str:
    """The declarations, with the types of the schemas between the two marks. Raises ValueError: there are no marks."""
    found = re.fullmatch(f"(.*{re.escape(BEGIN)}).*({re.escape(END)}.*)", declarations, re.DOTALL)
    if not found:
        raise ValueError("the declarations have no place for what is generated")
    return f"{found[1]}\n{generated()}\n{found[2]}"


def generated() -> str:
    """All types."""
    choices = [f"export type {name} = {_choice(schema)};\n" for name, schema in CHOICES.items()]
    return "\n".join(["".join(choices), *(_interface(name, schema) for name, schema in OBJECTS.items())])


def _interface(name: str, schema: Any) -> str:
    lines = [*_comment(schema, ""), f"export interface {name} {{"]
    for member, one in schema["properties"].items():
        if name == "Started" and member == "type":
            continue  # `serve` adds it
        optional = "" if member in schema.get("required", ()) else "?"
        lines += [*_comment(one, "  "), f"  {member}{optional}: {_type(one)};"]
    return "\n".join([*lines, "}"]) + "\n"


def _comment(schema: Any, indent: str) -> Iterator[str]:
    text = schema.get("description") if isinstance(schema, dict) else None
    if not text:
        return
    if len(indent) + len(text) + 7 <= WIDTH:
        yield f"{indent}/** {text} */"
        return
    yield f"{indent}/**"
    margin = f"{indent} * "
    yield from textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)
    yield f"{indent} */"


def _type(schema: Any) -> str:  # noqa: PLR0912
    """The type of a value. Raises ValueError: the schema has a keyword that no type here stands for."""
    if schema is True:
        return "unknown"
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        schema = TO[name] if name in TO else FROM[name]
    for name, one in (CHOICES | OBJECTS).items():
        if schema is one or (name in CHOICES and schema.get("enum") == one["enum"]):
            return name
    said = {key: one for key, one in schema.items() if key != "description" and key not in NARROWER}
    match said.get("type"), sorted(said):
        case None, ["enum"]:
            return _choice(schema)
        case None, ["const"]:
            return _literal(said["const"])
        case None, ["oneOf"]:
            return " | ".join(map(_type, said["oneOf"]))
        case None, []:
            return "unknown"
        case "array", ["items", "type"]:
            inner = _type(said["items"])
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case "object", ["additionalProperties", "type"]:
            return f"Record<string, {_type(said['additionalProperties'])}>"
        case "object", ["type"]:
            return "Record<string, unknown>"
        case [*kinds], ["type"]:
            return " | ".join(SCALARS[one] for one in kinds)
        case str(kind), ["type"]:
            return SCALARS[kind]
    raise ValueError(f"no type stands for {schema}")


def _choice(schema: Any) -> str:
    return " | ".join(map(_literal, schema["enum"]))


def _literal(constant: str | int) -> str:
    return f"'{constant}'" if isinstance(constant, str) else str(constant)
