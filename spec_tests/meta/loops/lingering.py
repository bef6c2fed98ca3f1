"""Loops that continue to work after their caller has the outcome."""

from __future__ import annotations

import contextlib
import json
import threading
import urllib.request
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, ClassVar

from looptck_reference.kit.driver import Driver
from looptck_reference.loop.loop import Decision, Loop
from looptck_reference.vocabulary.actions import Action
from looptck_reference.vocabulary.values import ToolCall, Turn

Json = dict[str, Any]


class BeginsAndRaises(Driver):
    """Starts the first call of a truncated turn in a thread, and raises before the tool can be reached."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def decide(self, turn: Turn) -> Decision:
            decision = super().decide(turn)
            handler = self.handler_for(turn.calls[0]) if decision is Decision.FAIL else None
            if handler is not None:
                with contextlib.suppress(ValueError):
                    arguments = json.loads(turn.calls[0].arguments)
                    threading.Thread(target=handler, kwargs=arguments, daemon=True).start()
            return decision


class ComesBack(Driver):
    """Asks the model of the previous run again, with the prompt of that run, when the next run starts."""

    last = ""
    said: ClassVar[list[Json]] = []

    def run(self, case: Json, emit: Any) -> Json:
        """Run the case after the unexpected request."""
        if self.last:
            body = json.dumps({"model": case["model"], "messages": self.said}).encode()
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.last}/chat/completions", body)  # noqa: S310  the kit's own URL
        type(self).last, type(self).said = case["base_url"], case["messages"]
        return super().run(case, emit)


class NeverReturns(ComesBack):
    """Asks the model of its first run again when the next run starts; the first one has not returned."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run the case, and return unless it is the first."""
        first = not self.last
        outcome = super().run(case, emit)
        if first:
            threading.Event().wait()
        return outcome


class EscapesAndGoesOn(ComesBack):
    """Leaves an error where no caller can catch it, which ends the run, and asks the model again after that."""

    def run(self, case: Json, emit: Any) -> Json:
        """Run the case, and end it with the error."""
        super().run(case, emit)
        return {"kind": "error", "reason": "other", "type": "Error", "message": "lost", "escaped": True}


class Tires(Driver):
    """Has no limit; asks the model 140 times and then neither asks nor returns."""

    class loop(Loop):  # noqa: N801  the driver's attribute
        def limit_reached(self) -> bool:
            return False

        def ask(self) -> Action:
            if self.model_calls == 140:
                threading.Event().wait()
            return super().ask()


class TitleAfterTheEnd(Driver):
    """Asks for a title for the previous run when the next run starts."""

    last = ""

    def run(self, case: Json, emit: Any) -> Json:
        """Run the case after the request that nobody waits for."""
        if self.last:
            words = [{"role": "user", "content": "Write a title."}]
            body = json.dumps({"model": case["model"], "messages": words}).encode()
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.last}/chat/completions", body)  # noqa: S310  the kit's own URL
        type(self).last = case["base_url"]
        return super().run(case, emit)


class WordBeforeTheThirdTurn(Driver):
    """Adds a user message before the results of its second turn, which the service refuses."""

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if self.model_calls == 2:
                self.history.append({"role": "user", "content": "Go on."})


class StartsTogether(Driver):
    """Starts the calls of a turn together, the last ones a moment later, and raises the first error.

    A correct loop: the started calls are running when it raises, and threads cannot be cancelled.
    """

    class loop(Loop):  # noqa: N801
        def append_turn(self, turn: Turn) -> None:
            super().append_turn(turn)
            if len(turn.calls) > 2:
                self._run_together(turn.calls)

        def _run_together(self, calls: Sequence[ToolCall]) -> None:
            pool = ThreadPoolExecutor(len(calls))
            begun: list[Future[Any]] = []
            for call in calls:
                begun.append(pool.submit(self._run_later, call, begun[:2] if len(begun) > 1 else []))
            wait(begun, return_when=FIRST_EXCEPTION)
            pool.shutdown(wait=False)
            for one in begun:
                if one.done():
                    one.result()

        def _run_later(self, call: ToolCall, others: Sequence[Future[Any]]) -> Any:
            wait(others, timeout=0.1, return_when=FIRST_EXCEPTION)
            handler = self.handler_for(call)
            return handler and handler(**json.loads(call.arguments))
