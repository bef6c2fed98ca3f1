"""Message formats: the messages or items that a turn adds to the next request, in a comparable form.

Ids come from the script and are the same every time. Arguments are compared by value, so their text is replaced by the
parsed JSON. The order of keys does not count.
"""

from __future__ import annotations

import json
from typing import Any

from looptck.bench.run import Run
from looptck.values.jsontext import plain
from looptck.values.plain import plain as worded

LISTS = {"openai-chat": "messages", "openai-responses": "input", "anthropic-messages": "messages"}
"""By wire: the member of a request that holds the history."""


def as_sent(run: Run, n: int) -> list[Any]:
    """The items that the request after turn ``n`` adds; all of its items if it relies on server-side state.

    Raises NotReached if there is no such request.
    """
    run.delivered(n)
    member = LISTS[run.cell.wire]
    before, after = run.request(n).body[member], run.request(n + 1).body[member]
    if run.request(n + 1).request.continues is not None:
        return [_comparable(one) for one in after]
    return [_comparable(one) for one in after[len(before) if isinstance(before, list) else 1 :]]


def unlike(wanted: Any, got: Any, pointer: str = "") -> list[str]:
    """The differences between a value and a format; empty if there are none.

    A key whose name ends in ``?`` may be missing; every other key has to be there, and no further one. ``...`` matches
    any value, a function those for which it returns True.
    """
    if wanted is ...:
        return []
    if callable(wanted):
        return [] if wanted(got) else [f"{pointer}: {got!r} is wrong"]
    if isinstance(wanted, dict):
        return _unlike_object(wanted, got, pointer)
    if isinstance(wanted, list) and isinstance(got, list):
        pairs = enumerate(zip(wanted, got, strict=False))
        found = [one for place, pair in pairs for one in unlike(*pair, f"{pointer}/{place}")]
        if len(wanted) != len(got):
            found.append(f"{pointer}: {len(got)} entries, not {len(wanted)}")
        return found
    return [] if type(wanted) is type(got) and wanted == got else [f"{pointer}: {worded(got)}, not {worded(wanted)}"]


def _unlike_object(wanted: dict[str, Any], got: Any, pointer: str) -> list[str]:
    if not isinstance(got, dict):
        return [f"{pointer}: {got!r} is not an object"]
    known = {key.removesuffix("?"): value for key, value in wanted.items()}
    found = [f"{pointer}/{key}: the format has no such key" for key in got if key not in known]
    for key, value in wanted.items():
        name = key.removesuffix("?")
        if name in got:
            found += unlike(value, got[name], f"{pointer}/{name}")
        elif name == key:
            found.append(f"{pointer}/{name}: missing")
    return found


def _comparable(value: Any) -> Any:
    if isinstance(value, list):
        return [_comparable(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {key: _parsed(one) if key == "arguments" else _comparable(one) for key, one in value.items()}


def _parsed(arguments: Any) -> Any:
    try:
        return plain(json.loads(arguments))
    except (TypeError, ValueError):
        return arguments
