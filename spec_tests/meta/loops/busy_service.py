"""A loop that waits for a minute where a service stays busy, which is its own choice."""

from __future__ import annotations

from collections.abc import Generator
from threading import Event
from typing import Any

from looptck_mutants.parts import asking
from looptck_reference.http.exchange import Exchange, Step
from looptck_reference.kit.driver import Driver
from looptck_reference.vocabulary.actions import Ask
from looptck_reference.vocabulary.errors import ProviderError
from looptck_reference.vocabulary.values import Turn

MINUTE = 60.0


class WaitsAMinute(Driver):
    """Waits for a minute before it asks a busy service again."""

    class _Asks(Exchange):
        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            try:
                return (yield from super().ask(ask))
            except ProviderError:
                Event().wait(MINUTE)
                raise

    invoker = asking(_Asks)
