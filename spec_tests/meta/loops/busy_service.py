"""Loops that wait for a minute where a service stays busy, or goes on failing, which is their own choice."""

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


class GivesItAnHour(Driver):
    """Asks again at once as often as the service names a time, and then by itself, less and less often, for an hour."""

    class _Asks(Exchange):
        named = 12

        def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
            for tries in range(60):
                try:
                    return (yield from super().ask(ask))
                except ProviderError as error:
                    if error.status != 500:
                        raise
                    if tries >= self.named:
                        Event().wait(MINUTE)
            raise ProviderError("the service has failed for an hour", status=500)

    invoker = asking(_Asks)


class AsksFasterThanTold(GivesItAnHour):
    """Asks again at once for an hour, whether the service names a time or not."""

    class _Asks(GivesItAnHour._Asks):
        named = 60

    invoker = asking(_Asks)


class WaitsAfterThree(GivesItAnHour):
    """Waits for long after its third request, though the service says when to ask again."""

    class _Asks(GivesItAnHour._Asks):
        named = 2

    invoker = asking(_Asks)
