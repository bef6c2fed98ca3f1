"""Recordings: a test's conversation with a service is recorded through the fixture, and played back byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from looptck import LLM, Failed, calls, cut, says
from looptck.catalogue.data import cassette
from looptck.catalogue.yaml_files import BadFile
from meta.mock.clients import ROUTES, WEATHER, ask, body, post, text

KEY = "sk-looptck-a-key-that-must-not-be-kept-0123456789"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": WEATHER}}


def _environment(service: LLM) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": service.openai_url,
        "ANTHROPIC_BASE_URL": service.anthropic_url,
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_API_KEY": KEY,
    }


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", ROUTES)
def test_what_is_recorded_is_played(tmp_path: Path, wire: str, *, stream: bool) -> None:
    """The bytes are those of the service, which got the key of the environment; the file has no key."""
    with LLM() as service:
        service.plays(says("Hello.").framed(every=7))
        with LLM(records=_environment(service), folder=tmp_path) as llm:
            llm.replays("tapes/mine.yaml")
            recorded = post(llm.base_url + ROUTES[wire], body(wire, f"My key is {KEY}.", stream=stream))
            llm.keep("a test")
        sent = dict(service.requests[0].headers)
    with LLM(folder=tmp_path) as llm:
        llm.replays("tapes/mine.yaml")
        played = post(llm.base_url + ROUTES[wire], body(wire, "My key is.", stream=stream))

    assert (recorded[0], recorded[2]) == (played[0], played[2])
    assert KEY in sent["x-api-key" if wire == "anthropic-messages" else "authorization"]
    assert KEY not in (tmp_path / "tapes" / "mine.yaml").read_text("utf-8")


def test_a_conversation_on_two_wires(tmp_path: Path) -> None:
    """A recording may have several requests, on several wires; ids go back as they were recorded."""
    with LLM() as service:
        service.plays(calls("weather", city="Paris").with_ids("call_recorded"), "Sunny.", "Hello.")
        with LLM(records=_environment(service), folder=tmp_path) as llm:
            llm.replays("mine.yaml")
            _converse(llm)
            llm.keep("a test")
    with LLM(folder=tmp_path) as llm:
        llm.replays("mine.yaml")
        _converse(llm)

        assert {"call_recorded": "21"} == llm.requests[1].results


def _converse(llm: LLM) -> None:
    _, first = ask(llm.base_url, "openai-chat", "Hi.", tools=[TOOL])
    message = {key: first["choices"][0]["message"][key] for key in ("role", "content", "tool_calls")}
    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "21"}
    _, second = ask(llm.base_url, "openai-chat", "Hi.", message, result, tools=[TOOL])
    assert "Sunny." == text("openai-chat", second)
    assert "Hello." == text("anthropic-messages", ask(llm.base_url, "anthropic-messages", "Hi.")[1])


def test_breaks_are_recorded(tmp_path: Path) -> None:
    """A stream that breaks off is played so too."""
    asked = body("openai-chat", "Hi.", stream=True)
    with LLM() as service:
        service.plays(cut(says("A long text in many pieces."), "before-finish"))
        with LLM(records=_environment(service), folder=tmp_path) as llm:
            llm.replays("mine.yaml")
            with pytest.raises(Exception, match="IncompleteRead"):
                post(llm.base_url + ROUTES["openai-chat"], asked)
            llm.keep("a test")
    with LLM(folder=tmp_path) as llm:
        llm.replays("mine.yaml")

        with pytest.raises(Exception, match="IncompleteRead"):
            post(llm.base_url + ROUTES["openai-chat"], asked)


def test_a_recording_is_judged(tmp_path: Path) -> None:
    """A recording that is not played to its end fails the test, as any script does."""
    llm = LLM()
    path = cassette("openai-chat/one-call-plain.yaml")
    with pytest.raises(Failed, match="2 of the script's answers were not played"), llm:
        llm.replays(path)


def test_what_cannot_be_recorded(tmp_path: Path) -> None:
    """A service that does not answer, and a test that asks nothing, are told."""
    nowhere = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": KEY}
    with LLM(records=nowhere, folder=tmp_path) as llm:
        llm.replays("mine.yaml")
        with pytest.raises(Failed, match="nothing was asked"):
            llm.keep("a test")
        assert 502 == post(llm.base_url + ROUTES["openai-chat"], body("openai-chat", "Hi."))[0]
        with pytest.raises(Failed, match=r"127\.0\.0\.1:9/v1 could not be asked"):
            llm.keep("a test")


def test_what_cannot_be_played(tmp_path: Path) -> None:
    """A file that is no recording is told with its path."""
    (tmp_path / "mine.yaml").write_text("script: [x]", encoding="utf-8")
    with LLM(folder=tmp_path) as llm, pytest.raises(BadFile, match=r"mine\.yaml"):
        llm.replays("mine.yaml")
