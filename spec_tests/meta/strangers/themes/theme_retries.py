"""Faults of theme 7: what loops do when the service says no."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
import messages_plain
import responses_plain
from responses_plain import Run, State
from service import Service

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Stopped


class DriverHasty(chat_plain.Driver):
    """The time that Retry-After and retry-after-ms ask for is not waited."""

    class service(Service):
        """Has a plan for its pauses, and no ear."""

        def delay(self, response: httpx.Response, attempt: int) -> float:
            return self.pause * 2**attempt


class DriverDateCrashes(messages_plain.Driver):
    """Retry-After as a date ends the run with a ValueError, and nothing is tried again."""

    class service(Service):
        """Takes Retry-After for a number."""

        def delay(self, response: httpx.Response, attempt: int) -> float:
            if "retry-after" in response.headers:
                return float(response.headers["retry-after"])
            return super().delay(response, attempt)


class DriverErrorIsAnswer(responses_plain.Driver):
    """What the service says against a request is returned as the model's answer."""

    class steps(Run):
        """Lets no exception reach its caller from the service."""

        def step(self, state: State, turn: int) -> State:
            try:
                return super().step(state, turn)
            except httpx.HTTPError as error:
                return replace(state, answer=f"Sorry, the service cannot be reached: {error}")
            except Stopped as stopped:
                if stopped.word != "provider":
                    raise
                return replace(state, answer=f"Sorry, something went wrong: {stopped}")
