"""The body of a prompt: a Jinja2 template, split into messages at role markers.

A marker is `system:`, `user:`, `assistant:` or `developer:` alone on a line, in any letter case, optionally indented
or after a `#` (the later runtime specification, §2.10 and §6.2; `developer` was added after it). Text before the first
marker is a system message (§2.10). Empty lines around a message are not part of it.

Inputs never start a message. Before each rendering the template's own markers are replaced by random marks that cannot
be guessed, and the text is split only at these (§6.3, always on here). So an input cannot produce a marker, not even in
`{{role}}:`. The marks have no letters, so that filters such as `upper` do not change them.

A variable without a value is an error (§12.5). Only an input that the prompt declares and does not require may be
missing; it is then empty (§12.2).

The sandbox prevents templates from running Python and from changing inputs, and limits each range; `bounded` limits the
steps of a template and the size of its values, and this module the length of the rendered text.
"""

from __future__ import annotations

import re
import secrets
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looptck_reference.prompty.prompts.errors import PromptError
from looptck_reference.vocabulary.values import Json

if TYPE_CHECKING:
    import jinja2

    from looptck_reference.prompty.prompts.bounded import BoundedEnvironment

__all__ = ["Template"]

LONGEST = 16 * 1024 * 1024
"""The maximum length of the rendered text in characters."""

_ROLES = ("system", "user", "assistant", "developer")
_ATTRIBUTES = r"\[[^\]\n=]*+=[^\]\n]*+\]"
_MARKER = re.compile(
    rf"^[ \t]*+#?[ \t]*+({'|'.join(_ROLES)})[ \t]*+({_ATTRIBUTES})?[ \t]*+:[ \t]*+$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Template:
    """A body, padded with empty lines so that line numbers are those of its file.

    Raises:
        PromptError: the body is empty, is not a valid template, or has a marker in an unsupported form.
    """

    path: Path
    body: str

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise PromptError(self.path, None, "has no text after its frontmatter; write `user:` and a text below it")
        for marker in _MARKER.finditer(self.body):
            if marker[2]:
                line = self.body.count("\n", 0, marker.start()) + 1
                raise PromptError(self.path, line, f"attributes of a role are not supported; write `{marker[1]}:`")
        self._compiled(self.body)

    def messages(self, inputs: Mapping[str, Any], *, omitted: Iterable[str] = ()) -> list[Json]:
        """The messages of the template with these inputs; `omitted` inputs are empty.

        Raises:
            PromptError: the template cannot be rendered with these inputs.
        """
        import jinja2

        nonce = f"[[{secrets.randbits(128)}:"
        marked = _MARKER.sub(lambda marker: f"{nonce}{_ROLES.index(marker[1].lower())}]]", self.body)
        context = {name: jinja2.Undefined(name=name) for name in omitted} | dict(inputs)
        _environment().begin()
        text = "".join(self._bounded(self._compiled(marked).generate(context)))
        before, *parts = re.split(rf"{re.escape(nonce)}(\d)\]\]", text)
        said = [(_ROLES[int(role)], content) for role, content in zip(parts[::2], parts[1::2], strict=True)]
        if before.strip() or marked == self.body:
            said.insert(0, ("system", before))
        if not said:
            raise PromptError(self.path, None, "the template produces no message from these inputs")
        return [{"role": role, "content": content.strip("\n")} for role, content in said]

    def _compiled(self, source: str) -> jinja2.Template:
        import jinja2

        try:
            return _environment().from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise PromptError(self.path, error.lineno, f"the template cannot be read: {error.message}") from error
        except (SyntaxError, RecursionError, MemoryError) as error:
            raise PromptError(self.path, None, "the template is nested too deeply; make it flatter") from error

    def _bounded(self, pieces: Iterator[str]) -> Iterator[str]:
        """The rendered pieces, with errors as `PromptError` and a limit on the length."""
        import jinja2

        length = 0
        while True:
            try:
                piece = next(pieces, None)
            except jinja2.UndefinedError as error:
                advice = "pass it, or declare it as an input with a default"
                raise PromptError(self.path, _line(error), f"{error.message}; {advice}") from error
            except Exception as error:
                what = f"the template failed: {type(error).__name__}: {error}"
                raise PromptError(self.path, _line(error), what) from error
            if piece is None:
                return
            length += len(piece)
            if length > LONGEST:
                raise PromptError(self.path, None, f"the template produces more than {LONGEST} characters")
            yield piece


@cache
def _environment() -> BoundedEnvironment:
    """The sandbox. Jinja2 is imported for the first prompt: it takes as long as all else, and most runs have none."""
    from looptck_reference.prompty.prompts.bounded import BoundedEnvironment

    return BoundedEnvironment()


def _line(error: Exception) -> int | None:
    """The template line that raised an error: Jinja2 puts template lines into the traceback."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return lines[-1] if lines else None
