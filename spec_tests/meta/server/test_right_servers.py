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
FORWARDED = (
    "server-dispatch-url-is-not-the-requests",
    "server-malformed-bodies-are-refused",
    "server-large-bodies-are-refused",
    "server-unrun-calls-are-told",
)


def verdicts(folder: Path, driver: str, *requirements: str, stream: bool = True) -> dict[str, set[str]]:
    """The verdicts of each requirement on a server."""
    words = ["run", "--driver", driver, "--profile", "server-loop", "--json", str(folder / "found.json"), "-j", "1"]
    cells = ["openai-chat/plain/sync", *(["openai-chat/stream/sync"] if stream else [])]
    words += [word for cell in cells for word in ("--cell", cell)]
    words += [word for one in requirements for word in ("--requirement", one)]
    done = CliRunner().invoke(main, words)
    found: dict[str, set[str]] = {}
    for one in json.loads((folder / "found.json").read_bytes())["results"]:
        if one["verdict"] != "divergence":
            found.setdefault(one["requirement"], set()).add(one["verdict"])

    assert 0 == done.exit_code, done.output
    return found


def test_a_later_server_is_right(tmp_path: Path) -> None:
    """What a later version of the documents does otherwise is a choice of the documents, or is accepted."""
    found = verdicts(tmp_path, "server:python:meta.server.right_servers:Later", *LATER)

    accepted = {"server-text-beside-a-call-is-told-alike", "server-unrun-calls-are-told"}
    passed = {*accepted, "server-malformed-arguments-are-told"}
    assert {one: {"pass"} if one in passed else {"not-applicable"} for one in LATER} == found


def test_a_session_without_state_is_right(tmp_path: Path) -> None:
    """Where neither variables nor files of a program outlive it, no other session can see them."""
    id = "server-code-state-stays-in-its-session"
    found = verdicts(tmp_path, "server:python:meta.server.right_servers:ForgetsVariables", id)

    assert {id: {"not-applicable"}} == found


@pytest.fixture(name="forwarding")
def _forwarding(tmp_path: Path) -> str:
    """The driver of the server that forwards."""
    described = {
        "name": "forwarding",
        "version": "1",
        "wires": ["openai-chat"],
        "capabilities": ["dispatch", "upstream"],
        "command": [sys.executable, str(Path(__file__).with_name("forwarding.py")), "{port}", "{upstream}"],
        "setups": {"usual": ["{dispatch}"]},
    }
    path = tmp_path / "server.yaml"
    path.write_bytes(compact(described))
    return f"server:{path}"


def test_a_server_may_leave_refusals_to_its_model(tmp_path: Path, forwarding: str) -> None:
    """Unknown members, invalid and large bodies may reach the model; calls that do not run may be in the log alone."""
    found = verdicts(tmp_path, forwarding, *FORWARDED, stream=False)

    assert {one: {"pass"} for one in FORWARDED} == found
