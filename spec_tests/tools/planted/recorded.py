"""Recordings of settings with secrets, by ``looptck record`` as a person calls it, from an upstream on loopback."""

from __future__ import annotations

import os
import re
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

from click.testing import CliRunner

from looptck.bench.cases import Case, Record, cases
from looptck.catalogue.agents import Agent
from looptck.catalogue.agents import agent as agent_named
from looptck.cli.group import main
from looptck.provider.http import HttpReply, HttpRequest
from meta.recording.fake_upstream import Answer, FakeUpstream
from tools.planted.places import Cell, Setting

KEYS = ("LOOPTCK_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_CUSTOM_HEADERS")
PATIENCE = "20"
"""Seconds for a reply that comes by itself."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What is left of the recording of one setting."""

    files: tuple[str, ...]
    """The texts of its files."""
    lines: tuple[str, ...]
    """Its lines of the terminal."""
    outcome: str
    """``written``, ``failed``, or what else the command says; ``crashed`` where it says nothing."""


def record(settings: Mapping[str, Setting], cell: Cell, upstream: FakeUpstream, folder: Path) -> dict[str, Recorded]:
    """Each setting recorded, all by one call of the command: their environment and address are those of the first."""
    first = next(iter(settings.values()))
    names = {f"planted-{n:03}": setting for n, setting in enumerate(settings.values())}
    upstream.answer = _answering(names)
    into, scratch = folder / "into", folder / "scratch"
    scratch.mkdir(parents=True)
    with _set_up(names, first, scratch):
        host = upstream.base_url.removeprefix("http://")
        words = ["record", "--upstream", f"http://{first.user}{host}{first.path}", "--model", "m", "--into", str(into)]
        words += ["--wire", cell.wire, "--mode", "stream" if cell.stream else "plain", "--timeout", PATIENCE]
        result = CliRunner().invoke(main, words)
    printed = result.output
    if result.exc_info and not isinstance(result.exception, SystemExit | None):
        printed += "".join(traceback.format_exception(*result.exc_info))
    left = [path.read_text(encoding="utf-8") for path in scratch.rglob("*") if path.is_file()]
    return {given: _recorded(name, cell, into, printed, left) for given, name in zip(settings, names, strict=True)}


def _recorded(name: str, cell: Cell, into: Path, printed: str, left: list[str]) -> Recorded:
    files = sorted((into / cell.wire).glob(f"{name}-*")) if (into / cell.wire).is_dir() else []
    others = [path for path in into.rglob("*") if path.is_file() and not path.name.startswith("planted-")]
    texts = [path.read_text(encoding="utf-8") for path in [*files, *others]]
    own = re.search(rf"^{cell.wire}/{name}-\w+  (\w+).*(?:\n    .*)*", printed, re.MULTILINE)
    lines = own.group() if own else printed
    return Recorded((*texts, *left), (lines,), own.group(1) if own else "crashed")


def _answering(names: Mapping[str, Setting]) -> Answer:
    left = {name: list(setting.replies) for name, setting in names.items()}

    def answer(request: HttpRequest) -> HttpReply:
        named = re.search(rb"planted-\d+", request.body)
        replies = left[named.group().decode() if named else ""]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        return reply if isinstance(reply, HttpReply) else reply(request)

    return answer


@contextmanager
def _set_up(names: Mapping[str, Setting], first: Setting, scratch: Path) -> Iterator[None]:
    """The settings as cases and agents of the kit, the environment, and a folder of its own for temporary files."""
    known = {name: _case(name, setting) for name, setting in names.items()}
    agents = {name: _agent(setting) for name, setting in names.items()}
    environment = {name: value for name, value in os.environ.items() if name not in KEYS} | dict(first.environment)
    with ExitStack() as stack:
        stack.enter_context(mock.patch("looptck.commands.recording.record.cases", return_value=known))
        stack.enter_context(mock.patch("looptck.commands.recording.conversation.agent", agents.__getitem__))
        stack.enter_context(mock.patch("looptck.bench.cases.agent_named", agents.__getitem__))
        stack.enter_context(mock.patch.dict(os.environ, environment, clear=True))
        stack.enter_context(mock.patch.object(tempfile, "tempdir", str(scratch)))
        yield


def _case(name: str, setting: Setting) -> Case:
    question = f"This is {name}. {setting.question}".strip()
    case = replace(cases()["one-call"], name=name, agent=name, question=question, record=Record())
    return replace(case, behaviours=setting.behaviours or case.behaviours)


def _agent(setting: Setting) -> Agent:
    agent = agent_named("assistant")
    template = (("system", setting.system), *agent.template) if setting.system else agent.template
    first, *tools = agent.tools
    first = replace(first, description=setting.described or first.description)
    return replace(agent, template=template, tools=(first, *tools))
