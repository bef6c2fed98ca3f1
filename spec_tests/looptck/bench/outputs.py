"""Where a request says that its answer is to be a value of a schema, and how a model that obeys gives one there.

There are three ways: the service's own format, a tool of the loop's own whose call is the output, and words in the
prompt. A request that shows none of them is answered in words.

Sources: OpenAI guide, Structured model outputs; Anthropic documentation, Structured outputs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal

from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError

from looptck.bench.answering import ruled_out
from looptck.bench.offers import definition
from looptck.bench.schema_blocks import filled
from looptck.provider.renamed import Names
from looptck.values.frozen import dataclass
from looptck.values.history import Offered, Request, Said
from looptck.values.turns import Call, Stop, Turn, says
from looptck.wires import WIRES

Schema = Mapping[str, Any]
FORM: Mapping[str, str] = {
    "openai-chat": '"response_format": {"type": "json_schema", "json_schema": {"name": …, "schema": …}}',
    "openai-responses": '"text": {"format": {"type": "json_schema", "name": …, "schema": …}}',
    "anthropic-messages": '"output_config": {"format": {"type": "json_schema", "schema": …}}',
}
"""The format of each service."""
MEMBERS = frozenset({"response_format", "text", "output_config", "output_format"})
"""The members of requests that have the format of one of the services."""
DEFINITIONS = ("$defs", "definitions")
"""The members of schemas that have the definitions to which references lead."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An output that a caller wants."""

    schema: Schema
    good: Any
    """A value that fits."""
    tools: Mapping[str, str]
    """The tools of the case, with what each is said to do."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request shows the schema."""

    kind: Literal["format", "tool", "words"]
    schema: Any = None
    """The schema as the service or the model gets it; None: it is in words that are no JSON."""
    member: str | None = None
    """The member in which the output is, if the loop has put its schema into that of an object."""
    tool: str = ""
    """The loop's own tool."""
    is_promised: bool = False
    """Whether the service promises that what it writes fits."""

    @property
    def inner(self) -> Any:
        """The schema of the output itself, with the definitions that it refers to."""
        if self.member is None or not isinstance(self.schema, dict):
            return self.schema
        defined = {name: self.schema[name] for name in DEFINITIONS if name in self.schema}
        return {**defined, **_properties(self.schema)[self.member]}

    @property
    def words(self) -> str:
        """The place, for people."""
        return f"the tool {self.tool}" if self.kind == "tool" else {"format": "its format"}.get(self.kind, "its words")

    def text(self, value: Any, *, obeys: bool = True) -> str:
        """The JSON of an output; ``obeys``: with null for members that the service's schema requires."""
        whole = value if self.member is None else {self.member: value}
        return json.dumps(filled(self.schema, whole, self.schema) if obeys else whole, ensure_ascii=False)

    def says(self, text: str, *, stop: Stop | None = None, beside: str | None = None) -> Turn:
        """The turn with this JSON, or what is none; ``beside``: words before a call."""
        if self.kind != "tool":
            return says(text, stop=stop)
        return Turn((*says(beside).pieces, Call(self.tool, text)), stop)


def place(body: Any, wire: str, wanted: Wanted) -> Place | None:
    """Where a request shows the schema; None: nowhere."""
    if not isinstance(body, dict):
        return None
    format, request = format_of(body, wire), WIRES[wire].service(True).read(body)
    tool = _tool(body, request, wanted)
    if tool is not None and (format is None or ruled_out(body, None) is not None):
        return tool
    if format is None or format[0] is None:
        return _in_words(request, wanted)
    schema, is_promised = format
    return Place("format", schema, _member(schema, wanted.good)[1], is_promised=is_promised)


def format_of(body: Mapping[str, Any], wire: str) -> tuple[Any, bool] | None:
    """The schema of a request's format, and whether the service promises to keep to it; None: it asks for text.

    The schema is None if any JSON object will do.
    """
    match wire:
        case "openai-chat":
            found = body.get("response_format")
        case "openai-responses":
            text = body.get("text")
            found = text.get("format") if isinstance(text, dict) else None
        case _:
            config = body.get("output_config")
            found = (config.get("format") if isinstance(config, dict) else None) or body.get("output_format")
    if not isinstance(found, dict) or found.get("type") in (None, "text"):
        return None
    named = found.get("json_schema")
    inner: Mapping[str, Any] = named if isinstance(named, dict) else found
    return inner.get("schema"), wire == "anthropic-messages" or inner.get("strict") is True


def dangling(body: Any, wire: str, wanted: Wanted) -> str:
    """The first reference in a request's format, or in a tool of the loop's own, that names nothing; empty if none."""
    if not isinstance(body, dict):
        return ""
    format, request = format_of(body, wire), WIRES[wire].service(True).read(body)
    schemas = [format[0]] if format else []
    schemas += [tool.parameters for tool in own_tools(request, wanted.tools)]
    found = (one for root in schemas for one in _references(root) if one.startswith("#/") and not definition(one, root))
    return next(found, "")


def _references(schema: Any) -> Iterator[str]:
    """All references in a schema."""
    return (one["$ref"] for one in _within(schema) if isinstance(one.get("$ref"), str))


def own_tools(request: Request, tools: Mapping[str, str]) -> list[Offered]:
    """The tools of a request that are none of the case's, whatever name the loop has given to those."""
    of_the_case = {tool.name for tool in Names(tools).among(request.tools).values()}
    return [tool for tool in request.tools if tool.name not in {*tools, *of_the_case}]


def _tool(body: Any, request: Request, wanted: Wanted) -> Place | None:
    """The loop's own tool that takes the output; one that takes it as it is before one that takes it in a member."""
    choice = body.get("tool_choice")
    if choice == "none" or (isinstance(choice, dict) and choice.get("type") == "none"):
        return None
    found = []
    for tool in own_tools(request, wanted.tools):
        fits, member = _member(tool.parameters, wanted.good)
        if fits:
            found.append(Place("tool", tool.parameters, member, tool.name, is_promised=tool.strict))
    return next((one for one in found if one.member is None), found[0] if found else None)


def _member(schema: Any, good: Any) -> tuple[bool, str | None]:
    """Whether a schema has room for a value, and in which member, if it is not for the value itself."""
    known = _properties(schema)
    if isinstance(good, dict) and known.keys() >= good.keys():
        return True, None
    for name in known:
        inner = known[name]
        is_typed = isinstance(inner, dict) and inner.keys() & {"type", "$ref", "anyOf", "allOf"}
        if is_typed and inner.get("type") != "string" and _takes(schema, {name: good}):
            return True, name
    return False, None


def _takes(schema: Any, value: Any) -> bool:
    """Whether a schema accepts a value, apart from missing members.

    Definitions count wherever they are: a loop that puts a schema into that of an object may leave them in its member.
    """
    defined = dict.fromkeys(DEFINITIONS, _definitions(schema))
    try:
        errors = Draft202012Validator({**schema, **defined}).iter_errors(value)
        return all(error.kind.name == "required" for error in errors)
    except (ReferencingError, ValidationError, ValueError):
        return False


def undefined(schema: Any) -> list[str]:
    """The references of a schema to definitions that are nowhere in it."""
    known, found = _definitions(schema), _references(schema)
    return [ref for ref in found if ref.startswith(("#/$defs/", "#/definitions/")) and ref.split("/")[-1] not in known]


def _definitions(schema: Any) -> dict[str, Any]:
    """The definitions in a schema, wherever a loop has put them, by their names."""
    found = (one.get(place) for one in _within(schema) for place in DEFINITIONS)
    return {name: one for defined in found if isinstance(defined, dict) for name, one in defined.items()}


def _within(schema: Any) -> Iterator[Mapping[str, Any]]:
    """A schema, and all objects in it."""
    if isinstance(schema, dict):
        yield schema
    for one in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _within(one)


def _properties(schema: Any) -> Mapping[str, Any]:
    known = schema.get("properties") if isinstance(schema, dict) else None
    return known if isinstance(known, dict) else {}


def _in_words(request: Request, wanted: Wanted) -> Place | None:
    """The prompt as the place: it has a JSON Schema with room for the output, or every declared name and word."""
    texts = "\n".join(item.text for item in request.items if isinstance(item, Said) and item.role != "assistant")
    for schema in _objects(texts):
        fits, member = _member(schema, wanted.good)
        if fits:
            return Place("words", schema, member)
    whole = all(word in texts for word in declared(wanted.schema))
    return Place("words", next(_arrays(texts, wanted), None)) if whole else None


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in a text, each with the objects in it."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        with suppress(ValueError, RecursionError):
            yield decoder.raw_decode(text, at)[0]
        at = text.find("{", at + 1)


def _arrays(text: str, wanted: Wanted) -> Iterator[Any]:
    """The JSON objects in a text that are schemas of a list, if a list is wanted."""
    if isinstance(wanted.good, list):
        yield from (one for one in _objects(text) if one.get("type") == "array")


def declared(schema: Any) -> Iterator[str]:
    """The names of all members and the words of all enumerations of a schema."""
    if isinstance(schema, list):
        for one in schema:
            yield from declared(one)
    elif isinstance(schema, dict):
        yield from _properties(schema)
        yield from (word for word in schema.get("enum", ()) if isinstance(word, str))
        for name, one in schema.items():
            if name != "enum":
                yield from declared(list(one.values()) if name in ("properties", "$defs") else one)
