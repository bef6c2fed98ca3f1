"""Mutants of the 010 loop: expressions of several paths, and values that belong to instances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from looptck_mutants.agent_loop_010.orchestration import being_written
from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.context import Context
from looptck_reference.agent_loop_010.expressions import (
    MISSING,
    AllOf,
    Expression,
    FirstOf,
    Found,
    Path,
    Unresolved,
    read,
    targets,
    value_of,
)
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.vocabulary.values import Json

Look = Callable[[Path], Found]


class _Reading(CallScheduler):
    """Evaluates input expressions in a different way."""

    def arguments(self, call: Call) -> Json:
        found: Json = self.read(call.parameters, lambda path: self.context.look(path, call.instance))
        return found

    def read(self, value: Any, look: Look) -> Any:
        """As `resolve`."""
        match value:
            case dict():
                return {name: self.read(one, look) for name, one in value.items()}
            case list():
                return [self.read(one, look) for one in value]
            case str() if expression := read(value):
                found = self.value_of(expression, look)
                if found is MISSING:
                    raise Unresolved(expression)
                return found
        return value

    def value_of(self, expression: Expression, look: Look) -> Found:
        """The value of an expression."""
        return value_of(expression, look)


@breaks("loop010-input-expressions")
class LastAlternativeWins(_Reading):
    """Uses the last alternative that exists, not the first."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        if isinstance(expression, FirstOf):
            expression = FirstOf(expression.operands[::-1])
        return super().value_of(expression, look)


@breaks("loop010-input-expressions")
class AlternativesWait(_Reading):
    """Waits for an alternative that a call of the same turn will write."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        if isinstance(expression, FirstOf) and being_written(self) & set(expression.operands):
            return MISSING
        return super().value_of(expression, look)


@breaks("loop010-input-expressions")
class AllTakesTheFirst(_Reading):
    """Uses the first value of an `&&` expression, not the last."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        if isinstance(expression, AllOf):
            expression = AllOf(expression.operands[::-1])
        return super().value_of(expression, look)


@breaks("loop010-input-expressions")
class AllNeedsTheLast(_Reading):
    """Waits only for the last path of an `&&` expression."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        return super().value_of(expression.operands[-1] if isinstance(expression, AllOf) else expression, look)


class _Writing(Context):
    """Stores results at different paths."""

    def destinations(self, call: Call) -> tuple[Path, ...]:
        if call.output_path is None:
            return ()
        expression = targets(call.output_path)
        return (expression,) if isinstance(expression, Path) else self.several(expression)

    def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
        """The paths to write, for an expression of several paths."""
        return expression.operands if isinstance(expression, AllOf) else expression.operands[:1]


@breaks("loop010-output-expressions")
class FanOutWritesOnce(_Writing):
    """Writes only the first path of an `&&` expression."""

    def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
        return expression.operands[:1]


@breaks("loop010-output-expressions")
class LastAlternativeIsWritten(_Writing):
    """Writes the last path of an `||` expression, not the first."""

    def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
        return super().several(expression) if isinstance(expression, AllOf) else expression.operands[-1:]


@breaks("loop010-instances-stay-apart")
class InstancesReadWhatIsForAll(Context):
    """Lets a call of an instance read only the common values."""

    def seen(self, kind: str, instance: str | None) -> list[Message]:
        return super().seen(kind, None)


@breaks("loop010-instances-stay-apart")
class InstancesReadTheirOwnOnly(Context):
    """Lets a call of an instance read only the values of that instance."""

    def seen(self, kind: str, instance: str | None) -> list[Message]:
        return [one for one in super().seen(kind, instance) if one.get("_instance") == instance]


@breaks("loop010-input-expressions")
class AbsentAlternativesAreNull(_Reading):
    """Uses the first alternative in any case, with null if it does not exist."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        if not isinstance(expression, FirstOf):
            return super().value_of(expression, look)
        found = look(expression.operands[0])
        return None if found is MISSING else found


@breaks("loop010-input-expressions")
class NullAlternativesBecomeText(_Reading):
    """Resolves an alternative whose value is null to an empty text."""

    def value_of(self, expression: Expression, look: Look) -> Found:
        found = super().value_of(expression, look)
        return "" if isinstance(expression, FirstOf) and found is None else found
