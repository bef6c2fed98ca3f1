"""Files cut into frontmatter and body, and frontmatter read as JSON that `prompty.schema.json` accepts.

Cut by the later runtime specification, §2.1 and §2.2, but a fence has a line to itself, and there has to be
frontmatter: without a model there is nothing to run. A file may come from anywhere, so what must not be built is
refused first: very large files, very deep ones, and aliases, a few lines of which can stand for more than a machine
holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from looptck_reference.loop.values import Json
from looptck_reference.prompty.prompts.errors import Fault, PromptError, below
from looptck_reference.prompty.prompts.references import resolved

__all__ = ["parted", "read"]

LARGEST = 256 * 1024
"""The most bytes of a file."""
DEEPEST = 50
"""How deep its lists and mappings may lie in each other."""

_FRONT = re.compile(r"\s*^[ \t]*(---|\+\+\+)[ \t]*\n(?P<front>(?:.*\n)*?)\1[ \t]*$(?P<body>[\s\S]*)", re.MULTILINE)
_SCHEMA = json.loads(Path(__file__).with_name("prompty.schema.json").read_text(encoding="utf-8"))
_VALIDATOR = jsonschema_rs.validator_for(_SCHEMA, mask="its value")  # which may be a key


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, but that dates are texts, and names what is written, also `on` and `1`, and each stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Json:
        if not isinstance(node, yaml.MappingNode):
            super().construct_mapping(node)  # which says so
        members: Json = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in members:
                what = "a name that is no text, or that stands twice"
                raise yaml.constructor.ConstructorError(problem=what, problem_mark=key.start_mark)
            members[key.value] = self.construct_object(value, deep=True)
        return members


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_scalar)


def parted(path: Path) -> tuple[str, str]:
    """Frontmatter and body of a file, with empty lines before them, so that lines keep their numbers.

    Raises:
        PromptError: there is no such file, or it is no text, or too large, or does not begin with frontmatter.
    """
    if not path.is_file():
        raise PromptError(path, None, "there is no such file")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise PromptError(path, None, f"is larger than {LARGEST} bytes; shorten it, and pass long texts as inputs")
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise PromptError(path, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PromptError(path, None, f"is not UTF-8 text, from byte {error.start} on; save it as UTF-8") from error
    found = _FRONT.match(text)
    if found is None:
        raise PromptError(path, None, "does not begin with frontmatter; put it between two lines of ---")
    front, body = ("\n" * text.count("\n", 0, found.start(part)) + found[part] for part in ("front", "body"))
    return front, body


def read(front: str, environment: Mapping[str, str]) -> Json:
    """The frontmatter as JSON, its references resolved.

    Raises:
        Fault: it is not YAML, holds what must not be built, or is not what the schema says.
    """
    try:
        _let_in(front)
        content: Json = resolved(yaml.load(front, Loader=_Loader), environment)  # noqa: S506  a safe loader
        json.dumps(content, allow_nan=False)
        wrong = next(_VALIDATOR.iter_errors(_said(content)), None)
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise Fault("", f"the frontmatter is no YAML that JSON has words for: {error}") from error
    if wrong is not None:
        pointer = reduce(below, wrong.instance_path, "")
        known = getattr(wrong.kind, "options", ())  # the message has two of them and counts the rest
        what = f"its value is none of {', '.join(known)}" if known else wrong.message
        raise Fault(pointer, what if pointer else f"the frontmatter: {what}")
    return content


def _let_in(front: str) -> None:
    depth = 0
    for event in yaml.parse(front, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise Fault("", f"the frontmatter holds the alias *{event.anchor}; write out what it stands for")
        if depth > DEEPEST:
            raise Fault("", f"the frontmatter is nested more than {DEEPEST} deep; make it flatter")


def _said(value: Any) -> Any:
    """A value without the names that have nothing behind them: they say nothing."""
    if isinstance(value, dict):
        return {name: _said(one) for name, one in value.items() if one is not None}
    return [_said(one) for one in value] if isinstance(value, list) else value
