"""Failures of a small catalogue, and the causes that they come to."""

from __future__ import annotations

from looptck.catalogue.requirements import Requirement, Source
from looptck.failures.causes import causes
from looptck.failures.groups import Finding
from looptck.failures.signs import Sign
from looptck.values.verdicts import Result, Verdict

PLAIN = "openai-chat/plain/sync"
STREAM = "openai-chat/stream/sync"
CHAT = [f"openai-chat/{dress}/{mode}" for dress in ("plain", "stream") for mode in ("sync", "async")]
MESSAGES = [cell.replace("openai-chat", "anthropic-messages") for cell in CHAT]
LOST: Sign = ("history", "result", "left out")
REFUSED: Sign = ("refused", "a-rule")
ENDED: Sign = ("given-up", "calls")


def row(id: str, impact: str = "broken", level: str = "MUST", *, general: bool = False) -> Requirement:
    """A row of the catalogue."""
    source = Source("book", "The Book", "Chapter 1", None)
    return Requirement(id, "core", level, f"It does {id}.", (source,), "wire", "0.1", impact, general)


ROWS = {
    one.id: one
    for one in (
        row("leak", "unsafe"),
        row("slip", "unsafe", "SHOULD"),
        row("answer"),
        row("echo"),
        row("order", "untidy", "SHOULD"),
        row("crlf", "fragile"),
        row("bom", "fragile", "SHOULD"),
        row("whole", general=True),
    )
}


def finding(
    id: str, sign: Sign | None = None, *, verdict: Verdict = "fail", cell: str = PLAIN, run: str = "r1", size: int = 5
) -> Finding:
    """A failure of a row."""
    result = Result(id, "core", ROWS[id].level, cell, f"{id}-case", verdict, f"because of {id}")
    return Finding(result, sign, (run,), text="FAIL\n  again: again", again="again", evidence=["  seen"], size=size)


def named(*findings: Finding) -> dict[str, list[str]]:
    """The causes of failures: the row that names each, and the rows that fail with it."""
    return {one.row.id: list(one.noticed_by) for one in causes(findings, ROWS)}
