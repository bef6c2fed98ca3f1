"""The context of a run: append-only messages, and the values that references find in them.

Agent/Output, "Dynamic Variable Resolution": results are merged when they are read, not when they are written. The value
of a path starts from its newest `set`; later merges, assignments, pushes and concatenations are applied to it, oldest
first. Folding all messages of a kind into one tree, oldest to newest, yields the same values for all paths at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from looptck_reference.agent_loop_010.calls import METHODS, Call, Method
from looptck_reference.agent_loop_010.expressions import MISSING, AllOf, BadExpression, Found, Path, targets
from looptck_reference.agent_loop_010.messages import Message, data, is_message
from looptck_reference.vocabulary.values import Json

__all__ = ["Context"]

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_UNTYPED = "data"


class Context:
    """The messages, the values read from them, and the results that calls add to them.

    Returned values are those of the messages themselves; callers must not change them in place.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.messages = list(messages)

    def append(self, message: Message) -> None:
        """Add a message as the newest one."""
        self.messages.append(message)

    def look(self, path: Path, instance: str | None = None) -> Found:
        """The value that a call of this instance finds at a path, or `MISSING`."""
        return _at(reduce(self.folded, self.seen(path.kind, instance), MISSING), path.keys)

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        """Append the value that the Activity of a call returned, and return what was appended.

        A message is appended as it is, whatever the output path says; any other value is stored (Agent/Activity).
        """
        if is_message(value):
            self.append(value)
            return [value]
        return self.store(call, value, date)

    def store(self, call: Call, value: Any, date: str) -> list[Message]:
        """Append a value at the output path of a call, and return what was appended: nothing without an output path.

        Also used for the output of a latent call, which is never a message, whatever it looks like.
        """
        messages = [self.result(call, path, value, date) for path in self.destinations(call)]
        for message in messages:
            self.append(message)
        return messages

    def destinations(self, call: Call) -> tuple[Path, ...]:
        """The paths at which a result is stored: every path of `&&`, the first of `||` (Agent/Expressions)."""
        if call.output_path is None:
            return ()
        match targets(call.output_path):
            case Path() as path:
                return (path,)
            case AllOf(operands):
                return operands
            case alternatives:
                return alternatives.operands[:1]

    def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
        """The data message that stores a result at a path, with the call as the model wrote it (Agent/Output)."""
        for key in reversed(path.keys):
            value = {key: value}
        kind = None if path.kind == _UNTYPED else path.kind
        return data(kind, value, _instance=call.instance, _call=call.raw, _date=date, _outputMethod=call.method)

    def seen(self, kind: str, instance: str | None) -> list[Message]:
        """The messages of a kind that a call of this instance sees: the common ones, then its own, which win.

        Agent/Instancing: a message without `_instance` is common to all, a message with it is visible to that instance
        only.
        """
        alike = [message for message in self.messages if _kind(message) == kind]
        common = [message for message in alike if message.get("_instance") is None]
        return common + [message for message in alike if instance is not None and message.get("_instance") == instance]

    def folded(self, tree: Found, message: Message) -> Found:
        """The tree of a kind after one more message."""
        for keys, method, value in self.writes(message):
            tree = _changed(tree, keys, partial(self.applied, method=method, value=value))
        return tree

    def writes(self, message: Message) -> Iterator[tuple[tuple[str, ...], Method, Any]]:
        """The effect of a message: keys, method, value.

        A result is written at the output path of its call. A message that no call wrote has no path: it is a patch that
        is merged into the existing value (Agent/Data, "Merging and Identity"), or applies its method to each of its
        fields.
        """
        body = _body(message)
        method = _method(message)
        written = _written_at(message, body)
        if body is MISSING:
            return
        if written is not None:
            yield written, method, _at(body, written)
        elif method == "set":
            yield (), "merge", body
        elif isinstance(body, dict):
            for name, value in body.items():
                yield (name,), method, value
        else:
            yield (), method, body

    def applied(self, base: Found, method: Method, value: Any) -> Any:
        """The value of a path after a write; an existing value that does not fit the method is ignored."""
        return _COMBINED[method](base, value)


def _set(base: Found, value: Any) -> Any:
    return value


def _merge(base: Found, value: Any) -> Any:
    if not isinstance(base, dict) or not isinstance(value, dict):
        return value
    return {**base, **{name: _merge(base.get(name, MISSING), inner) for name, inner in value.items()}}


def _assign(base: Found, value: Any) -> Any:
    return {**base, **value} if isinstance(base, dict) and isinstance(value, dict) else value


def _push(base: Found, value: Any) -> Any:
    return [*(base if isinstance(base, list) else ()), value]


def _concat(base: Found, value: Any) -> Any:
    if isinstance(value, str) and not isinstance(base, list):
        return (base if isinstance(base, str) else "") + value
    return [*(base if isinstance(base, list) else ()), *(value if isinstance(value, list) else (value,))]


_COMBINED: dict[Method, Callable[[Found, Any], Any]] = {
    "set": _set,
    "merge": _merge,
    "assign": _assign,
    "push": _push,
    "concat": _concat,
}


def _kind(message: Message) -> str | None:
    match message.get("type"):
        case "data":
            return message.get("kind") or _UNTYPED
        case "input" | "state" as kind:
            return str(kind)
        case _:
            return None


def _body(message: Message) -> Found:
    """The content of a message for its kind, or `MISSING`."""
    match message["type"]:
        case "state":
            return {name: value for name, value in message.items() if name != "type" and not name.startswith("_")}
        case type:
            return message.get(type, MISSING)


def _method(message: Message) -> Method:
    return next((method for method in METHODS if method == message.get("_outputMethod")), "set")


def _written_at(message: Message, body: Found) -> tuple[str, ...] | None:
    """The keys at which a call wrote this message: the path in the call that leads into it. None for other messages."""
    match message.get("_call"):
        case {"_outputPath": str(output_path)}:
            pass
        case _:
            return None
    try:
        expression = targets(output_path)
    except BadExpression:
        return None
    paths = (expression,) if isinstance(expression, Path) else expression.operands
    kind = _kind(message)
    return next((path.keys for path in paths if path.kind == kind and _at(body, path.keys) is not MISSING), None)


def _at(value: Found, keys: Sequence[str]) -> Found:
    for key in keys:
        index = _index(value, key)
        if index is not None:
            value = value[index]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return MISSING
    return value


def _changed(base: Found, keys: Sequence[str], change: Callable[[Found], Any]) -> Any:
    """A copy of a tree with a new value at these keys; missing objects on the way are created."""
    if not keys:
        return change(base)
    key, *deeper = keys
    index = _index(base, key)
    if index is not None:
        return [*base[:index], _changed(base[index], deeper, change), *base[index + 1 :]]
    fields: Json = base if isinstance(base, dict) else {}
    return {**fields, key: _changed(fields.get(key, MISSING), deeper, change)}


def _index(value: Found, key: str) -> int | None:
    """The array index that a key denotes; None if the value is no array or has no such element."""
    if isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
        return int(key)
    return None
