"""YAML as a cassette is written: texts of several lines as they are, where YAML can, and nothing by reference."""

from __future__ import annotations

from typing import Any

import yaml

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


_SEPARATORS = {"\x85", "\u2028", "\u2029"}
"""YAML takes them for line ends where they are not escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _SEPARATORS & set(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def written(content: Any, *, flow: bool | None = False) -> str:
    """The text of a content; ``flow``: whether collections are in braces and brackets, None: those without others."""
    text: str = yaml.dump(
        content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120, default_flow_style=flow
    )
    return text


def read(text: str) -> Any:
    """What a reader makes of a text that was written. Raises ValueError if it is no YAML."""
    try:
        return yaml.load(text, Loader=_Loader)  # noqa: S506  a safe loader
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error
