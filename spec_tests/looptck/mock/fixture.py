"""What the fixture does: one server for a run of pytest, and one mock for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from looptck.mock.kept import PROVIDER, TOLD, USED
from looptck.mock.llm import LLM
from looptck.provider.server import HOST, Provider

UNSET = ("ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
"""What SDKs would send from the environment although it is a secret, or belongs to a person."""
NO_PROXY = ("NO_PROXY", "no_proxy")


def provider_of(config: pytest.Config) -> Provider:
    """The server of a run of pytest; it begins with the first test that needs it."""
    if PROVIDER not in config.stash:
        config.stash[PROVIDER] = Provider().__enter__()
    return config.stash[PROVIDER]


@contextmanager
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, marker: str) -> Iterator[LLM]:
    """The mock of a test, set up as its markers say, the closest last."""
    options: dict[str, object] = {}
    allow: list[str] = [*request.config.getini("looptck_allow")]
    for mark in reversed([*request.node.iter_markers(marker)]):
        allow += [mark.kwargs["allow"]] if isinstance(mark.kwargs.get("allow"), str) else mark.kwargs.get("allow", ())
        options |= mark.kwargs
    records = dict(os.environ) if request.config.getoption("looptck_record") else None
    place = {"provider": provider_of(request.config), "folder": request.path.parent, "records": records}
    made = LLM(**{**options, **place, "allow": allow})  # type: ignore[arg-type]
    made.__enter__()
    for name, value in made.env.items():
        monkeypatch.setenv(name, value)
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    for name in NO_PROXY:
        monkeypatch.setenv(name, ",".join(filter(None, (os.environ.get(name), HOST))))
    request.node.stash[USED] = made
    try:
        yield made
    finally:
        made.close()
        del request.node.stash[USED]
        told = request.node.stash.get(TOLD, None)
        late = [one.text for one in made.findings if told is not None and one.text not in told]
        assert not late, "after the end of the test: " + "\n\n".join(late)
