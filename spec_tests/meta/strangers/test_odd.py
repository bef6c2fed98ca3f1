"""Right loops in odd styles fail nothing that is near to their style; errors that escape from a loop are told."""

from __future__ import annotations

import pytest

from looptck.bench.bench import Patience
from looptck.commands.pytest_run import run_pytest
from looptck.suite.options import Options
from looptck.suite.selection import Selection
from looptck.suite.session import Session
from looptck.values.verdicts import AGAINST
from meta.strangers.playing import HERE, driver, require_playable, rows

CONTROL = "call-runs-its-tool-once"
TOGETHER = {"every-call-of-a-turn-runs", "results-keep-call-order", "raising-tool-is-not-lost"}
MEMORY = {"lost-memory-reruns-no-tool", "refused-memory-is-done-without"}
LIMITS = {"limit-is-a-ceiling", "limit-allows-what-fits", "limit-reached-is-told", "limit-of-one-answers"}
RIGHT = {
    "trampoline_chat.py": ("openai-chat/plain/sync", TOGETHER | LIMITS),
    "actors_messages.py": ("anthropic-messages/stream/async", TOGETHER | {"thinking-is-echoed"}),
    "compacting_responses.py": (
        "openai-responses/plain/sync",
        {"results-carry-their-call-ids", "loop-goes-on-until-the-model-answers", "question-survives-an-overflow"},
    ),
    "last_words_chat.py": ("openai-chat/plain/sync", LIMITS | {"text-result-arrives-unchanged"}),
    "callbacks_chat.mjs": ("openai-chat/plain/async", TOGETHER),
    "pipeline_responses.mjs": ("openai-responses/stream/async", TOGETHER),
    "escaping.mjs": ("openai-chat/plain/async", TOGETHER),
    "helper_chat.py": ("openai-chat/stream/async", TOGETHER | {"content-types-may-have-parameters"}),
    "helper_messages.py": ("anthropic-messages/stream/sync", TOGETHER | {"failed-results-are-marked"}),
    "helper_responses.py": ("openai-responses/stream/sync", TOGETHER | {"bad-arguments-are-not-lost"}),
    "rebuilding_chat.py": ("openai-chat/stream/sync", LIMITS | {"finish-reason-is-kept", "history-only-grows"}),
    "settled_messages.mjs": ("anthropic-messages/stream/async", TOGETHER | {"bytes-may-be-cut-anywhere"}),
    "stored_responses.mjs": ("openai-responses/stream/async", {"limit-reached-is-told", *MEMORY}),
    "adorned_chat.mjs": (
        "openai-chat/plain/async",
        {"next-turn-after-a-cancel-is-accepted", "prompt-reaches-the-model"},
    ),
    "referring_responses.py": ("openai-responses/plain/async", TOGETHER | MEMORY),
    "suspending_messages.py": (
        "anthropic-messages/plain/sync",
        {"resume-obeys-each-decision", "suspended-state-travels", "limit-is-a-ceiling"},
    ),
    "submitting_messages.py": ("anthropic-messages/plain/async", {"next-turn-is-accepted", "final-text-is-returned"}),
    "leaving_responses.mjs": (
        "openai-responses/stream/async",
        {"next-turn-after-leaving-is-accepted", "left-run-starts-no-tool"},
    ),
    "insisting_chat.py": (
        "openai-chat/plain/sync",
        {
            "truncated-answer-is-told",
            "bad-arguments-are-not-lost",
            "unknown-tool-is-not-lost",
            "inherited-names-are-no-tools",
        },
    ),
}
"""Each right loop, with a cell and the rows that are near to its style."""
ESCAPED = ["awaited-too-late", "thrown-in-a-timer"]


@pytest.mark.parametrize("loop", RIGHT)
def test_right_loop_fails_nothing(loop: str) -> None:
    """Of these rows none counts against it, and it runs a call."""
    require_playable(loop)
    cell, near = RIGHT[loop]

    results = rows(f"odd/{loop}", cell, {CONTROL, *near})

    assert {"pass"} <= {one.verdict for one in results if one.requirement == CONTROL}
    assert [] == [f"{one.requirement}: {one.reason}" for one in results if one.verdict in {*AGAINST, "error"}]


@pytest.mark.parametrize("fault", ESCAPED)
def test_error_that_escapes_is_told(fault: str) -> None:
    """An error that no caller can catch has ended the process: it is the outcome of its run, and no driver fault."""
    require_playable("escaping.mjs")
    selection = Selection(cells=("openai-chat/plain/async",), traits=("error-beside-a-running-call",))
    session = Session.begin(Options(driver(f"odd/escaping.mjs {fault}"), selection, patience=Patience(20.0, 2.0)))
    run_pytest(session)
    session.end()

    assert ["error-for-nobody"] == [one.answer for one in session.survey.answers]
    assert [] == session.record.faults


def test_all_loops_are_listed() -> None:
    """The README of the folder lists each loop, and each is played."""
    loops = {path.name for path in (HERE / "odd").iterdir() if path.suffix in {".py", ".mjs"}}
    readme = (HERE / "odd" / "README.md").read_text(encoding="utf-8")

    assert loops == RIGHT.keys()
    assert [] == [loop for loop in loops if f"| `{loop}` |" not in readme]
