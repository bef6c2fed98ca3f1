"""The model section of a prompt, mapped to a wire: its API, base URL, key and request options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from looptck_reference.vocabulary.errors import UnknownModel
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire

if TYPE_CHECKING:
    from looptck_reference.prompty.prompts import Model
    from looptck_reference.vocabulary.values import Json

__all__ = ["Service", "options_of", "service_of"]

WIRES: dict[tuple[str, str], Wire] = {
    ("openai", "chat"): OPENAI_CHAT,
    ("openai", "responses"): OPENAI_RESPONSES,
    ("anthropic", "chat"): ANTHROPIC_MESSAGES,
}
ENDPOINTS = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}

OPTIONS: dict[Wire, dict[str, str]] = {
    OPENAI_CHAT: {
        "temperature": "temperature",
        "topP": "top_p",
        "maxOutputTokens": "max_completion_tokens",
        "stopSequences": "stop",
        "seed": "seed",
        "frequencyPenalty": "frequency_penalty",
        "presencePenalty": "presence_penalty",
        "allowMultipleToolCalls": "parallel_tool_calls",
    },
    OPENAI_RESPONSES: {
        "temperature": "temperature",
        "topP": "top_p",
        "maxOutputTokens": "max_output_tokens",
        "allowMultipleToolCalls": "parallel_tool_calls",
    },
    ANTHROPIC_MESSAGES: {
        "temperature": "temperature",
        "topP": "top_p",
        "topK": "top_k",
        "maxOutputTokens": "max_tokens",
        "stopSequences": "stop_sequences",
    },
}
"""The request member for each option of a prompt, by wire."""


@dataclass(frozen=True, slots=True)
class Service:
    """The address of a model, its API key, and the wire to use."""

    wire: Wire
    base_url: str
    """The URL, including the API version."""
    api_key: str


def service_of(model: Model) -> Service:
    """The service that a prompt names.

    Raises:
        UnknownModel: no wire supports this provider and API, or there is no key.
    """
    wire = WIRES.get((model.provider, model.api_type))
    if wire is None:
        known = ", ".join(f"{provider} with {api}" for provider, api in WIRES)
        raise UnknownModel(f"no wire supports API {model.api_type!r} of {model.provider!r}; supported: {known}")
    if model.api_key is None:
        raise UnknownModel(f"the model {model.id!r} has no key; give model.connection an apiKey")
    endpoint = (model.endpoint or ENDPOINTS[model.provider]).rstrip("/")
    if model.provider == "anthropic" and not endpoint.endswith("/v1"):
        endpoint += "/v1"  # as Anthropic's own clients do
    return Service(wire, endpoint, model.api_key)


def options_of(model: Model, wire: Wire) -> Json:
    """The options of a prompt as members of a request; `additionalProperties` are sent unchanged.

    Raises:
        UnknownModel: the wire has no such option.
    """
    names = OPTIONS[wire]
    members: dict[str, Any] = {}
    for name, value in model.options.items():
        if name == "additionalProperties":
            members |= value
        elif name in names:
            members[names[name]] = value
        else:
            raise UnknownModel(f"this wire does not support the option {name!r}; supported: {', '.join(names)}")
    return members
