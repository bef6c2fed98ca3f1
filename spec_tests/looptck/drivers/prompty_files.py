"""Agents as files of one run: copies of ``.prompty`` files with the address of the mock provider.

The copies contain what a person would add: the provider, the API, the base URL as its client expects it, the key, and
whether to stream. Everything else comes from the original file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from looptck.catalogue.agents import Agent, parted
from looptck.values.cell import Cell

_MODELS = {
    "openai-chat": {"provider": "openai", "apiType": "chat"},
    "openai-responses": {"provider": "openai", "apiType": "responses"},
    "anthropic-messages": {"provider": "anthropic", "apiType": "chat"},
}
ADDRESS = "https://address.invalid"
"""The place of the endpoint in a file that has it in a reference."""


def stage(
    agent: Agent,
    folder: Path,
    cell: Cell,
    *,
    base_url: str,
    api_key: str,
    model: str | None = None,
    as_guide: bool = False,
) -> Path:
    """Copy an agent and the agents of its tools into a folder, which need not exist; the path of its copy.

    The base URL ends in /v1, as OpenAI clients take it. ``model`` is the model's name; None: the one in each file.
    ``as_guide``: inputs and parameters have the form of the Agent Mode guide; else they are lists.
    """
    model_settings = (
        _model(cell, base_url, api_key) if model is None else {**_model(cell, base_url, api_key), "id": model}
    )
    home = agent.path.parent
    for one in (agent, *agent.children):
        copy = folder / one.path.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_directed(one, model_settings, as_guide=as_guide), encoding="utf-8")
    return folder / agent.path.name


def _directed(agent: Agent, model: Mapping[str, Any], *, as_guide: bool) -> str:
    front, body = _original(agent.path)
    connection = dict(model["connection"])
    if "connection" in front["model"]:
        reference: str = front["model"]["connection"]["endpoint"]
        connection["endpoint"] = reference.replace(ADDRESS, connection["endpoint"])
    own = _written({"model": {**front["model"], **model, "connection": connection}})
    return f"---\n{_all_but_model(agent.path, as_guide)}{own}---\n{body}"


@cache
def _all_but_model(path: Path, as_guide: bool) -> str:
    """The frontmatter that is the same in all runs."""
    front = {key: value for key, value in _original(path)[0].items() if key != "model"}
    return _written(dict(_as_guide(front)) if as_guide else front)


def _written(front: Mapping[str, Any]) -> str:
    import yaml  # which only agents in files need

    text: str = yaml.safe_dump(front, sort_keys=False, allow_unicode=True)
    return text if front else ""


def _as_guide(front: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The frontmatter in the guide's form: inputs by name below `inputSchema`, parameters listed below `properties`."""
    for key, value in front.items():
        if key == "inputs":
            by_name = {one["name"]: {name: said for name, said in one.items() if name != "name"} for one in value}
            yield "inputSchema", {"properties": by_name}
        elif key == "tools":
            yield key, [{**tool, **_parameters(tool)} for tool in value]
        else:
            yield key, value


def _parameters(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"parameters": {"properties": tool["parameters"]}} if "parameters" in tool else {}


_original = cache(parted)


def _model(cell: Cell, base_url: str, api_key: str) -> dict[str, Any]:
    endpoint = base_url.removesuffix("/v1") if cell.wire == "anthropic-messages" else base_url
    return {
        **_MODELS[cell.wire],
        "connection": {"kind": "key", "endpoint": endpoint, "apiKey": api_key},
        "options": {"additionalProperties": {"stream": True}} if cell.stream else {},
    }
