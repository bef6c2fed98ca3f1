"""The older form of the MCP connector, which the service still accepts, does not fail any requirement."""

from __future__ import annotations

from looptck_mutants.anthropic_loop.mcp import BetaOutdated, ToolsetsMissing
from looptck_mutants.breaking import driver_of
from meta.loops.judging import judged
from meta.loops.older_connector import OlderConnector

ROWS = (
    "claude-mcp-servers-are-named",
    "claude-mcp-toolsets-are-offered",
    "claude-mcp-stands-beside-tools",
    "claude-mcp-beta-is-asked-for",
)
CELL = "anthropic-messages/plain/sync"


def verdicts(loop: type) -> dict[str, set[str]]:
    """The verdicts of a loop for the requirements about MCP servers."""
    found = judged(loop, CELL, profile="anthropic-loop", requirements=ROWS)
    return {row: {result.verdict for result in found if result.requirement == row} for row in ROWS}


def test_the_older_form_is_accepted() -> None:
    """With the older header servers need no toolset, and no request is refused."""
    of = verdicts(OlderConnector)

    assert {"not-applicable"} == of.pop("claude-mcp-toolsets-are-offered")
    assert [{"pass"}] * 3 == [found - {"divergence"} for found in of.values()]


def test_the_forms_do_not_mix() -> None:
    """Toolsets with the older header fail, and so do missing toolsets with the newer header."""
    assert {"fail"} == verdicts(driver_of(BetaOutdated))["claude-mcp-beta-is-asked-for"]
    assert "fail" in verdicts(driver_of(ToolsetsMissing))["claude-mcp-toolsets-are-offered"]
