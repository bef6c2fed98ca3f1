"""The context of a run: messages that are only ever appended, and the values that references find in them.

Agent/Output, "Dynamic Variable Resolution": results are not merged when they are written but when they are read. The
newest `set` of a path decides, and what was merged, assigned, pushed or concatenated since is applied to it, oldest
first. All messages of a kind, folded oldest to newest into one tree, hold the same for every path at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from typing import Any

from looptck_reference.agent_loop_010.calls import METHODS, Call, Method
from looptck_reference.agent_loop_010.expressions import MISSING, AllOf, BadExpression, Found, Path, targets
from looptck_reference.agent_loop_010.messages import Message, data, is_message
from looptck_reference.values import Json

__all__ = ["Context"]

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_UNTYPED = "data"


class Context:
    """The messages, what is read from them, and what the results of calls add to them.

    Values are handed out as they stand in the messages; nobody changes them in place.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.messages = list(messages)

    def append(self, message: Message) -> None:
        """Add a message; it is the newest now."""
        self.messages.append(message)

    def look(self, path: Path, instance: str | None = None) -> Found:
        """What a call of this instance finds at a path, `MISSING` if that is nothing."""
        return _at(reduce(self.folded, self.seen(path.kind, instance), MISSING), path.keys)

    def write(self, call: Call, value: Any, date: str) -> list[Message]:
        """Append what the Activity of a call returned, and give back what was appended.

        A message is appended as it is, whatever the output path says; any other value is stored (Agent/Activity).
        """
        if is_message(value):
            self.append(value)
            return [value]
        return self.store(call, value, date)

    def store(self, call: Call, value: Any, date: str) -> list[Message]:
        """Append a value at the output path of a call, and give back what was appended: nothing if it has none.

        For what a model gave as the output of a latent call, too: whatever it looks like, it is no message.
        """
        messages = [self.result(call, path, value, date) for path in self.destinations(call)]
        for message in messages:
            self.append(message)
        return messages

    def destinations(self, call: Call) -> tuple[Path, ...]:
        """Where a result is written: to every path of `&&`, to the first of `||` (Agent/Expressions)."""
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
        """The data message that holds a result at a path, with the call as the model wrote it (Agent/Output)."""
        for key in reversed(path.keys):
            value = {key: value}
        kind = None if path.kind == _UNTYPED else path.kind
        return data(kind, value, _instance=call.instance, _call=call.raw, _date=date, _outputMethod=call.method)

    def seen(self, kind: str, instance: str | None) -> list[Message]:
        """The messages of a kind that a call of this instance sees: those of all, then its own, which win.

        Agent/Instancing: a message without `_instance` is everybody's, one with it is seen by that instance only.
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
        """What a message writes: keys, method, value.

        A result is written at the output path of its call. A message that no call wrote names no path: it is a patch,
        merged into what is there (Agent/Data, "Merging and Identity"), or applies its method to each of its fields.
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
        """What a path holds after a write; what is there and does not fit the method counts as nothing."""
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
    """What a message says about its kind, `MISSING` if it lacks it."""
    match message["type"]:
        case "state":
            return {name: value for name, value in message.items() if name != "type" and not name.startswith("_")}
        case type:
            return message.get(type, MISSING)


def _method(message: Message) -> Method:
    return next((method for method in METHODS if method == message.get("_outputMethod")), "set")


def _written_at(message: Message, body: Found) -> tuple[str, ...] | None:
    """The keys at which a call wrote this message, None if no call did: the path in the call that leads into it."""
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
    """A copy of a tree with what stands at the keys changed; objects are made on the way where there is none."""
    if not keys:
        return change(base)
    key, *deeper = keys
    index = _index(base, key)
    if index is not None:
        return [*base[:index], _changed(base[index], deeper, change), *base[index + 1 :]]
    fields: Json = base if isinstance(base, dict) else {}
    return {**fields, key: _changed(fields.get(key, MISSING), deeper, change)}


def _index(value: Found, key: str) -> int | None:
    """The index that a key is in an array, None if the value is no array or has no such element."""
    if isinstance(value, list) and _INDEX.fullmatch(key) and int(key) < len(value):
        return int(key)
    return None
