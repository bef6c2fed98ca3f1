"""Requests that the service refuses, and only where something beside the ordinary has happened."""

from __future__ import annotations

from collections.abc import Sequence

from looptck_reference.loop import Loop
from looptck_reference.mutants.mutant import CHAT, MESSAGES, RESPONSES, Mutant, because
from looptck_reference.values import ToolResult

UNKNOWN = "cannot be called"
"""Words of the reference's own about a tool that nobody offered."""


class WordBesideFailure(Mutant):
    """Puts a word of the user between the results as soon as a tool fails: `no-request-is-refused`."""

    breaks = ("no-request-is-refused",)
    also = because("a word between the results parts them from their calls", "results-follow-their-calls")
    cells = CHAT

    class loop(Loop):  # noqa: N801  the driver's attribute
        def append_results(self, results: Sequence[ToolResult]) -> None:
            for result in results:
                if result.failed and UNKNOWN not in result.text:
                    self.history.append({"role": "user", "content": "That did not work."})
                super().append_results([result])


class EmptyResultForgotten(Mutant):
    """Leaves out a result whose text is empty: `no-request-is-refused`."""

    breaks = ("no-request-is-refused",)
    cells = CHAT

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([result for result in results if result.text])


class UnknownIsNamedTwice(Mutant):
    """Answers the call of a tool that nobody offered twice: `no-request-is-refused`."""

    breaks = ("no-request-is-refused",)
    cells = MESSAGES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results([*results, *(one for one in results if UNKNOWN in one.text)])


class ThirdTurnUnanswered(Mutant):
    """Leaves the last call of the third turn without its result: `no-request-is-refused`."""

    breaks = ("no-request-is-refused",)
    also = because("seven turns have a third one, and the refusal ends the run", "limit-allows-what-fits")
    cells = RESPONSES

    class loop(Loop):  # noqa: N801
        def append_results(self, results: Sequence[ToolResult]) -> None:
            super().append_results(results[:-1] if self.model_calls == 3 else results)
