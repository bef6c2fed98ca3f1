"""Mutants of the 010 loop: what a reference hands on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import resolve
from looptck_reference.agent_loop_010.loop import AgentLoop
from looptck_reference.agent_loop_010.tick import Tick
from looptck_reference.mutants.agent_loop_010.mutant import SolutionMutant
from looptck_reference.mutants.mutant import because
from looptck_reference.values import Json


class _Resolving(AgentLoop):
    """Resolves in a way of its own, once everything is there."""

    class tick(Tick):  # noqa: N801
        def arguments(self, call: Call) -> Json:
            super().arguments(call)
            found: Json = {
                name: self.argument(value, lambda path: self.context.look(path, call.instance))
                for name, value in call.parameters.items()
            }
            return found

        def argument(self, value: Any, look: Any) -> Any:
            """What one parameter stands for."""
            return resolve(value, look)


class NestedReferencesStay(SolutionMutant):
    """Resolves references that are a whole parameter, and no others: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                return super().argument(value, look) if isinstance(value, str) else value


class FractionsBecomeText(SolutionMutant):
    """Hands on numbers with a fraction as text: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                found = super().argument(value, look)
                return str(found) if isinstance(value, str) and isinstance(found, float) else found


class ReferencesWithinTexts(SolutionMutant):
    """Puts values into texts that only speak of a path: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                if isinstance(value, list):
                    return [self.argument(one, look) for one in value]
                if isinstance(value, str) and value.startswith("see †"):
                    return f"see {resolve(value.removeprefix('see '), look)}"
                return super().argument(value, look)


class IntegersBecomeText(SolutionMutant):
    """Hands on integers and booleans as text: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)
    also = because("alternatives are handed on too", "loop010-input-expressions")

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                found = super().argument(value, look)
                return str(found) if isinstance(value, str) and isinstance(found, int) else found


class StructuresBecomeText(SolutionMutant):
    """Hands on objects and arrays as their JSON text: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)
    also = because(
        "what stands in the state is shown by what a later call is given",
        "loop010-call-order-carries-no-meaning",
        "loop010-input-expressions",
        "loop010-instances-stay-apart",
        "loop010-last-to-complete-wins",
        "loop010-latent-calls-write-their-output",
        "loop010-methods-fold-in-order",
        "loop010-no-wake-up-is-lost",
        "loop010-older-nested-values-stay",
        "loop010-output-expressions",
        "loop010-returned-messages-are-appended",
        "loop010-schedules-do-not-matter",
    )

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                found = super().argument(value, look)
                return json.dumps(found) if isinstance(value, str) and isinstance(found, dict | list) else found


class EmptyTextsBecomeNull(SolutionMutant):
    """Hands on an empty text as null: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                found = super().argument(value, look)
                return None if isinstance(value, str) and value and found == "" else found


class TextsBecomeAscii(SolutionMutant):
    """Hands on texts with question marks in place of what is beyond ASCII: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                found = super().argument(value, look)
                if isinstance(value, str) and value.startswith("†") and isinstance(found, str):
                    return found.encode("ascii", "replace").decode()
                return found


class DeepReferencesStopShort(SolutionMutant):
    """Follows a reference for two keys and no further: `loop010-references-are-resolved`."""

    breaks = ("loop010-references-are-resolved",)

    class loop(_Resolving):  # noqa: N801
        class tick(_Resolving.tick):  # noqa: N801
            def argument(self, value: Any, look: Any) -> Any:
                return super().argument(value, lambda path: look(replace(path, keys=path.keys[:2])))
