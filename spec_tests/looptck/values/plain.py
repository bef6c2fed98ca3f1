"""Plain words for values: JSON for JSON values, the value's own sentence if it has one, and no Python syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from itertools import takewhile
from typing import Any

from looptck.values.kinship import kinship

MOST = 240
"""The most characters of a value in a sentence."""
DEEPEST = 12


class Listed(list[Any]):
    """A list that messages show in plain words; an empty one is ``nothing``."""

    __slots__ = ()

    def __str__(self) -> str:
        return _words(list(self), DEEPEST) if self else "nothing"


def plain(value: object, most: int = 0) -> str:
    """A value in plain words; cut in the middle if it has more than ``most`` characters (0: never)."""
    return cut(_words(value, DEEPEST, outermost=True), most) if most else _words(value, DEEPEST, outermost=True)


def cut(text: str, most: int) -> str:
    """A text, cut in the middle if it is long."""
    if len(text) <= most:
        return text
    half = most // 2
    left_out = f" … {len(text) - 2 * half} characters … "
    return f"{text[:half]}{left_out}{text[-half:]}" if len(text) > most + len(left_out) else text


def begun(text: str, most: int) -> str:
    """A text, cut behind a word if it has more than this many characters."""
    if len(text) <= most:
        return text
    kept = text[:most]
    return f"{kept[: kept.rfind(' ')] if ' ' in kept else kept} …"


_BODY = re.compile(r"""\{.*?\\?["']message\\?["']:\s*(\\?["'])(?P<message>.*?)\1\s*[,}].*\}""", re.DOTALL)


def without_bodies(text: str) -> str:
    """A text in which only the message is left of an error's body, be it in JSON or as Python shows it."""
    return _BODY.sub(r"\g<message>", text)


def amount(count: int, one: str, more: str = "") -> str:
    """How many there are of what a word names: ``1 check``, ``2 checks``. ``more``: another plural than by an s."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def times(count: int) -> str:
    """How often something was done."""
    return "once" if count == 1 else f"{count} times"


def compared(op: str, left: object, right: object) -> str:
    """The message of a failed comparison; of two values that should be equal the left one is the expected one."""
    if op == "==":
        return differs(left, right)
    one, other = plain(left, MOST), plain(right, MOST)
    return {
        "!=": f"got {one}, which it should not be",
        "<": f"{one} is not less than {other}",
        "<=": f"{one} is more than {other}",
        ">": f"{one} is not more than {other}",
        ">=": f"{one} is less than {other}",
        "in": f"{one} is not in {other}",
        "not in": f"{one} is in {other}",
        "is": f"expected {other}, got {one}",
        "is not": f"got {one}, which it should not be",
    }.get(op, f"{one} {op} {other} does not hold")


def differs(expected: object, got: object) -> str:
    """The difference of two values that should be equal: both if they are short, else the first difference.

    It says how the one is made of the other, if that is known.
    """
    how = kinship(expected, got)
    return _difference(expected, got) + (f" ({how})" if how else "")


def _difference(expected: object, got: object) -> str:
    one, other = plain(expected), plain(got)
    if one == other:  # such as arguments and the text of the same arguments
        one, other = _as_json(expected, one), _as_json(got, other)
    if max(len(one), len(other)) <= MOST or type(expected) is not type(got):
        return f"expected {cut(one, MOST)}, got {cut(other, MOST)}"
    if isinstance(expected, str) and isinstance(got, str):
        return _texts(expected, got)
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key in (*expected, *(key for key in got if key not in expected)):
            if key not in got:
                return f"at {plain(key)}: expected {plain(expected[key], MOST)}, got nothing"
            if key not in expected:
                return f"at {plain(key)}: expected nothing, got {plain(got[key], MOST)}"
            if expected[key] != got[key]:
                return f"at {plain(key)}: {_difference(expected[key], got[key])}"
    if isinstance(expected, list | tuple) and isinstance(got, list | tuple):
        return _lists(expected, got)
    return f"expected {cut(one, MOST)}, got {cut(other, MOST)}"


def _as_json(value: object, otherwise: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        return otherwise


def _texts(expected: str, got: str) -> str:
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(expected, got, strict=False)))
    start = max(0, same - 20)
    one, other = (plain(text[start : start + MOST // 2]) for text in (expected, got))
    sizes = f"{len(expected)} characters and {len(got)}"
    return f"after {same} characters that are the same, expected …{one}…, got …{other}… ({sizes})"


def _lists(expected: Sequence[Any], got: Sequence[Any]) -> str:
    for place, (one, other) in enumerate(zip(expected, got, strict=False), 1):
        if one != other:
            return f"item {place}: {_difference(one, other)}"
    if len(expected) > len(got):
        return f"it ends after {len(got)} items; item {len(got) + 1} should be {plain(expected[len(got)], MOST)}"
    return f"item {len(expected) + 1} should not be there: {plain(got[len(expected)], MOST)}"


def _words(value: object, depth: int, *, outermost: bool = False) -> str:
    if isinstance(value, str):
        return repr(str(value)) if outermost else json.dumps(value, ensure_ascii=False)
    if value is None and outermost:
        return "nothing"
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    if isinstance(value, bytes | bytearray):
        return repr(value.decode(errors="replace"))
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)}: {_words(one, depth - 1)}" for key, one in value.items()) + "}"
    if isinstance(value, tuple) and _is_call(value):
        return f"{value[0]}({value[1] if isinstance(value[1], str) else _words(value[1], depth - 1)})"
    if isinstance(value, AbstractSet):
        return "[" + ", ".join(sorted(_words(one, depth - 1) for one in value)) + "]"
    if isinstance(value, Collection):
        return "[" + ", ".join(_words(one, depth - 1) for one in value) + "]"
    if type(value).__str__ is not object.__str__:
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        named = [(one, getattr(value, one.name)) for one in fields(value) if one.compare and one.repr]
        unusual = [(one.name, member) for one, member in named if member != one.default and member is not None]
        parts = (f"{name.replace('_', ' ')} {_words(member, depth - 1)}" for name, member in unusual)
        return " ".join((_spaced(type(value).__name__), ", ".join(parts))).rstrip()
    if isinstance(value, type):
        return _spaced(value.__name__)
    return _spaced(type(value).__name__)


def _is_call(value: tuple[Any, ...]) -> bool:
    """Whether a tuple is a tool's name and its arguments, as in lists of calls and tool runs."""
    match value:
        case (str(name), dict()):
            return _is_name(name)
        case (str(name), str(arguments)):
            return _is_name(name) and arguments.startswith("{")
        case _:
            return False


def _is_name(text: str) -> bool:
    """Whether a text may be the name of a tool, which may have hyphens."""
    return text.replace("-", "_").isidentifier()


def _key(key: object) -> str:
    return json.dumps(key if isinstance(key, str) else plain(key), ensure_ascii=False)


def _spaced(name: str) -> str:
    """A class's name as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.lstrip("_")).lower()
