"""What a service refuses by the headers of a request, before it reads the body."""

from __future__ import annotations

from collections.abc import Mapping

from looptck.values.problem import Problem

TYPE = {"content-type-is-json": "A body has the content type of JSON."}
VERSION = {"version-is-named": "A request names the version of the API in the header anthropic-version."}
"""The id of every rule, and the rule in one sentence."""


def type_problems(headers: Mapping[str, str]) -> list[Problem]:
    """A body that says to be no JSON. One without a content type is taken for JSON."""
    type = headers.get("content-type", "application/json")
    if "json" in type.lower():
        return []
    message = (
        f"Unsupported content type: '{type}'. This API method only accepts 'application/json' requests, but you "
        f"specified the header 'Content-Type: {type}'. Please try again with a supported content type."
    )
    return [Problem("content-type-is-json", "", message, code="unsupported_content_type")]


def version_problems(headers: Mapping[str, str]) -> list[Problem]:
    """A body that says to be no JSON, or a request without the version."""
    untyped = [Problem(one.rule, one.pointer, one.message) for one in type_problems(headers)]
    if headers.get("anthropic-version"):
        return untyped
    return [Problem("version-is-named", "", "anthropic-version: header is required"), *untyped]
