"""The content of a Request, and the required form of its answer.

Every message of the context becomes one user message: a text as its text, any other message as JSON. The model thus
reads exactly what programs wrote, apart from the keys that are hidden from it. The instructions and a tool message come
first; the tool message is the only one that callers cannot write.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from looptck_reference.agent_loop_010.messages import Message, visible
from looptck_reference.vocabulary.errors import NotOnThisWire
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Json
from looptck_reference.wires import ChatWire, MessagesWire, ResponsesWire, Wire

__all__ = ["INSTRUCTIONS", "Prompt", "request_for"]

INSTRUCTIONS = """\
You work towards a goal in turns. In each turn you answer with one Solution, a JSON object and nothing around it:
{"calls": [Call, ...], "output": your final output, or null}

As long as "output" is null you get another turn, with the results of your calls in the messages. An output that is
not null ends the work, after the calls of the same Solution.

A Call is an object: "_tool" is the name of a tool, and every key without an underscore is one of its parameters.
- "_outputPath" says where its result goes, as in "†state.user.name". Without it the result is not kept.
- "_outputMethod" says how: "set" (if you say nothing), "merge", "assign", "push" or "concat".
- "_output", only for a tool whose schema has it: no program runs, and you write the result yourself.
- "_instance", only if there are messages of several instances: the one to read from and to write to.

The value of a parameter may be a reference in place of a value: "†state.user.name" is what a result was written to,
"†input.city" a part of the input, "†data.x" of data without a kind, "†KIND.x" of data of a kind. "†a || †b" is the
first that exists; "†a && †b" is the last, once all exist. In "_outputPath" "||" stands for alternatives, and "&&" for
writing to all. A call starts as soon as all that it refers to exists, so let one call refer to what another one
writes; calls that do not refer to each other run at the same time, in no order.

Messages of the kind "error" tell which call failed, and why: mend it, or do without it."""


class Prompt:
    """The texts of the Requests of one run."""

    def __init__(self, tools: Sequence[Tool], output_schema: Json) -> None:
        self.tools = tools
        self.output_schema = output_schema

    def messages(self, context: Sequence[Message]) -> list[Json]:
        """The whole context as messages with role and text, which each wire accepts."""
        shown = [self.tool_message(), *context] if self.tools else context
        words = [{"role": "user", "content": self.words(message)} for message in shown]
        return [{"role": "system", "content": self.instructions()}, *words]

    def instructions(self) -> str:
        """The explanation of a Solution for the model."""
        return INSTRUCTIONS

    def words(self, message: Message) -> str:
        """A message of the context as the model reads it."""
        if message["type"] == "text":
            return str(message["text"])
        return json.dumps(visible(message), ensure_ascii=False, separators=(",", ":"), default=str)

    def tool_message(self) -> Message:
        """All tools: `{"type": "tool", "tool": {name: JSON Schema of a Call's parameters}}`."""
        return {"type": "tool", "tool": {tool.name: self.offer(tool) for tool in self.tools}}

    def offer(self, tool: Tool) -> Json:
        """The schema of one tool; it contains `_output` only if the model has to write the result itself."""
        schema = {"description": tool.description, **tool.parameters}
        if tool.handler is None:
            schema["properties"] = {**schema.get("properties", {}), "_output": {"description": "The result."}}
        return schema

    def schema(self) -> Json:
        """The JSON Schema of a Solution.

        Parameters are unrestricted, because a reference may replace a number. Definitions of the output's schema move
        to the root, because its references start there.
        """
        output = dict(self.output_schema)
        lifted: Json = {name: output.pop(name) for name in ("$defs", "definitions") if name in output}
        names = {"enum": [tool.name for tool in self.tools]} if self.tools else {}
        call = {
            "type": "object",
            "properties": {
                "_tool": {"type": "string", **names},
                "_outputPath": {"type": "string"},
                "_outputMethod": {"enum": ["set", "merge", "assign", "push", "concat"]},
            },
            "required": ["_tool"],
        }
        return {
            "type": "object",
            "properties": {
                "calls": {"type": "array", "items": call},
                "output": {"anyOf": [output, {"type": "null"}]},
            },
            "required": ["calls", "output"],
            **lifted,
        }


def request_for(wire: Wire, messages: Sequence[Json], schema: Json) -> tuple[Sequence[Json], Json]:
    """Messages and options of a request in which a wire asks for a JSON document of this schema.

    The strict mode is never used: it requires all properties of an object to be declared, and the properties of a Call
    depend on its tool. Anthropic's service has only the strict mode (Structured outputs, JSON Schema limitations), so
    there the schema is part of the instructions.

    Args:
        wire: The wire of the request.
        messages: The instructions of the system first, then the context.
        schema: The JSON Schema of the document.

    Raises:
        NotOnThisWire: this wire has no known way to ask for JSON.
    """
    match wire:
        case ChatWire():
            named = {"name": "solution", "schema": schema, "strict": False}
            return messages, {"response_format": {"type": "json_schema", "json_schema": named}}
        case ResponsesWire():
            form = {"type": "json_schema", "name": "solution", "schema": schema, "strict": False}
            return messages, {"text": {"format": form}}
        case MessagesWire():
            system, *context = messages
            words = f"{system['content']}\n\nThe JSON Schema of your answer:\n{json.dumps(schema, ensure_ascii=False)}"
            return [{**system, "content": words}, *context], {}
    raise NotOnThisWire(f"{wire.path} has no option for the form of an answer")
