"""A loop whose second request is refused: its tools have run by then, so that it can be the control of a check."""

from __future__ import annotations

from looptck_mutants.cells import MESSAGES
from looptck_mutants.parts import breaks
from looptck_reference.vocabulary.values import Json, Turn
from looptck_reference.wires import MessagesWire


@breaks("no-request-is-refused", cells=MESSAGES)
class AddsAnEmptyText(MessagesWire):
    """Sends each turn back with an empty text block before it, which the service refuses."""

    def echo(self, turn: Turn) -> list[Json]:
        return [{"role": "assistant", "content": [{"type": "text", "text": ""}, *turn.content]}]


Driver = AddsAnEmptyText.driver  # type: ignore[attr-defined]
"""The driver of this loop, which claims every profile of loops."""
