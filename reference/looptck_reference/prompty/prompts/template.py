"""The body of a prompt: a Jinja2 template, cut into messages at role markers.

A marker is a line of its own, `system:`, `user:`, `assistant:` or `developer:`, in any case, indented or behind a `#`
(the later runtime specification, §2.10 and §6.2; `developer` came after it). Text before the first one is a system
message (§2.10). Empty lines around a message are not part of it.

Inputs never start a message. Before each rendering the template's own markers are replaced by marks that nobody can
guess, and only there is the text cut (§6.3, always on here). So a marker cannot be made of an input either, as in
`{{role}}:`. The marks have no letters, so that filters such as `upper` leave them whole.

What nobody gave is an error (§12.5). Only an input that the prompt declares and does not demand may be left out; it is
then empty (§12.2).

The sandbox keeps templates from Python and from changing inputs, and bounds each range; what is rendered is bounded
here. Not bounded is the time and space of a template that prints nothing: nested loops, macros that call themselves,
texts that are doubled. Whoever loads a prompt has to trust it that far; inputs need no trust.
"""

from __future__ import annotations

import re
import secrets
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from looptck_reference.loop.values import Json
from looptck_reference.prompty.prompts.errors import PromptError

__all__ = ["Template"]

LONGEST = 16 * 1024 * 1024
"""The most characters that a template may be rendered to."""

_ROLES = ("system", "user", "assistant", "developer")
_ATTRIBUTES = r"\[[^\]\n=]*+=[^\]\n]*+\]"
_MARKER = re.compile(
    rf"^[ \t]*+#?[ \t]*+({'|'.join(_ROLES)})[ \t]*+({_ATTRIBUTES})?[ \t]*+:[ \t]*+$", re.IGNORECASE | re.MULTILINE
)
_ENVIRONMENT = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
_ENVIRONMENT.globals.pop("lipsum")  # text by chance, and without bound


@dataclass(frozen=True, slots=True)
class Template:
    """A body, with as many empty lines before it as its file has, so that lines keep their number.

    Raises:
        PromptError: it is empty, or no template, or has a marker of a form that is not read here.
    """

    path: Path
    body: str

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise PromptError(self.path, None, "says nothing after its frontmatter; write `user:` and a text below it")
        for marker in _MARKER.finditer(self.body):
            if marker[2]:
                line = self.body.count("\n", 0, marker.start()) + 1
                raise PromptError(self.path, line, f"attributes of a role are not known here; write `{marker[1]}:`")
        self._compiled(self.body)

    def messages(self, inputs: Mapping[str, Any], *, omitted: Iterable[str] = ()) -> list[Json]:
        """The messages that the template makes of its inputs; those that are `omitted` are empty.

        Raises:
            PromptError: the template cannot be filled in with these inputs.
        """
        nonce = f"[[{secrets.randbits(128)}:"
        marked = _MARKER.sub(lambda marker: f"{nonce}{_ROLES.index(marker[1].lower())}]]", self.body)
        context = {name: jinja2.Undefined(name=name) for name in omitted} | dict(inputs)
        text = "".join(self._bounded(self._compiled(marked).generate(context)))
        before, *parts = re.split(rf"{re.escape(nonce)}(\d)\]\]", text)
        said = [(_ROLES[int(role)], content) for role, content in zip(parts[::2], parts[1::2], strict=True)]
        if before.strip() or marked == self.body:
            said.insert(0, ("system", before))
        if not said:
            raise PromptError(self.path, None, "the template makes no message of its inputs")
        return [{"role": role, "content": content.strip("\n")} for role, content in said]

    def _compiled(self, source: str) -> jinja2.Template:
        try:
            return _ENVIRONMENT.from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise PromptError(self.path, error.lineno, f"the template cannot be read: {error.message}") from error
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise PromptError(self.path, None, "the template is nested too deep; make it flatter") from error

    def _bounded(self, pieces: Iterator[str]) -> Iterator[str]:
        """What is rendered, as long as it goes well."""
        length = 0
        while True:
            try:
                piece = next(pieces, None)
            except jinja2.UndefinedError as error:
                mend = "pass it, or declare it as an input with a default"
                raise PromptError(self.path, _line(error), f"{error.message}; {mend}") from error
            except Exception as error:
                what = f"the template failed: {type(error).__name__}: {error}"
                raise PromptError(self.path, _line(error), what) from error
            if piece is None:
                return
            length += len(piece)
            if length > LONGEST:
                raise PromptError(self.path, None, f"the template makes more than {LONGEST} characters of its inputs")
            yield piece


def _line(error: Exception) -> int | None:
    """Where in the template an error was raised: Jinja2 puts its lines into the traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return lines[-1] if lines else None
