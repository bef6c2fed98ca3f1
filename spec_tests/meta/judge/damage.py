"""Damage: what a judge says of a good request in which one place is not as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from looptck.values.problem import Problem

Path = tuple[str | int, ...]

OTHERS: dict[str, Any] = {
    "null": None,
    "true": True,
    "-3": -3,
    "1e12": 10**12,
    "0.5": 0.5,
    "''": "",
    "'?|'": "?|",
    "'computer_screenshot'": "computer_screenshot",
    "long text": "x" * 600,
    "[]": [],
    "[7]": [7],
    "{}": {},
    "{'?': 7}": {"?": 7},
}
"""What stands in place of a member, by what it is called: of every type, beyond every bound, of a kind that is known at
other places alone."""
MANY = 130
"""More members than any list or object of a request may have, but for its messages."""


def refused(judge: Callable[[object], list[Problem]], body: Any) -> str:
    """A line for each place of a good request: by the rule, what must not be done there."""
    found: dict[str, dict[str, set[str]]] = {}
    assert [] == judge(body)
    for path in _places(body):
        rules = found.setdefault(_named(body, path), {})
        for what, damaged in _damaged(body, path):
            for problem in judge(damaged)[:1]:
                rules.setdefault(problem.rule, set()).add(what)
    return "\n".join(f"{place}: {_described(rules)}" for place, rules in sorted(found.items())) + "\n"


def _described(rules: dict[str, set[str]]) -> str:
    return "; ".join(f"{rule}: {', '.join(sorted(what))}" for rule, what in sorted(rules.items())) or "anything"


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    yield path
    for key, member in members:
        yield from _places(member, (*path, key))


def _named(body: Any, path: Path) -> str:
    """A place, with the kind of what is in a list behind its number."""
    words = []
    for step in path:
        body = body[step]
        kind = body.get("role", body.get("type", "")) if isinstance(body, dict) else ""
        words.append(f"{step} {kind}".strip() if isinstance(step, int) else step)
    return "/" + "/".join(words)


def _damaged(body: Any, path: Path) -> Iterator[tuple[str, Any]]:
    """The request with each damage that can be done at a place, and its name."""
    value = _at(body, path)
    for name, other in OTHERS.items():
        if type(other) is not type(value) or other != value:
            yield name, _with(body, path, other)
    if path and isinstance(path[-1], str):
        yield "missing", _with(body, path[:-1], {k: v for k, v in _at(body, path[:-1]).items() if k != path[-1]})
    if isinstance(value, dict):
        yield "with more", _with(body, path, {**value, "?": 7})
        yield "with many", _with(body, path, {**value, **{f"m{n}": "x" for n in range(MANY)}})
    elif isinstance(value, list) and value:
        yield "with many", _with(body, path, value[:1] * MANY)


def _at(body: Any, path: Path) -> Any:
    for step in path:
        body = body[step]
    return body


def _with(body: Any, path: Path, value: Any) -> Any:
    """The request with another value at a place."""
    if not path:
        return value
    step, below = path[0], path[1:]
    if isinstance(step, int):
        return [*body[:step], _with(body[step], below, value), *body[step + 1 :]]
    return {**body, step: _with(body[step], below, value)}
