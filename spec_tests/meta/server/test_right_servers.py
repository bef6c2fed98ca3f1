"""Right servers never fail: choices of the documents, refusals of the model, and whatever else is nobody's fault."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from looptck.cli.group import main
from looptck.values.jsontext import compact

LATER = (
    "server-search-is-advertised",
    "server-code-execution-is-advertised",
    "server-cap-ends-tool-use",
    "server-cap-forces-an-answer",
    "server-calling-arguments-are-parsed",
    "server-complete-of-code-tells-the-code",
    "server-complete-of-search-tells-query-and-count",
    "server-complete-of-custom-repeats-the-arguments",
    "server-session-id-is-enough",
    "server-text-beside-a-call-is-told-alike",
    "server-unrun-calls-are-told",
    "server-malformed-arguments-are-told",
)
RECORDED = (
    "server-plain-reply-records-each-round",
    "server-records-tell-the-result",
    "server-plain-and-stream-record-alike",
    "server-replies-fit-their-schemas",
)
FORWARDED = (
    "server-dispatch-url-is-not-the-requests",
    "server-malformed-bodies-are-refused",
    "server-large-bodies-are-refused",
    "server-unrun-calls-are-told",
)


def verdicts(
    folder: Path, driver: str, *requirements: str, stream: bool = True, status: int = 0
) -> dict[str, set[str]]:
    """The verdicts of each requirement on a server; ``status``: that of the command."""
    words = ["run", "--driver", driver, "--profile", "server-loop", "--json", str(folder / "found.json"), "-j", "1"]
    cells = ["openai-chat/plain/sync", *(["openai-chat/stream/sync"] if stream else [])]
    words += [word for cell in cells for word in ("--cell", cell)]
    words += [word for one in requirements for word in ("--requirement", one)]
    done = CliRunner().invoke(main, words)
    found: dict[str, set[str]] = {}
    for one in json.loads((folder / "found.json").read_bytes())["results"]:
        if one["verdict"] != "divergence":
            found.setdefault(one["requirement"], set()).add(one["verdict"])

    assert status == done.exit_code, done.output
    return found


def test_a_later_server_is_right(tmp_path: Path) -> None:
    """What a later version of the documents does otherwise is a choice of the documents, or is accepted."""
    found = verdicts(tmp_path, "server:python:meta.server.right_servers:Later", *LATER)

    accepted = {"server-text-beside-a-call-is-told-alike", "server-unrun-calls-are-told"}
    passed = {*accepted, "server-malformed-arguments-are-told"}
    wanted = {one: {"pass"} if one in passed else {"not-applicable"} for one in LATER}
    wanted["server-complete-of-search-tells-query-and-count"] |= {"pass"}  # of the two, the number is in complete
    assert wanted == found


def test_a_session_without_state_is_right(tmp_path: Path) -> None:
    """Where neither variables nor files of a program outlive it, no other session can see them."""
    id = "server-code-state-stays-in-its-session"
    found = verdicts(tmp_path, "server:python:meta.server.right_servers:ForgetsVariables", id)

    assert {id: {"not-applicable"}} == found


@pytest.mark.parametrize(
    ("server", "id", "verdict"),
    [
        ("CapIsAnError", "server-failing-tool-counts-as-a-round", "pass"),
        ("CapIsAnError", "server-pending-call-is-told-at-the-cap", "pass"),
        ("CapturesWhatIsNamed", "server-new-files-are-surfaced", "not-applicable"),
        ("CountsItself", "server-usage-is-the-sum-of-its-rounds", "not-applicable"),
        ("ReadingIsNoUse", "server-sessions-are-bounded", "pass"),
        ("TellsUsageIfAsked", "server-usage-is-the-sum-of-its-rounds", "pass"),
    ],
)
def test_choices(tmp_path: Path, server: str, id: str, verdict: str) -> None:
    """What no document decides, or each of two decides in its way, fails no check."""
    found = verdicts(tmp_path, f"server:python:meta.server.right_servers:{server}", id)

    assert {id: {verdict}} == found


def test_recorded_arguments_may_be_an_object(tmp_path: Path) -> None:
    """The document that has the records gives no type for their arguments: text and an object are right."""
    found = verdicts(tmp_path, "server:python:meta.server.right_servers:RecordsObjects", *RECORDED)

    assert {one: {"pass"} for one in RECORDED} == found


def forwarding(folder: Path, *capabilities: str, silent: bool = False) -> str:
    """The driver of the server that forwards; a silent one writes no log."""
    program = [sys.executable, str(Path(__file__).with_name("forwarding.py"))]
    described = {
        "name": "forwarding",
        "version": "1",
        "wires": ["openai-chat"],
        "capabilities": ["dispatch", "upstream", *capabilities],
        "command": [*(SILENTLY if silent else ()), *program, "{port}", "{upstream}"],
        "setups": {"usual": ["{dispatch}"]},
    }
    path = folder / "server.yaml"
    path.write_bytes(compact(described))
    return f"server:{path}"


SILENTLY = ("sh", "-c", 'exec "$@" 2>/dev/null', "sh")


def test_a_server_may_leave_refusals_to_its_model(tmp_path: Path) -> None:
    """Unknown members, invalid and large bodies may reach the model; calls that do not run may be in the log alone."""
    found = verdicts(tmp_path, forwarding(tmp_path), *FORWARDED, stream=False)

    assert {one: {"pass"} for one in FORWARDED} == found


@pytest.mark.parametrize(
    ("capabilities", "silent", "verdict"),
    [([], True, "not-applicable"), (["log"], True, "fail"), (["log"], False, "pass")],
)
def test_an_empty_log_warns_of_nothing(tmp_path: Path, capabilities: list[str], silent: bool, verdict: str) -> None:
    """The warning of a call that does not run may be in a log elsewhere, unless the server says where its log goes."""
    driver = forwarding(tmp_path, *capabilities, silent=silent)
    status = 1 if verdict == "fail" else 0
    found = verdicts(tmp_path, driver, "server-unrun-calls-are-told", stream=False, status=status)

    assert {"server-unrun-calls-are-told": {verdict}} == found
