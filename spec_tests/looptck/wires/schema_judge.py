"""The judge of request bodies that all wires share: first the wire's JSON Schema, then the wire's further rules.

A wire's judge is a ``SchemaJudge`` and its further rules. These rules do not check the types of the members that they
read, so they get only the valid subset of a body that breaks the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from looptck.values.frozen import dataclass
from looptck.values.problem import Problem
from looptck.wires import schema_rules
from looptck.wires.schema_rules import Fault, Path

Rule = Callable[[dict[str, Any]], list[Problem]]
"""Finds problems in a body that its schema allows."""


@dataclass(frozen=True, slots=True)
class SchemaJudge:
    """Finds what a service refuses in a request's body."""

    schema: str
    """The name of a file in ``fixtures/wire-schemas/``."""
    unreadable: str
    """The service's message for a body that is not a JSON object."""
    problem: Callable[[dict[str, Any], Path, Fault], Problem]
    """Turns a schema error of this body into a problem: the broken rule and the service's message."""
    report_order: Callable[[Path, Fault], Any]
    """The key by which the service orders the schema errors that it reports."""
    history: str
    """The member that holds the list of messages or items."""
    valid_entry: Callable[[object], dict[str, Any]]
    """The valid subset of an entry of that list, for the further rules."""
    depends_on: Mapping[str, frozenset[str]]
    """Members that no rule can judge if one of these other members has a schema error."""
    least: Mapping[str, Any]
    """The members that a request must have beside its history."""

    def judge(self, body: object, *rules: Rule) -> list[Problem]:
        """All problems of a body: those of its schema, then those that each rule finds in its valid subset."""
        if not isinstance(body, dict):
            return [self._unreadable]
        try:
            faults = schema_rules.faults(self.schema, body)
        except ValueError:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot encode
            return [self._unreadable]
        places = sorted(faults, key=lambda path: self.report_order(path, faults[path]))
        found = [self.problem(body, path, faults[path]) for path in places]
        valid = self._valid_subset(body, {str(path[0]) for path in places}) if places else body
        return found + [problem for rule in rules for problem in rule(valid)]

    def allows(self, entries: list[Any]) -> bool:
        """Whether the schema allows these entries, at least one, in a history. It judges each entry by itself."""
        try:
            return not schema_rules.faults(self.schema, {**self.least, self.history: entries})
        except ValueError:  # as above
            return False

    @property
    def _unreadable(self) -> Problem:
        return Problem("body-is-an-object", "", self.unreadable)

    def _valid_subset(self, body: dict[str, Any], faulty: set[str]) -> dict[str, Any]:
        """The members without a schema error; the history keeps all its entries."""
        blamed = {name for name, others in self.depends_on.items() if others & faulty}
        valid = {name: value for name, value in body.items() if name not in faulty | blamed}
        if self.history in faulty:
            entries = body.get(self.history)
            valid[self.history] = [
                self.valid_entry(entry) for entry in (entries if isinstance(entries, list) else [None])
            ]
        return valid
