"""`looptck-reference serve`: a process of its own, reached over HTTP."""

from __future__ import annotations

import signal

import httpx
import pytest
from click.testing import CliRunner

from looptck_reference.server import Callback
from looptck_reference.server.cli import main
from meta.reference.server.processes import last_words, model, served
from meta.reference.server.serving import QUESTION, WEATHER, call, event, events, names, turn

HERE = "meta.reference.server"
UPSTREAM = ("--upstream", "http://127.0.0.1:1/v1")
PING = Callback("ping", lambda: "pong")
BODY = {"model": "m", "messages": [QUESTION], "stream": True}


def test_a_server_serves_and_stops_cleanly() -> None:
    """What the options name is there; status 0, and nothing on stderr."""
    named = ("--callback", f"{HERE}.test_cli:PING", "--variant", f"{HERE}.broken_servers:LeaksCalls")
    search = call("mistralrs_search_the_web", {"query": "Rome"})
    with (
        model(turn(None, search), turn(None, call("ping")), turn("On the Tiber.")) as there,
        served("--upstream", there.url, "--enable-search", *named) as (process, url),
    ):
        content = httpx.post(f"{url}/v1/chat/completions", json=BODY, trust_env=False).content
        process.send_signal(signal.SIGINT)
        errors = last_words(process)

    assert ["calling", "complete", "calling", "complete", "[DONE]"] == names(events(content))
    assert [True, True] == [word in content for word in (b'"content":"pong"', b'"tool_calls":')]
    assert (0, "") == (process.returncode, errors)


def test_a_server_that_stops_tells_its_clients() -> None:
    """A stream begins while its tool runs, and ends explicitly when the grace is over; status 0, nothing on stderr."""
    with model(turn(None, call("weather"))) as there, model(None) as tools:
        options = ("--upstream", there.url, "--tool-dispatch-url", f"{tools.url}/run", "--grace", "0")
        with (
            served(*options) as (process, url),
            httpx.stream(
                "POST", f"{url}/v1/chat/completions", json={**BODY, "tools": [WEATHER]}, trust_env=False
            ) as response,
        ):
            assert tools.reached.wait(10)
            lines = response.iter_lines()
            early = [next(lines) for _ in range(4)]
            process.send_signal(signal.SIGTERM)
            late = list(lines)
            errors = last_words(process)

    told = event("\n".join(early[2:]))
    assert (200, "agentic_tool_call_progress", "calling") == (response.status_code, told[0], told[1]["phase"])
    assert ["", '"code":"stopping"', "[DONE]", ""] == [late[0], late[1][-19:-2], late[3][6:], late[4]]
    assert (0, "") == (process.returncode, errors)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "Missing option '--upstream'"),
        (("--upstream", "x"), "x is not an http URL"),
        ((*UPSTREAM, "--tool-dispatch-url", "x"), "x is not an http URL"),
        ((*UPSTREAM, "--set", "cap=x"), "cap must be one of force-final, return-pending, error, not 'x'"),
        ((*UPSTREAM, "--set", "x=y"), "no dialect has the question 'x'"),
        ((*UPSTREAM, "--max-tool-rounds", "-1"), "--max-tool-rounds"),
        ((*UPSTREAM, "--agent-permission", "x"), "--agent-permission"),
        ((*UPSTREAM, "--callback", "nowhere:x"), "nowhere:x"),
        ((*UPSTREAM, "--callback", "json:dumps"), "not all of them are instances of `Callback`"),
        ((*UPSTREAM, "--variant", "json:dumps"), "json:dumps is not a Simulator"),
        ((*UPSTREAM, "--host", "0.0.0.0", "--enable-code-execution"), "only on the loopback address"),  # noqa: S104
    ],
)
def test_a_wrong_option_is_named(options: tuple[str, ...], words: str) -> None:
    """With status 2."""
    result = CliRunner().invoke(main, ["serve", *options])

    assert 2 == result.exit_code
    assert words in result.output


def test_a_port_that_is_taken_is_told() -> None:
    """With status 1."""
    with model() as there:
        result = CliRunner().invoke(main, ["serve", *UPSTREAM, "--port", str(there.server_address[1])])

    assert 1 == result.exit_code
    assert "cannot listen on 127.0.0.1" in result.output
