"""Mutants of the 010 loop: paths that name several paths, and values that belong to instances."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

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
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.tick import Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.agent_loop_010.orchestration import being_written
from looptck_reference.values import Json

Look = Callable[[Path], Found]


class _Reading(Tick):
    """Reads expressions in a way of its own."""

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
        """What an expression stands for."""
        return value_of(expression, look)


class FalsyIsMissing(SolutionMutant):
    """Passes over an alternative that is false, 0 or empty: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801  the driver's attribute
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if isinstance(expression, FirstOf):
                    return super().value_of(expression, lambda path: look(path) or MISSING)
                return super().value_of(expression, look)


class LastAlternativeWins(SolutionMutant):
    """Takes the last alternative that exists: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if isinstance(expression, FirstOf):
                    expression = FirstOf(expression.operands[::-1])
                return super().value_of(expression, look)


class AlternativesWait(SolutionMutant):
    """Waits for an alternative that a call of the turn is about to write: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if isinstance(expression, FirstOf) and being_written(self) & set(expression.operands):
                    return MISSING
                return super().value_of(expression, look)


class AllTakesTheFirst(SolutionMutant):
    """Gives the first of all that were asked for: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if isinstance(expression, AllOf):
                    expression = AllOf(expression.operands[::-1])
                return super().value_of(expression, look)


class AllNeedsTheLast(SolutionMutant):
    """Waits for the last of all that were asked for, and for no other: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                return super().value_of(expression.operands[-1] if isinstance(expression, AllOf) else expression, look)


class FalsyIsNotThere(SolutionMutant):
    """Waits for a true value where several are asked for: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if isinstance(expression, AllOf):
                    return super().value_of(expression, lambda path: look(path) or MISSING)
                return super().value_of(expression, look)


class _Writing(Context):
    """Writes to paths of its own choice."""

    def destinations(self, call: Call) -> tuple[Path, ...]:
        if call.output_path is None:
            return ()
        expression = targets(call.output_path)
        return (expression,) if isinstance(expression, Path) else self.several(expression)

    def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
        """Which of several paths."""
        return expression.operands if isinstance(expression, AllOf) else expression.operands[:1]


class FanOutWritesOnce(SolutionMutant):
    """Writes to the first of several paths: `loop010-output-expressions`."""

    breaks = ("loop010-output-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class context(_Writing):  # noqa: N801
            def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
                return expression.operands[:1]


class FanOutStopsAtTwo(SolutionMutant):
    """Writes to two of several paths: `loop010-output-expressions`."""

    breaks = ("loop010-output-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class context(_Writing):  # noqa: N801
            def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
                return super().several(expression)[:2]


class AlternativesAreAllWritten(SolutionMutant):
    """Writes to every alternative: `loop010-output-expressions`."""

    breaks = ("loop010-output-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class context(_Writing):  # noqa: N801
            def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
                return expression.operands


class LastAlternativeIsWritten(SolutionMutant):
    """Writes to the last alternative: `loop010-output-expressions`."""

    breaks = ("loop010-output-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class context(_Writing):  # noqa: N801
            def several(self, expression: FirstOf | AllOf) -> tuple[Path, ...]:
                return super().several(expression) if isinstance(expression, AllOf) else expression.operands[-1:]


class InstancesWriteForAll(SolutionMutant):
    """Writes what a call of an instance gives for all: `loop010-instances-stay-apart`."""

    breaks = ("loop010-instances-stay-apart",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def result(self, call: Call, path: Path, value: Any, date: str) -> Message:
                return super().result(replace(call, instance=None), path, value, date)


class InstancesReadAll(SolutionMutant):
    """Reads what belongs to any instance: `loop010-instances-stay-apart`."""

    breaks = ("loop010-instances-stay-apart",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def seen(self, kind: str, instance: str | None) -> list[Message]:
                messages: list[Message] = []
                for one in dict.fromkeys(message.get("_instance") for message in self.messages):
                    messages += super().seen(kind, one)
                return [*messages, *super().seen(kind, instance)]


class InstancesReadWhatIsForAll(SolutionMutant):
    """Reads what belongs to no instance, and nothing else: `loop010-instances-stay-apart`."""

    breaks = ("loop010-instances-stay-apart",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def seen(self, kind: str, instance: str | None) -> list[Message]:
                return super().seen(kind, None)


class InstancesReadTheirOwnOnly(SolutionMutant):
    """Reads nothing that belongs to all where a call has an instance: `loop010-instances-stay-apart`."""

    breaks = ("loop010-instances-stay-apart",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def seen(self, kind: str, instance: str | None) -> list[Message]:
                return [one for one in super().seen(kind, instance) if one.get("_instance") == instance]


class WhatIsForAllWins(SolutionMutant):
    """Reads what belongs to all in place of what belongs to an instance: `loop010-instances-stay-apart`."""

    breaks = ("loop010-instances-stay-apart",)

    class loop(AgentLoop):  # noqa: N801
        class context(Context):  # noqa: N801
            def seen(self, kind: str, instance: str | None) -> list[Message]:
                return sorted(super().seen(kind, instance), key=lambda message: "_instance" not in message)


class AbsentAlternativesAreNull(SolutionMutant):
    """Takes the first alternative in any case, and null where it is not there: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                if not isinstance(expression, FirstOf):
                    return super().value_of(expression, look)
                found = look(expression.operands[0])
                return None if found is MISSING else found


class NullAlternativesBecomeText(SolutionMutant):
    """Takes an empty text for an alternative that is null: `loop010-input-expressions`."""

    breaks = ("loop010-input-expressions",)

    class loop(AgentLoop):  # noqa: N801
        class tick(_Reading):  # noqa: N801
            def value_of(self, expression: Expression, look: Look) -> Found:
                found = super().value_of(expression, look)
                return "" if isinstance(expression, FirstOf) and found is None else found
