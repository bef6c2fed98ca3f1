"""Requests that a service refuses by their headers."""

from __future__ import annotations

import pytest

from looptck.wires import WIRES

JSON = {"content-type": "application/json", "anthropic-version": "2023-06-01"}


def _rules(wire: str, **changes: str | None) -> list[str]:
    """The rules that these headers break; None takes one away."""
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    headers = {name: value for name, value in {**JSON, **named}.items() if value is not None}
    return [problem.rule for problem in WIRES[wire].by_headers(headers)]


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("type", ["application/json", "application/json; charset=utf-8", "Application/JSON", None])
def test_json_is_taken_in_any_spelling(wire: str, type: str | None) -> None:
    """A content type of JSON may have parameters and capitals, and a body without one is taken for JSON."""
    assert [] == _rules(wire, content_type=type)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("type", ["text/plain;charset=UTF-8", "application/x-www-form-urlencoded", ""])
def test_a_body_of_another_type_is_refused(wire: str, type: str) -> None:
    """JSON that is sent as plain text or as a form, as clients do by themselves, is refused."""
    assert ["content-type-is-json"] == _rules(wire, content_type=type)


@pytest.mark.parametrize("version", [None, ""])
def test_messages_need_their_version(version: str | None) -> None:
    """A request of Messages without anthropic-version is refused; the other wires have no such header."""
    assert ["version-is-named"] == _rules("anthropic-messages", anthropic_version=version)
    assert [] == _rules("openai-chat", anthropic_version=version)
    assert [] == _rules("openai-responses", anthropic_version=version)


def test_refusal_has_the_code_of_the_service() -> None:
    """OpenAI names the fault in the code of its error."""
    wire = WIRES["openai-chat"]
    (problem,) = wire.by_headers({"content-type": "text/plain"})

    error = wire.refusal(problem)["error"]

    assert ("unsupported_content_type", None) == (error["code"], error["param"])
