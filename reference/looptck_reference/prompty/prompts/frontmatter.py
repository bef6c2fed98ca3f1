"""Split files into frontmatter and body, and parse frontmatter as JSON that `prompty.schema.json` accepts.

Files are split by the later runtime specification, §2.1 and §2.2, with two stricter rules: a fence must be alone on its
line, and frontmatter is required, because a prompt without a model cannot run. Files may come from untrusted sources,
so dangerous content is refused before parsing: very large files, deep nesting, and aliases, a few lines of which can
expand to more than the memory.
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

from looptck_reference.prompty.prompts.errors import Fault, PromptError, below
from looptck_reference.prompty.prompts.references import resolved
from looptck_reference.vocabulary.values import Json

__all__ = ["parted", "read"]

LARGEST = 256 * 1024
"""The maximum size of a file in bytes."""
DEEPEST = 50
"""The maximum nesting depth of lists and mappings."""

_FRONT = re.compile(r"\s*^[ \t]*(---|\+\+\+)[ \t]*\n(?P<front>(?:.*\n)*?)\1[ \t]*$(?P<body>[\s\S]*)", re.MULTILINE)
_SCHEMA = json.loads(Path(__file__).with_name("prompty.schema.json").read_text(encoding="utf-8"))
_VALIDATOR = jsonschema_rs.validator_for(_SCHEMA, mask="its value")  # the value may be an API key


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, except that dates and all keys (also `on` and `1`) stay strings, and keys must be unique."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Json:
        if not isinstance(node, yaml.MappingNode):
            super().construct_mapping(node)  # raises the error
        members: Json = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in members:
                what = "a key that is not a string, or a duplicate key"
                raise yaml.constructor.ConstructorError(problem=what, problem_mark=key.start_mark)
            members[key.value] = self.construct_object(value, deep=True)
        return members


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_scalar)


def parted(path: Path) -> tuple[str, str]:
    """Frontmatter and body of a file, each padded with empty lines so that line numbers are those of the file.

    Raises:
        PromptError: the file does not exist, is not text, is too large, or does not begin with frontmatter.
    """
    if not path.is_file():
        raise PromptError(path, None, "the file does not exist")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise PromptError(path, None, f"is larger than {LARGEST} bytes; shorten it, and pass long texts as inputs")
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise PromptError(path, None, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PromptError(path, None, f"is not valid UTF-8 at byte {error.start}; save it as UTF-8") from error
    found = _FRONT.match(text)
    if found is None:
        raise PromptError(path, None, "does not begin with frontmatter; put it between two lines of ---")
    front, body = ("\n" * text.count("\n", 0, found.start(part)) + found[part] for part in ("front", "body"))
    return front, body


def read(front: str, environment: Mapping[str, str]) -> Json:
    """The frontmatter as JSON, with its references resolved.

    Raises:
        Fault: it is not YAML, it has aliases or is nested too deeply, or the schema does not accept it.
    """
    try:
        _refuse_dangerous(front)
        content: Json = resolved(yaml.load(front, Loader=_Loader), environment)  # noqa: S506  a safe loader
        json.dumps(content, allow_nan=False)
        wrong = next(_VALIDATOR.iter_errors(_without_nulls(content)), None)
    except (yaml.YAMLError, TypeError, ValueError) as error:
        raise Fault("", f"the frontmatter is not YAML that can be expressed as JSON: {_said(error)}") from error
    if wrong is not None:
        pointer = reduce(below, wrong.instance_path, "")
        known = getattr(wrong.kind, "options", ())  # the message names only two of them
        what = f"its value must be one of {', '.join(known)}" if known else wrong.message
        raise Fault(pointer, what if pointer else f"the frontmatter: {what}")
    return content


def _said(error: Exception) -> str:
    """What an error says, with its places in brackets: the library does not know the file, and says so each time."""
    return re.sub(r'\s+in "<\w+ string>", (line \d+, column \d+)', r" (\1)", str(error))


def _refuse_dangerous(front: str) -> None:
    depth = 0
    for event in yaml.parse(front, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent):
            raise Fault("", f"the frontmatter contains the alias *{event.anchor}; write its value out instead")
        if depth > DEEPEST:
            raise Fault("", f"the frontmatter is nested more than {DEEPEST} levels deep; make it flatter")


def _without_nulls(value: Any) -> Any:
    """A value without the members that are null: they count as absent."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
