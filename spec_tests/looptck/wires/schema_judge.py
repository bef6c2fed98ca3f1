"""The judge of request bodies that all wires share: first the wire's JSON Schema, then the wire's further rules.

A wire's judge is a ``SchemaJudge`` and its further rules. These rules read the members of a body without looking at
their types, so of a body that breaks the schema they are given its valid subset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from looptck.values.problem import Problem
from looptck.wires import schema_rules
from looptck.wires.schema_rules import Fault, Path

Rule = Callable[[dict[str, Any]], list[Problem]]
"""Finds problems in a body that its schema allows."""


@dataclass(frozen=True, slots=True)
class SchemaJudge:
    """What a service refuses in a request's body."""

    schema: str
    """The name of a file in ``fixtures/wire-schemas/``."""
    unreadable: str
    """The service's message for a body that is no JSON object."""
    problem: Callable[[dict[str, Any], Path, Fault], Problem]
    """The problem that a schema error of this body is: the rule it breaks, and the service's message."""
    report_order: Callable[[Path, Fault], Any]
    """The key by which the service orders the schema errors that it reports."""
    history: str
    """The member that holds the list of messages or items."""
    valid_entry: Callable[[object], dict[str, Any]]
    """An entry of that list as the further rules can read it, without what the schema has refused in it."""
    depends_on: Mapping[str, frozenset[str]]
    """Members that no rule can judge once one of these others has a schema error."""

    def judge(self, body: object, *rules: Rule) -> list[Problem]:
        """All problems of a body: those of its schema, then those that each rule finds in its valid subset."""
        if not isinstance(body, dict):
            return [self._unreadable]
        try:
            faults = schema_rules.faults(self.schema, body)
        except ValueError:  # half of a surrogate pair, which JSON can escape and UTF-8 cannot hold
            return [self._unreadable]
        places = sorted(faults, key=lambda path: self.report_order(path, faults[path]))
        found = [self.problem(body, path, faults[path]) for path in places]
        valid = self._valid_subset(body, {str(path[0]) for path in places}) if places else body
        return found + [problem for rule in rules for problem in rule(valid)]

    @property
    def _unreadable(self) -> Problem:
        return Problem("body-is-an-object", "", self.unreadable)

    def _valid_subset(self, body: dict[str, Any], faulty: set[str]) -> dict[str, Any]:
        """The members without a schema error; the history keeps the number of its entries."""
        blamed = {name for name, others in self.depends_on.items() if others & faulty}
        valid = {name: value for name, value in body.items() if name not in faulty | blamed}
        if self.history in faulty:
            entries = body.get(self.history)
            valid[self.history] = [
                self.valid_entry(entry) for entry in (entries if isinstance(entries, list) else [None])
            ]
        return valid
