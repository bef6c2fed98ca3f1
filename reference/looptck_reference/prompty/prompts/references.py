"""References in frontmatter: `${env:NAME}` and `${env:NAME:default}`, alone or inside other text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from looptck_reference.prompty.prompts.errors import Fault, below

__all__ = ["resolved"]

_REFERENCE = re.compile(r"\$\{(?P<protocol>\w+):(?P<name>[^:}]*)(?P<default>:[^}]*)?(?P<end>\}?)")


def resolved(value: Any, environment: Mapping[str, str], pointer: str = "") -> Any:
    """A value with the references in all its strings replaced; `pointer` is the value's location.

    Everything after the second colon is the default; it may contain colons or be empty. The value of a variable is not
    searched for references again. The later specification leaves unknown protocols unchanged (§4.2), which would send
    the key `${vault:KEY}` to a provider as it is, so they are refused here.

    Raises:
        Fault: a variable is not set and has no default, or the protocol of a reference is unknown.
    """
    if isinstance(value, dict):
        return {name: resolved(one, environment, below(pointer, name)) for name, one in value.items()}
    if isinstance(value, list):
        return [resolved(one, environment, below(pointer, index)) for index, one in enumerate(value)]
    if not isinstance(value, str):
        return value
    return _REFERENCE.sub(lambda found: _value(found, environment, pointer), value)


def _value(found: re.Match[str], environment: Mapping[str, str], pointer: str) -> str:
    name, default = found["name"], found["default"]
    if not found["end"]:
        raise Fault(pointer, f"contains a reference without its closing brace: {found[0]}")
    if found["protocol"] != "env":
        known = "use ${env:NAME} or ${env:NAME:default}"
        raise Fault(pointer, f"contains {found[0]}, whose protocol is unknown; {known}")
    if name in environment:
        return environment[name]
    if default is None:
        advice = f"set it, or give it a default: ${{env:{name}:…}}"
        raise Fault(pointer, f"refers to the environment variable {name!r}, which is not set; {advice}")
    return default[1:]
