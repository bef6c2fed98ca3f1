"""What frontmatter says, field by field.

Fields that are not known here are no error (the later runtime specification, §2.3).
"""

from __future__ import annotations

from collections.abc import Mapping

from looptck_reference.prompts.fields import Field
from looptck_reference.prompts.prompt import Model
from looptck_reference.prompts.properties import Input, properties, schema
from looptck_reference.tools import Tool
from looptck_reference.values import Json

__all__ = ["check_template", "inputs", "model", "tool_entries", "tool_of"]

_API_TYPES = ("chat", "responses")
_CONNECTIONS = ("key", "anonymous")
_MODES = ("single", "agentic")
_COMMON = ("name", "kind", "description", "parameters", "bindings", "strict")
"""What a tool of any kind may say; the rest is its kind's."""


def model(front: Field) -> Model:
    """The model, which may be an id alone."""
    field = front.need("model")
    if not isinstance(field.value, Mapping):
        return Model(field.text())
    name = field.need("id").text()
    provider = field.get("provider")
    connection = field.get("connection")
    options = field.get("options")
    if connection is not None:
        connection.word("kind", _CONNECTIONS, "key")
    return Model(
        id=name,
        provider="openai" if provider is None else provider.text(),
        api_type=field.word("apiType", _API_TYPES, "chat"),
        endpoint=_text(connection, "endpoint"),
        api_key=_text(connection, "apiKey"),
        stream=_stream(options),
        options=_options(options),
    )


def _text(field: Field | None, name: str) -> str | None:
    """A member that is said, and not empty: an empty default of a reference says nothing."""
    return None if field is None else field.optional_text(name) or None


def _stream(options: Field | None) -> bool:
    """Whether to ask for a stream: for want of a word of the documents' own, an option or an additional property."""
    if options is None:
        return False
    further = options.get("additionalProperties")
    said = options.get("stream") or (None if further is None else further.get("stream"))
    return False if said is None else said.flag()


def _options(options: Field | None) -> Json:
    if options is None:
        return {}
    said: Json = {name: value.plain() for name, value in options.members().items() if name != "stream"}
    further = said.pop("additionalProperties", None) or {}
    left = {name: value for name, value in further.items() if name != "stream"}
    return {**said, "additionalProperties": left} if left else said


def inputs(front: Field) -> tuple[Input, ...]:
    """The inputs; the guide calls them `inputSchema`, the later specification `inputs`."""
    guide, later = front.get("inputSchema"), front.get("inputs")
    if guide is not None and later is not None:
        raise guide.wrong(f"stands beside the inputs of line {later.line}; keep one of them")
    return properties(guide if later is None else later)


def check_template(front: Field) -> None:
    """The template has to be of the one format, and to be cut by the one parser, that there are."""
    field = front.get("template")
    if field is None:
        return
    if not isinstance(field.value, Mapping):
        field.one_of(("jinja2",))
        return
    for part, known in (("format", "jinja2"), ("parser", "prompty")):
        said = field.get(part)
        if said is not None and isinstance(said.value, Mapping):
            said.word("kind", (known,), known)
        elif said is not None:
            said.one_of((known,))


def tool_entries(front: Field) -> dict[str, Field]:
    """The tools by name."""
    field = front.get("tools")
    return {} if field is None else field.named()


def tool_of(name: str, field: Field) -> Tool:
    """A tool of any kind, but for what a tool of the kind `prompty` takes from its child."""
    kind = field.need("kind").text()
    declared = properties(field.get("parameters"))
    strict = field.get("strict")
    options = {name: member.plain() for name, member in field.members().items() if name not in _COMMON}
    if kind == "prompty":
        options |= {"path": field.need("path").text(), "mode": field.word("mode", _MODES, "single")}
    return Tool(
        name,
        field.optional_text("description"),
        schema(declared, required=[one.name for one in declared if one.required]),
        kind=kind,
        bindings=_bindings(field.get("bindings")),
        strict=False if strict is None else strict.flag(),
        options=options,
    )


def _bindings(field: Field | None) -> dict[str, str]:
    """Inputs by the parameter that takes its value from them: `unit: {input: NAME}`, `unit: NAME`, or a list."""
    entries = {} if field is None else field.named()
    return {
        name: (entry.need("input") if isinstance(entry.value, Mapping) else entry).text()
        for name, entry in entries.items()
    }
