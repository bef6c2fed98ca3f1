"""Mutants of the 010 loop: the values of resolved references."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import replace
from typing import Any

from looptck_mutants.agent_loop_010.parts import breaks
from looptck_reference.agent_loop_010.calls import Call
from looptck_reference.agent_loop_010.expressions import resolve
from looptck_reference.agent_loop_010.scheduler import CallScheduler
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.vocabulary.values import Json


class _Resolving(CallScheduler):
    """Resolves references in a different way once all values exist."""

    def arguments(self, call: Call) -> Json:
        super().arguments(call)
        found: Json = {
            name: self.argument(value, lambda path: self.context.look(path, call.instance))
            for name, value in call.parameters.items()
        }
        return found

    def argument(self, value: Any, look: Any) -> Any:
        """The resolved value of a parameter."""
        return resolve(value, look)


@breaks("loop010-references-are-resolved")
class NestedReferencesStay(_Resolving):
    """Resolves only references that are a whole parameter, not nested ones."""

    def argument(self, value: Any, look: Any) -> Any:
        return super().argument(value, look) if isinstance(value, str) else value


@breaks("loop010-references-are-resolved")
class FractionsBecomeText(_Resolving):
    """Passes numbers with a fraction as text."""

    def argument(self, value: Any, look: Any) -> Any:
        found = super().argument(value, look)
        return str(found) if isinstance(value, str) and isinstance(found, float) else found


@breaks(
    "loop010-references-are-resolved",
    collateral={"loop010-input-expressions": "alternatives are resolved to such values too"},
)
class IntegersBecomeText(_Resolving):
    """Passes integers and booleans as text."""

    def argument(self, value: Any, look: Any) -> Any:
        found = super().argument(value, look)
        return str(found) if isinstance(value, str) and isinstance(found, int) else found


@breaks(
    "loop010-references-are-resolved",
    collateral={
        (
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
        ): "the state is observed through the values that later calls get"
    },
)
class StructuresBecomeText(_Resolving):
    """Passes objects and arrays as their JSON text."""

    def argument(self, value: Any, look: Any) -> Any:
        found = super().argument(value, look)
        return json.dumps(found) if isinstance(value, str) and isinstance(found, dict | list) else found


@breaks("loop010-references-are-resolved")
class EmptyTextsBecomeNull(_Resolving):
    """Passes an empty text as null."""

    def argument(self, value: Any, look: Any) -> Any:
        found = super().argument(value, look)
        return None if isinstance(value, str) and value and found == "" else found


@breaks("loop010-references-are-resolved")
class TextsBecomeAscii(_Resolving):
    """Replaces characters beyond ASCII by question marks."""

    def argument(self, value: Any, look: Any) -> Any:
        found = super().argument(value, look)
        if isinstance(value, str) and value.startswith("†") and isinstance(found, str):
            return found.encode("ascii", "replace").decode()
        return found


@breaks("loop010-references-are-resolved")
class DeepReferencesStopShort(_Resolving):
    """Follows only the first two keys of a reference."""

    def argument(self, value: Any, look: Any) -> Any:
        return super().argument(value, lambda path: look(replace(path, keys=path.keys[:2])))


@breaks("loop010-references-are-resolved")
class FalsyResultsAreDropped(CallScheduler):
    """Does not store a result that is falsy."""

    def write(self, call: Call, value: Any) -> None:
        if value:
            super().write(call, value)


class _DecodingApart(Exchange):
    """Decodes each piece of a stream on its own."""

    def read(self) -> Generator[Step, Any, bytes | None]:
        piece = yield from super().read()
        return piece and piece.decode("utf-8", "replace").encode()
