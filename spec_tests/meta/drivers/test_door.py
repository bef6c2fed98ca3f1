"""``looptck.driver``: its types agree with the protocol's schemas, and its helpers have the documented effects."""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from looptck import driver
from looptck.catalogue.data import json_fixture
from looptck.drivers.protocol import complaint

Json = dict[str, Any]
TO = json_fixture("protocol/to-driver.schema.json")["$defs"]
FROM = json_fixture("protocol/from-driver.schema.json")["$defs"]
CASE = TO["case"]["properties"]
STARTED = FROM["started"]["properties"]


def _without(schema: Json, name: str) -> Json:
    """A schema of an object without one of its members."""
    properties = {key: one for key, one in schema["properties"].items() if key != name}
    return schema | {"properties": properties, "required": [one for one in schema["required"] if one != name]}


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (driver.Case, TO["case"]),
        (driver.Tool, TO["tool"]),
        (driver.TextPart, TO["text_part"]),
        (driver.ImagePart, TO["image_part"]),
        (driver.Message, TO["message"]),
        (driver.Call, TO["message"]["properties"]["calls"]["items"]),
        (driver.Decision, TO["decision"]),
        (driver.Resume, CASE["resume"]),
        (driver.Input, TO["input"]),
        (driver.Agent, CASE["agent"]),
        (driver.Options, CASE["options"]),
        (driver.Server, TO["server"]),
        (driver.Hosted, CASE["hosted_tools"]["items"]),
        (driver.Telemetry, CASE["telemetry"]),
        (driver.Member, TO["member"]),
        (driver.Started, _without(FROM["started"], "type")),
        (driver.Capabilities, STARTED["capabilities"]),
        (driver.Dialect, STARTED["dialect"]),
        (driver.Answer, STARTED["answer"]),
        (driver.AgentTools, STARTED["agent_tools"]),
        (driver.AgentTool, FROM["agent_tool"]),
        (driver.Value, FROM["value"]),
        (driver.Usage, FROM["usage"]),
        (driver.Error, FROM["error"]),
        (driver.Suspended, FROM["suspended"]),
        (driver.Pending, FROM["suspended"]["properties"]["calls"]["items"]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_types_are_those_of_the_schemas(kind: Any, schema: Json) -> None:
    """A typed dictionary has the members of its schema, required where those are, and of the same types."""
    hints = get_type_hints(kind)

    assert set(schema["properties"]) == set(hints)
    assert set(schema.get("required", ())) == kind.__required_keys__
    for name, annotation in hints.items():
        assert _fits(annotation, schema["properties"][name]), f"{name}: {annotation}"


def _fits(annotation: Any, schema: Any) -> bool:
    """Whether an annotation agrees with a schema, one level deep; nested values have their own types."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if schema is True or not schema.keys() - {"description"}:
        return annotation is Any
    if "oneOf" in schema:
        return len(arguments) == len(schema["oneOf"]) and all(map(_fits, arguments, schema["oneOf"]))
    if "enum" in schema or "const" in schema:
        return origin is Literal and set(schema.get("enum", [schema.get("const")])) == set(arguments)
    if isinstance(schema.get("type"), list):
        return origin is types.UnionType and {_NAMES[one] for one in arguments} == set(schema["type"])
    if schema.get("type") == "array":
        return origin is list and _fits(arguments[0], schema["items"])
    if "$ref" in schema or schema.get("properties"):
        return _is_one(annotation)
    if schema.get("type") == "object":
        return origin is dict and arguments[0] is str
    return annotation in _NAMES and _NAMES[annotation] == schema["type"]


def _is_one(annotation: Any) -> bool:
    return is_typeddict(annotation) or get_origin(annotation) is dict


_NAMES: dict[Any, str] = {str: "string", int: "integer", bool: "boolean", type(None): "null"}


def test_it_can_be_read_by_older_pythons() -> None:
    """The file has no syntax newer than Python 3.9, because it runs in the environments of its users."""
    ast.parse(Path(driver.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))


def test_values_of_helpers_fit_the_protocol() -> None:
    """The values of `started`, `value` and `error` fit the schemas."""
    start = driver.started(
        "x", "1", wires=["openai-chat"], modes=["sync"], dialect={"limit_counts": "tool-rounds"}, limit=True
    )
    outcomes: list[Any] = [
        driver.value("x"),
        driver.value(None, stop="length", output={"a": 1}),
        driver.value("x", usage={"input_tokens": 12, "output_tokens": None}),
        driver.error(ValueError("x"), "limit"),
        driver.suspended({"a": [1]}, [{"id": "c", "name": "note", "arguments": {}}]),
    ]

    assert None is complaint("from-driver", {"type": "started", **start})
    for outcome in outcomes:
        assert None is complaint("from-driver", {"type": "finished", "id": "1", "outcome": outcome})
    with pytest.raises(TypeError, match="no tokens"):
        driver.value("x", tokens=1)


class RateLimitError(Exception):
    """Named like a class of the openai package, whose errors have base classes."""


class APIError(Exception):
    """Likewise."""


class Unknown(APIError):
    """An unknown error with a known base class."""


def _caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError(), "other"),
        (Unknown(), "stream"),
        (_caused(RuntimeError(), APIError()), "stream"),
        (driver.ToolError(), "tool"),
        (_caused(RuntimeError(), driver.ToolError()), "tool"),
        (asyncio.CancelledError(), "cancelled"),
        (RecursionError(), "limit"),
        (_caused(RuntimeError(), RecursionError()), "limit"),
    ],
)
def test_reasons_are_found(error: Exception, reason: str) -> None:
    """An exception gets the reason of its class or of a base class, or else that of its cause."""
    assert reason == driver.error(error, reasons={RecursionError: "limit"})["reason"]


class Mute(Exception):
    """Cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_without_a_message_is_an_error() -> None:
    """An exception that cannot be written is the loop's error, and no fault of its driver."""
    outcome = driver.error(Mute())

    assert ("Mute", "<exception str() failed>") == (outcome["type"], outcome["message"])


def test_bases_are_the_classes_above() -> None:
    """A check for the type of an error takes one that extends it."""
    outcome = driver.error(Unknown("x"))

    assert ("Unknown", ["APIError", "Exception", "BaseException"]) == (outcome["type"], outcome["bases"])


def _case(mode: str, **tool: Any) -> driver.Case:
    parameters = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
    probe = {"name": "probe", "description": "Tries.", "parameters": parameters, "url": "http://127.0.0.1:9/"}
    return cast("driver.Case", {"mode": mode, "tools": [probe | tool, {**probe, "name": "none", "url": None}]})


@pytest.mark.parametrize(
    ("mode", "tool", "forced", "is_async"),
    [
        ("sync", {}, None, False),
        ("async", {}, None, True),
        ("async", {"handler": "sync"}, None, False),
        ("async", {}, "sync", False),
        ("sync", {}, "async", True),
    ],
)
def test_handlers_suit_the_run(mode: str, tool: Json, forced: Any, *, is_async: bool) -> None:
    """Handlers are sync or async as the run, the tool or the driver requires; a tool without URL has none."""
    made = driver.handlers(_case(mode, **tool), forced)

    assert ["probe"] == list(made)
    assert is_async == inspect.iscoroutinefunction(made["probe"])
    assert ("probe", "Tries.") == (made["probe"].__name__, made["probe"].__doc__)


def test_handlers_take_arguments_by_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler that is called by position sends each value under the parameter's name; one too many is an error."""
    sent: list[Any] = []

    def post(_: str, message: Any) -> Json:
        sent.append(message)
        return {"value": 3}

    monkeypatch.setattr(driver, "post", post)

    assert 3 == driver.handlers(_case("sync"))["probe"](1, b=2)
    assert 3 == asyncio.run(_awaited(driver.handlers(_case("async"))["probe"], 1, 2))
    assert [{"arguments": {"a": 1, "b": 2}}] * 2 == sent
    with pytest.raises(TypeError, match="probe takes 2 arguments, but was called with 3"):
        driver.handlers(_case("sync"))["probe"](1, 2, 3)


def test_handlers_raise_the_error_that_the_kit_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error has the name and the message that the kit asked for, and is recognized as a tool's error."""
    monkeypatch.setattr(driver, "post", lambda *_: {"error": {"type": "KeyError", "message": "no city"}})

    with pytest.raises(driver.ToolError, match="no city") as raised:
        driver.handlers(_case("sync"))["probe"](1)
    outcome = driver.error(raised.value)

    assert ("tool", "KeyError", "no city") == (outcome["reason"], outcome["type"], outcome["message"])


def test_handlers_return_parts_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and images are told from a value that is a list."""
    image = {"type": "image", "media_type": "image/png", "data": "aGk="}
    replies = [{"parts": [image]}, {"value": [image]}]
    monkeypatch.setattr(driver, "post", lambda *_: replies.pop(0))
    probe = driver.handlers(_case("sync"))["probe"]

    parts, listed = probe(1), probe(1)

    assert [image] == parts == listed
    assert [True, False] == [isinstance(one, driver.Parts) for one in (parts, listed)]


async def _awaited(call: Callable[..., Any], *arguments: Any) -> Any:
    return await call(*arguments)


def test_coroutine_handlers_wait_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many calls a loop runs together, none of them waits for a thread."""
    most = 40
    together = threading.Barrier(most, timeout=10)
    monkeypatch.setattr(driver, "run_tool", lambda *_: together.wait())
    handler = driver.handlers(_case("async"))["probe"]

    async def all_of_them() -> list[Any]:
        return [*await asyncio.gather(*(handler() for _ in range(most)))]

    assert sorted(asyncio.run(all_of_them())) == list(range(most))


def test_a_folder_is_on_the_import_path_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often drivers of it are loaded, and in front of the others each time."""
    monkeypatch.setattr(sys, "path", ["first"])
    for folder in ("one", "two", "one"):
        path = tmp_path / folder / "a_driver.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text("class Driver:\n    pass\n", encoding="utf-8")
        driver.load(f"{path}:Driver")

    assert [str(tmp_path / "one"), str(tmp_path / "two"), "first"] == sys.path


def test_a_slip_of_the_driver_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Standard error names the line, once, of the function that reports an error that it has raised itself."""
    nothing: Any = None
    for _ in range(2):
        try:
            nothing.content  # noqa: B018
        except AttributeError as exception:
            driver.error(exception)

    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(f"looptck: not the loop but {__file__}, line ")
    assert told.endswith("raised AttributeError: 'NoneType' object has no attribute 'content'")


@pytest.mark.parametrize("loop", [lambda: dict[str, str]()["city"], lambda: int("x"), lambda: ast.parse("(")])
def test_an_error_of_a_loop_in_the_same_file_is_no_slip(
    capsys: pytest.CaptureFixture[str], loop: Callable[[], object]
) -> None:
    """A loop may be written in the file of its driver."""
    try:
        loop()
    except (KeyError, ValueError, SyntaxError) as exception:
        driver.error(exception)

    assert "" == capsys.readouterr().err
