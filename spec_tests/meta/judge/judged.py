"""What the tests of the judges need to know of a wire. A further wire is one more value of this class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hypothesis.strategies import SearchStrategy

from looptck.catalogue.data import json_fixture
from looptck.values.problem import Problem
from looptck.wires import WIRES
from looptck.wires.wire import Service

Body = dict[str, Any]
History = list[dict[str, Any]]
Case = tuple[str, object, object]
"""A rule, the smallest body that breaks it, and the nearest one that breaks none (None: another case has it)."""
Mutation = Callable[..., tuple[History, list[str]]]
"""Does one thing wrong to a legal history, given the places of a call and of its results; the rules that it breaks."""


@dataclass(frozen=True, kw_only=True)
class JudgedWire:
    """A wire's judge, with bodies of its kind."""

    name: str
    """The word of the catalogue."""
    judge: Callable[[object], list[Problem]]
    rules: Mapping[str, str]
    with_state: Collection[str] = ()
    """The rules that only a service with state can hold a request to; they have tests of their own."""
    cases: Sequence[Case]
    whole: Sequence[Body]
    """Good requests that have, between them, every member that the schema knows."""
    rich: Body
    """One good request with much in it."""
    request: Callable[..., Body]
    """A request with these messages or items, and these options."""
    history: str
    """The member of a request that holds them."""
    refusal_members: Mapping[str, Sequence[str]]
    """The members of the body of a refusal, and of the error in it."""
    values: SearchStrategy[Any]
    """JSON values with words of the wire, none of them a whole request."""
    legal: SearchStrategy[History]
    """Histories that break no rule."""
    marked: SearchStrategy[tuple[Any, ...]]
    """A legal history, and the places of one call and of its results, as the mutations take them."""
    mutations: Sequence[Mutation]

    @cached_property
    def refusal(self) -> Callable[[Problem], dict[str, Any]]:
        """The body with which the service refuses."""
        return WIRES[self.name].refusal

    @cached_property
    def schema(self) -> Body:
        """The JSON Schema of its requests."""
        schema: Body = json_fixture(f"wire-schemas/{self.name}.request.json")
        return schema

    def service(self, stateful: bool = True) -> Service:
        """The backend of one run."""
        return WIRES[self.name].service(stateful)
