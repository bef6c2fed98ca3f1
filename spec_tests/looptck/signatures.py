"""Tools as users write them: Python functions with a name, a docstring and annotated parameters.

Most frameworks make what they offer from a function's signature and check arguments against it, and their first page
shows nothing else. The kit hands over a JSON Schema, so the function that has it is made here, with pydantic, which
each of these frameworks needs itself. What no signature can say (a name that Python does not allow, ``$ref``, a tool
that takes any argument) is for the framework's own way to take a schema.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from inspect import Parameter, Signature, iscoroutinefunction
from typing import Annotated, Any, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, create_model

Json = dict[str, Any]

_PLAIN: dict[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": None}
_SAID = {
    "type", "description", "title", "enum", "const", "anyOf", "oneOf", "items", "properties", "required",
    "additionalProperties",
}  # fmt: skip
"""The schema members that annotations can express here."""


class Unsaid(Exception):
    """No signature can express this schema."""


class Classes:
    """Makes the classes of one function, each with a name of its own: frameworks tell them apart by their names."""

    def __init__(self, models: bool) -> None:
        self._models = models
        self._made: Counter[str] = Counter()

    def model(self, name: str, config: ConfigDict, fields: Json) -> Any:
        """A model of pydantic's for the member ``name``."""
        if not self._models:
            raise Unsaid(name)
        name = name.title().replace("_", "")
        self._made[name] += 1
        number = self._made[name]
        return create_model(name if number == 1 else f"{name}{number}", __config__=config, **fields)


def written(
    tool: Json,
    call: Callable[..., Any] | Callable[..., Awaitable[Any]],
    *,
    annotated: bool | Callable[[str], Any] = False,
    models: bool = True,
) -> Callable[..., Any] | None:
    """The function that a user would write for a tool; a coroutine function if ``call`` is one.

    An optional parameter has the default None and is passed on only if it has another value. The result is None if no
    signature can express the tool's parameters.

    Args:
        tool: The tool of the case.
        call: Its handler.
        annotated: Descriptions of parameters are in annotations, as in ``Annotated[str, "The city's name."]``, for
            frameworks that read them there; otherwise they are in the docstring. A function makes what stands there of
            a description, such as ``Field(description=…)``.
        models: An object with members is a model of pydantic's. False is for frameworks that do not read these: the
            result is None if the tool needs one.
    """
    try:
        parameters = _parameters(tool["parameters"], Classes(models))
    except Unsaid:
        return None
    about = {name: one["description"] for name, one in _properties(tool) if one.get("description")}
    if annotated:
        said = annotated if callable(annotated) else str
        parameters = [
            one.replace(annotation=Annotated[one.annotation, said(about[one.name])]) if one.name in about else one
            for one in parameters
        ]
        about = {}
    signature = Signature(parameters, return_annotation=Any)

    def given(positional: tuple[Any, ...], named: Json) -> Json:
        arguments = signature.bind(*positional, **named).arguments
        parameters = signature.parameters
        return {
            name: _as_json(value)
            for name, value in arguments.items()
            if value is not None or parameters[name].default is Parameter.empty
        }

    def plain(*positional: Any, **named: Any) -> Any:
        return call(**given(positional, named))

    async def coroutine(*positional: Any, **named: Any) -> Any:
        return await call(**given(positional, named))

    function: Callable[..., Any] = coroutine if iscoroutinefunction(call) else plain
    function.__name__ = function.__qualname__ = tool["name"]
    function.__doc__ = _docstring(tool["description"], about)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {name: one.annotation for name, one in signature.parameters.items()} | {"return": Any}
    return function


def _properties(tool: Json) -> Iterable[tuple[str, Json]]:
    """Names and schemas of the tool's parameters, without those that say nothing."""
    return ((name, one) for name, one in tool["parameters"].get("properties", {}).items() if isinstance(one, dict))


def _docstring(description: str, about: dict[str, str]) -> str:
    """The docstring with the descriptions of tool and parameters, in Google's style, which these frameworks parse."""
    lines = [description]
    if about:
        lines += ["", "Args:", *(f"    {name}: {text}" for name, text in about.items())]
    return "\n".join(lines)


def _parameters(schema: Json, classes: Classes) -> list[Parameter]:
    """The parameters of the function, the required ones first."""
    if schema.get("type", "object") != "object" or schema.get("additionalProperties", False) is not False:
        raise Unsaid(schema)
    if strange := schema.keys() - {"type", "description", "title", "properties", "required", "additionalProperties"}:
        raise Unsaid(strange)
    properties = schema.get("properties", {})
    required = [name for name in properties if name in schema.get("required", ())]
    optional = [name for name in properties if name not in required]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return [
        *(Parameter(_name(name), kind, annotation=_annotation(name, properties[name], classes)) for name in required),
        *(
            Parameter(
                _name(name), kind, annotation=_or_none(_annotation(name, properties[name], classes)), default=None
            )
            for name in optional
        ),
    ]


def _name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise Unsaid(name)
    return name


def _annotation(name: str, schema: Any, classes: Classes) -> Any:
    """The annotation for a schema; ``name`` is the name of its class, if it needs one."""
    if schema is True or schema == {}:
        return Any
    if not isinstance(schema, dict) or schema.keys() - _SAID:
        raise Unsaid(schema)
    if "enum" in schema or "const" in schema:
        return Literal[tuple(schema.get("enum", [schema.get("const")]))]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return _one_of(_annotation(name, one, classes) for one in choices)
    match schema.get("type"):
        case list(types):
            return _one_of(_annotation(name, {**schema, "type": one}, classes) for one in types)
        case "array":
            return list[_annotation(name, schema.get("items", True), classes)]  # type: ignore[misc]
        case "object":
            if schema.get("properties"):
                return _class(name, schema, classes)
            return dict[str, _values(name, schema, classes)]  # type: ignore[misc]
        case kind if kind in _PLAIN:
            return _PLAIN[kind]
    raise Unsaid(schema)


def _one_of(annotations: Iterable[Any]) -> Any:
    return Union[tuple(annotations)]  # noqa: UP007 - made here, not written


def _or_none(annotation: Any) -> Any:
    return _one_of([annotation, None])


def _values(name: str, schema: Json, classes: Classes) -> Any:
    values = schema.get("additionalProperties", True)
    if values is False:
        raise Unsaid(schema)
    return _annotation(name, values, classes)


def _class(name: str, schema: Json, classes: Classes) -> Any:
    """A model of an object, with a field for each property."""
    open_ = schema.get("additionalProperties", False)
    if not isinstance(open_, bool):
        raise Unsaid(schema)
    fields: Json = {}
    for key, one in schema["properties"].items():
        annotation, about = _annotation(_name(key), one, classes), one.get("description")
        if key in schema.get("required", ()):
            fields[key] = (annotation, Field(description=about))
        else:
            fields[key] = (_or_none(annotation), Field(default=None, description=about))
    config = ConfigDict(extra="allow" if open_ else "forbid")
    return classes.model(name, config, fields)


def _as_json(value: Any) -> Any:
    """The JSON value from which a framework made an argument."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, list):
        return [_as_json(one) for one in value]
    if isinstance(value, dict):
        return {key: _as_json(one) for key, one in value.items()}
    return value
