"""Dialects: what compatible servers accept is accepted, all else is judged as ever, and their quirks are sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from click.testing import CliRunner

from looptck.catalogue.dialects import Dialect, dialect, names
from looptck.cli.group import main
from looptck.values.framing import DEFAULT
from looptck.values.turns import Call, calls
from looptck.wires import WIRES
from looptck.wires.anthropic_messages.judge import RULES as MESSAGES_RULES
from looptck.wires.openai_chat.judge import RULES as CHAT_RULES
from looptck.wires.openai_responses.judge import RULES as RESPONSES_RULES
from looptck.wires.spoken import spoken

RULES: Mapping[str, Mapping[str, str]] = {
    "openai-chat": CHAT_RULES,
    "openai-responses": RESPONSES_RULES,
    "anthropic-messages": MESSAGES_RULES,
}
EACH = pytest.mark.parametrize("known", [dialect(name) for name in names()], ids=names())
CALL = {"id": "call_1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Go."}, {"role": "assistant", "tool_calls": [CALL]}]
ANSWERED = [*ASKED, {"role": "tool", "tool_call_id": "call_1", "content": "pong"}]
NARROW = ["-j", "1", "--requirement", "every-call-of-a-turn-runs"]
TURN = calls(Call.of("ping"), Call.of("add", {"a": 1, "b": 2}), text="I look.").numbered(1)


def _rules(name: str, wire: str, body: Any) -> list[str]:
    return [problem.rule for problem in spoken(WIRES[wire], dialect(name)).service(True).judge(body)]


@EACH
def test_a_dialect_is_about_rules_that_there_are(known: Dialect) -> None:
    """Each rule is one of its wire, and each quirk can be sent; whoever speaks it otherwise is told."""
    assert [] == [one.rule for one in known.accepts if one.rule not in RULES[one.wire]]
    assert all(spoken(wire, known).name == wire.name for wire in WIRES.values())


@EACH
def test_what_a_dialect_accepts_is_refused_elsewhere(known: Dialect) -> None:
    """Each member of a request that it declares is unknown to the service itself."""
    for one in known.accepts:
        for pointer in one.at if one.rule == "parameters-are-known" else ():
            body = {"model": "m", "messages": ANSWERED, "input": "Go.", "max_tokens": 9, pointer[1:]: {}}
            own = [problem.pointer for problem in WIRES[one.wire].service(True).judge(body)]

            assert pointer in own
            assert pointer not in [
                problem.pointer for problem in spoken(WIRES[one.wire], known).service(True).judge(body)
            ]


@pytest.mark.parametrize(
    ("name", "wire", "body", "own"),
    [
        (
            "openrouter",
            "openai-chat",
            {"provider": {"order": ["x"]}, "usage": {"include": True}},
            "parameters-are-known",
        ),
        ("openrouter", "openai-chat", {"tools": [{"type": "openrouter:web_search"}]}, "tools-are-whole"),
        ("mistral", "openai-chat", {"tools": [{"function": {"name": "ping"}}]}, "tools-are-whole"),
        ("groq", "openai-chat", {"service_tier": "on_demand"}, "values-fit"),
        ("azure", "openai-chat", {"model": None}, "model-is-named"),
        ("llama.cpp", "openai-chat", {"model": None}, "model-is-named"),
    ],
)
def test_an_accepted_request_is_still_judged(name: str, wire: str, body: dict[str, Any], own: str) -> None:
    """It is accepted with what the server knows, and refused for a call without a result all the same."""
    good = {"model": "m", "messages": ANSWERED, **body}
    if good["model"] is None:
        del good["model"]

    assert [own] == sorted({problem.rule for problem in WIRES[wire].service(True).judge(good)})
    assert [] == _rules(name, wire, good)
    assert ["every-call-is-answered"] == _rules(name, wire, {**good, "messages": ASKED})


def test_a_word_for_a_required_call() -> None:
    """Mistral's word for a required call is judged as the service's."""
    body = {"model": "m", "messages": ANSWERED, "tool_choice": "any", "tools": [{"function": {"name": "ping"}}]}

    assert [] == _rules("mistral", "openai-chat", body)
    assert ["choice-needs-tools"] == _rules("mistral", "openai-chat", {**body, "tools": None})


def test_what_is_judged_does_not_change() -> None:
    """The body of a request is left as it came."""
    body = {"model": "m", "messages": ANSWERED, "provider": {"order": ["x"]}}

    assert [] == _rules("openrouter", "openai-chat", body)
    assert {"order": ["x"]} == body["provider"]


def test_a_dialect_sends_its_quirks() -> None:
    """VLLM's last delta has the finish reason; a reply to which a check gives a quirk has that one alone."""
    wire = spoken(WIRES["openai-chat"], dialect("vllm"))

    def last(framing: Any) -> Any:
        return [event for event in wire.events(TURN, 1, framing) if isinstance(event, dict) and event["choices"]][-1]

    assert last(DEFAULT)["choices"][0]["delta"].get("tool_calls")
    assert not last(DEFAULT.but(quirk="role-repeated"))["choices"][0]["delta"].get("tool_calls")


def test_a_dialect_frames_what_nobody_frames() -> None:
    """Groq's calls come whole, and OpenRouter's streams have comments; a check that wants a framing gets that."""
    whole, noted = (spoken(WIRES["openai-chat"], dialect(name)) for name in ("groq", "openrouter"))

    def deltas(framing: Any) -> int:
        events = [event for event in whole.events(TURN, 1, whole.framed(framing)) if isinstance(event, dict)]
        return sum(bool(choice["delta"].get("tool_calls")) for event in events for choice in event["choices"])

    assert [1, True] == [deltas(DEFAULT), deltas(DEFAULT.but(fragment=3)) > 1]
    assert b"\n: keep-alive\n" in noted.framed(DEFAULT).encode(noted.events(TURN, 1, noted.framed(DEFAULT)))


def test_a_dialect_that_does_not_concern_a_wire_leaves_it() -> None:
    """The wires that a dialect says nothing of are the services' own."""
    assert WIRES["anthropic-messages"] is spoken(WIRES["anthropic-messages"], dialect("vllm"))


@pytest.mark.parametrize("name", ["vllm", "gemini", "deepseek"])
def test_a_run_in_a_dialect(name: str) -> None:
    """The reference passes in a dialect."""
    options = [
        "--dialect",
        name,
        "--cell",
        "openai-chat/*/sync",
        "-j",
        "1",
        "--requirement",
        "every-call-of-a-turn-runs",
    ]

    found = CliRunner().invoke(main, ["run", *options])

    assert 0 == found.exit_code, found.output


def test_a_dialect_that_there_is_not() -> None:
    """The name is told, with those that there are."""
    found = CliRunner().invoke(
        main, ["run", "--dialect", "vlm", "-j", "1", "--requirement", "every-call-of-a-turn-runs"]
    )

    assert 2 == found.exit_code
    assert "there is no dialect 'vlm'; did you mean vllm" in found.output


@pytest.mark.parametrize(
    ("loop", "told"),
    [("IdsOfItsOwn", "looptck run --dialect deepseek (or openrouter, xai)"), ("WordOfItsOwn", "")],
)
def test_smoke_names_the_servers_that_accept_it(loop: str, told: str) -> None:
    """What the service refuses may be right for another server; where it is right for none, nothing is said."""
    done = CliRunner().invoke(main, ["smoke", "--driver", f"python:meta.wires.other_servers:{loop}"])
    lines = [line for line in done.output.splitlines() if "the service refuses the request" in line]

    assert lines, done.output
    assert {told} == {line.partition("another server that accepts it: ")[2] for line in lines}
