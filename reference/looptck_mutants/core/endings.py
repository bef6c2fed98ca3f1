"""Work that continues after the caller got the result."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from looptck_mutants.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.vocabulary.tools import Handler
from looptck_reference.vocabulary.values import ToolCall, Turn


@breaks("nothing-runs-after-the-end")
class RunsOn(Loop):
    """Runs the first of four calls in the background, and a second time when it has ended."""

    first: ToolCall | None = None

    def append_turn(self, turn: Turn) -> None:
        self.first = turn.calls[0] if len(turn.calls) > 3 and turn.calls[0].name == "ping" else None
        super().append_turn(turn)

    def handler_for(self, call: ToolCall) -> Handler | None:
        handler = super().handler_for(call)
        return _in_the_background(handler) if handler and call is self.first else handler


def _in_the_background(handler: Handler) -> Handler:
    def begin(**arguments: Any) -> str:
        def work() -> None:
            with contextlib.suppress(Exception):  # its caller is gone
                handler(**arguments)
                handler(**arguments)

        threading.Thread(target=work, daemon=True).start()
        return "The call is running."

    return begin
