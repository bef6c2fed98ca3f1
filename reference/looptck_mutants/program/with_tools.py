"""Programs that are given the kit's tools, and lose something of their arguments or results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck_mutants.core import arguments, broad, equals, histories, offers, results
from looptck_mutants.program.parts import equipped
from looptck_reference.program import Equipped
from looptck_reference.program.tool_server import ToolFailed, ToolServer
from looptck_reference.vocabulary.tools import Tool


class _Forgiving(ToolServer):
    """Takes the message of a tool that has failed for a result without a word."""

    def call(self, tool: str, /, **arguments: Any) -> str:
        try:
            return super().call(tool, **arguments)
        except ToolFailed:
            return ""


@equipped("program-raising-tool-is-not-lost")
class ProgramServerFailureUntold(Equipped):
    """Answers a call with nothing where the server says that the tool has failed."""

    server = _Forgiving


class _OnlyObjects(ToolServer):
    """Drops texts of results that are not JSON."""

    def call(self, tool: str, /, **arguments: Any) -> str:
        text = super().call(tool, **arguments)
        return text if text.startswith("{") else "done"


@equipped("program-text-result-arrives-unchanged", "program-results-carry-their-call-ids")
class ProgramResultsAreDone(Equipped):
    """Sends the word done in place of a text that a tool returned."""

    server = _OnlyObjects


class _Silent(ToolServer):
    """Offers the tools with their names only."""

    def tool(self, listed: Any) -> Tool:
        return replace(super().tool(listed), description="", parameters={"type": "object", "properties": {}})


@equipped("program-tools-are-offered-every-time", "program-offered-schema-is-the-declared-one")
class ProgramOffersNamesOnly(Equipped):
    """Offers a server's tools without their descriptions and parameters."""

    server = _Silent


@equipped("program-parameter-descriptions-are-offered")
class ProgramParametersUndescribed(offers.ParametersUndescribed):
    """Offers parameters without their descriptions."""


@equipped("program-open-schemas-are-offered")
class ProgramUnknownMembersDropped(offers.UnknownMembersDropped):
    """Drops the arguments that the schema does not name."""


@equipped("program-calls-run-the-tool-they-name")
class ProgramFirstNameThatBeginsAlike(equals.FirstNameThatBeginsAlike):
    """Runs the first tool whose name begins with that of the call."""


@equipped("program-arguments-arrive-whatever-their-shape")
class ProgramWholeNumbers(arguments.WholeNumbers):
    """Cuts the fractions off numbers in arguments."""


@equipped("program-arguments-are-echoed-as-given")
class ProgramEmptyTextsLeftOut(histories.EmptyTextsLeftOut):
    """Leaves empty texts out of the arguments that it sends back."""


@equipped("program-empty-arguments-are-an-empty-object")
class ProgramNothingIsBad(arguments.NothingIsBad):
    """Takes empty arguments for broken ones."""


@equipped("program-structured-result-reaches-the-model")
class ProgramGarblesResults(broad.CoreGarblesResults):
    """Sends results with changed texts."""


@equipped("program-empty-result-is-answered")
class ProgramNothingIsNoResult(results.NothingIsNoResult):
    """Sends no result for a call that returned nothing."""


@equipped("program-failing-call-leaves-the-others-whole")
class ProgramFailureSpreads(results.FailureSpreads):
    """Sends the error of a failed call as the result of all calls of its turn."""
