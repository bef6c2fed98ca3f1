"""The cassettes that the project ships: whole, clean, and as the judge would have them today."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import vcr  # type: ignore[import-untyped]

from looptck.agents import agent
from looptck.cassettes import Cassette, cassettes, read, scenarios
from looptck.history import Asked
from looptck.wires import WIRES
from meta.cassettes.doctored import doctored

SHIPPED = cassettes()
each = pytest.mark.parametrize("cassette", SHIPPED.values(), ids=SHIPPED)

SECRETS = re.compile(
    r"bearer|authorization|api[-_ ]?key|cookie|password|begin [a-z ]*private key"
    r"|\b(sk|pk|rk|ghp|gho|xox[abp])[-_][\w-]{8}"
    r"|\bAKIA[0-9A-Z]{16}\b|\beyJ\w{8,}\.\w{8,}",
    re.IGNORECASE,
)
PATHS = re.compile(r"/(home|root|tmp|Users|var|opt|work)/|[A-Z]:\\\\")
HOSTS = re.compile(r"\w+://([^/\s\"':]*)")
ADDRESSES = re.compile(r"[\w.+-]+@[\w-]+\.\w+")


def test_each_scenario_in_both_modes() -> None:
    """What was recorded on a wire was recorded plain and as a stream."""
    wires = {found.wire for found in SHIPPED.values()}

    assert {f"{wire}/{name}-{mode}" for wire in wires for name in scenarios() for mode in ("plain", "stream")} == set(
        SHIPPED
    )


@each
def test_vcrpy_plays_it(cassette: Cassette) -> None:
    """The provenance does not disturb vcrpy, and the bytes that it would play are the same."""
    with vcr.use_cassette(str(cassette.path), record_mode="none") as tape:
        bodies = [response["body"]["string"] for response in tape.responses]
        routes = {request.path for request in tape.requests}

    assert [exchange.reply.body for exchange in cassette.exchanges] == bodies
    assert {f"/v1{WIRES[cassette.wire].route}"} == routes


@each
def test_nothing_private(cassette: Cassette) -> None:
    """There is no secret, no address, no path of a machine and no host but the loopback in it."""
    text = cassette.path.read_text(encoding="utf-8")

    assert [] == [found.group() for pattern in (SECRETS, PATHS, ADDRESSES) for found in pattern.finditer(text)]
    assert {"127.0.0.1"} == set(HOSTS.findall(text))


@pytest.mark.parametrize(
    "text",
    ["Authorization: x", "sk-proj-123456789", "api_key=1", "Set-Cookie: a", "AKIAABCDEFGHIJKLMNOP", "ghp_123456789"],
)
def test_secrets_are_seen(text: str) -> None:
    """The search for secrets finds some."""
    assert SECRETS.search(text)


@each
def test_judge_accepts_every_request(cassette: Cassette) -> None:
    """What was sent then is what the judge of today accepts."""
    judge = WIRES[cassette.wire].service(True).judge

    assert [] == [problem for exchange in cassette.exchanges for problem in judge(exchange.body)]


def test_judge_sees_a_bad_request(tmp_path: Path) -> None:
    """The test above would fail: an orphaned result in a recorded request is refused."""

    def orphan(content: Any) -> None:
        request = content["interactions"][1]["request"]
        body = json.loads(request["body"])
        body["messages"] = [message for message in body["messages"] if message["role"] != "assistant"]
        request["body"] = json.dumps(body)

    bad = read(doctored(tmp_path, orphan))

    assert [] == WIRES[bad.wire].service(True).judge(bad.exchanges[0].body)
    assert [] != WIRES[bad.wire].service(True).judge(bad.exchanges[1].body)


@each
def test_turns_are_what_the_client_echoed(cassette: Cassette) -> None:
    """Two readers agree: the kit's, of the reply, and the recording client's, in the request that came next."""
    for before, after in zip(cassette.exchanges, cassette.exchanges[1:], strict=False):
        calls = [(call.id, call.tool, call.arguments) for call in before.turn.calls]
        new = after.request.items[len(before.request.items) :]

        assert calls == [(item.id, item.tool, item.arguments) for item in new if isinstance(item, Asked)]


@each
def test_conversation_is_the_assistants(cassette: Cassette) -> None:
    """Prompt and tools are still those of the agent that the kit hands over when it plays the cassette."""
    assistant = agent("assistant")

    assert assistant.messages({"question": cassette.question}) == cassette.prompt
    assert list(assistant.tools) == cassette.tools
