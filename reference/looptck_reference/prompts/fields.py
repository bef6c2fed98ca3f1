"""Values of the frontmatter that know their place, so that whoever finds one wrong can say where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from looptck_reference.prompts.errors import PromptError

__all__ = ["Field"]


@dataclass(frozen=True, slots=True)
class Field:
    """A value of the frontmatter: what it is called from the top, and the line in which it begins.

    `value` is a mapping of fields by name, a tuple of fields, or a plain value.
    """

    path: Path
    line: int
    name: str
    value: Any

    def wrong(self, what: str) -> PromptError:
        """The error to raise about this field."""
        return PromptError(self.path, self.line, f"{self.name} {what}" if self.name else what)

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong(f"must be text, not {self._shown}")
        if not self.value.strip():
            raise self.wrong("must not be empty")
        return self.value

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong(f"must be true or false, not {self._shown}")
        return self.value

    def members(self) -> Mapping[str, Field]:
        if not isinstance(self.value, Mapping):
            raise self.wrong(f"must be a mapping, not {self._shown}")
        return self.value

    def items(self) -> tuple[Field, ...]:
        if not isinstance(self.value, tuple):
            raise self.wrong(f"must be a list, not {self._shown}")
        return self.value

    def get(self, name: str) -> Field | None:
        """A member, or None where it is not there or null: a name with nothing behind it says nothing."""
        member = self.members().get(name)
        return None if member is None or member.value is None else member

    def need(self, name: str) -> Field:
        member = self.get(name)
        if member is None:
            raise self.wrong(
                f"has no {name}; write `{name}: …`" if self.name else f"{name} is missing; write `{name}: …`"
            )
        return member

    def optional_text(self, name: str) -> str:
        """The text of a member; none where it is not there."""
        member = self.get(name)
        return "" if member is None or member.value == "" else member.text()

    def word(self, name: str, words: tuple[str, ...], default: str) -> str:
        """A member that is one of these words."""
        member = self.get(name)
        return default if member is None else member.one_of(words)

    def one_of(self, words: tuple[str, ...]) -> str:
        said = self.text()
        if said not in words:
            raise self.wrong(f"is {said!r}, which is not known here; write one of: {', '.join(words)}")
        return said

    def named(self) -> dict[str, Field]:
        """Entries by name: of a mapping, or of a list whose entries have a `name` each."""
        if isinstance(self.value, Mapping):
            return {name: entry for name, entry in self.value.items() if entry.value is not None}
        if not isinstance(self.value, tuple):
            raise self.wrong(f"must be a list of entries with a name, or a mapping, not {self._shown}")
        found: dict[str, Field] = {}
        for entry in self.value:
            name = entry.need("name").text()
            if name in found:
                raise entry.wrong(f"has the name {name!r} of line {found[name].line}; give each a name of its own")
            found[name] = entry
        return found

    def plain(self) -> Any:
        """The value as JSON has it."""
        if isinstance(self.value, Mapping):
            return {name: member.plain() for name, member in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value

    @property
    def _shown(self) -> str:
        if self.value is None:
            return "nothing"
        if isinstance(self.value, Mapping):
            return "a mapping"
        return "a list" if isinstance(self.value, tuple) else repr(self.value)
