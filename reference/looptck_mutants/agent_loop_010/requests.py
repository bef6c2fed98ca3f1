"""Mutants of the 010 loop: what a Request offers the model, and Requests that fail."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from looptck_mutants.agent_loop_010.parts import STREAM, breaks
from looptck_reference.agent_loop_010.loop import SolutionLoop
from looptck_reference.agent_loop_010.messages import Message
from looptck_reference.agent_loop_010.prompt import Prompt
from looptck_reference.vocabulary.errors import LoopError, ProviderError
from looptck_reference.vocabulary.values import Json


@breaks("loop010-requests-have-tools-and-schema")
class AnyOutputWillDo(Prompt):
    """Asks for an output of any form."""

    def schema(self) -> Json:
        self.output_schema = {}
        return super().schema()


@breaks("loop010-later-requests-have-tools-and-schema")
class ToolsAreToldOnce(Prompt):
    """Offers the tools in the first Request only."""

    def messages(self, context: Sequence[Message]) -> list[Json]:
        told = super().messages(context)
        self.tools = ()
        return told


class _Patching(SolutionLoop):
    """Ends a Request that fails with a text of its own, as if the model had written it."""

    async def ask(self) -> AsyncGenerator[str]:
        text = ""
        try:
            async with aclosing(super().ask()) as pieces:
                async for piece in pieces:
                    text += piece
                    yield piece
        except LoopError as error:
            patch = self.patch(text, error)
            if patch is None:
                raise
            yield patch

    def patch(self, text: str, error: LoopError) -> str | None:
        """The text in place of what did not come; None: the error is raised."""


@breaks("loop010-http-errors-give-no-output")
class ErrorsAreOutputs(_Patching):
    """Returns the message of an HTTP error as the output."""

    def patch(self, text: str, error: LoopError) -> str | None:
        return json.dumps({"output": str(error)}) if isinstance(error, ProviderError) and not text else None


@breaks("loop010-broken-replies-give-no-output", cells=STREAM)
class StreamErrorsAreIgnored(_Patching):
    """Takes what came before an error in a stream for the whole reply."""

    def patch(self, text: str, error: LoopError) -> str | None:
        return "" if isinstance(error, ProviderError) and text else None


@breaks("loop010-broken-replies-give-no-output", cells=STREAM)
class CutOutputsAreMended(_Patching):
    """Completes an output that was cut."""

    def patch(self, text: str, error: LoopError) -> str | None:
        return '"}}' if '"output":{' in text else None


@breaks("loop010-broken-replies-run-whole-calls-only", cells=STREAM)
class CutCallsAreMended(_Patching):
    """Completes a call that was cut."""

    def patch(self, text: str, error: LoopError) -> str | None:
        return '"}],"output":null}' if '"output"' not in text else None
