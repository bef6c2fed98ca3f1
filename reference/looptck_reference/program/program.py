"""The program: its command line, its tool, its requests beside the loop, and its end.

A variant is a subclass that names the part it replaces, as with the kit's driver.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import click
import httpx

import looptck_reference
from looptck_reference.http.runner import Runner
from looptck_reference.loop.loop import Loop
from looptck_reference.program.tool_server import PREFIX, ToolServer
from looptck_reference.prompty.invoke import Invoker
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.dialects import CORE, Dialect
from looptck_reference.vocabulary.errors import LoopError
from looptck_reference.vocabulary.registry import Registry
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Answer, Stop
from looptck_reference.wires import ANTHROPIC_MESSAGES, OPENAI_CHAT, OPENAI_RESPONSES, Wire

__all__ = ["APPEND", "DONE", "FAILED", "Equipped", "Program", "append", "arguments"]

DONE, FAILED, INCOMPLETE = 0, 1, 3
"""The exit statuses."""
SYSTEM = "You are a careful assistant. Use the tool `append` to write things down."
TITLE = "Give this task a title of three words."
ROUNDS = 50
"""The most model calls of one task."""
TIMEOUT = 60.0

APPEND = Tool(
    name="append",
    description="Append a line to a file; with fail, report a failure afterwards.",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}, "fail": {"type": "boolean"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
)


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="looptck_reference.program")
    parser.add_argument("prompt")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--key", required=True)
    parser.add_argument("--model", default="looptck-model")
    parser.add_argument("--wire", default="openai-chat", choices=sorted(Program.wires))
    parser.add_argument("--plain", action="store_true", help="ask for plain replies")
    parser.add_argument("--tools", metavar="URL", help="a server whose tools are offered too, over MCP")
    parser.add_argument("--variant", help="MODULE:NAME of a subclass of the program")
    return parser


def append(path: str, text: str) -> None:
    """Append a line to a file."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(text + "\n")


class Program:
    """One task from its prompt to its exit status."""

    loop: ClassVar[type[Loop]] = Loop
    invoker: ClassVar[type[Invoker]] = Invoker
    dialect: ClassVar[Dialect] = CORE
    wires: ClassVar[Mapping[str, Wire]] = {
        "openai-chat": OPENAI_CHAT,
        "openai-responses": OPENAI_RESPONSES,
        "anthropic-messages": ANTHROPIC_MESSAGES,
    }
    server: ClassVar[type[ToolServer]] = ToolServer
    told: ClassVar[tuple[str, ...]] = ()
    """What its command line has beside the task in a description."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.wire = self.wires[given.wire]
        # Without HTTPS nobody is to be trusted, and loading the trusted certificates takes long.
        self.client = httpx.Client(verify=given.base_url.startswith("https"), timeout=TIMEOUT, trust_env=False)

    def main(self) -> int:
        """Do the task and print the answer; the exit status."""
        with self.client:
            try:
                self.ask_for_a_title()
                answer = self.drive(self.messages(), self.tools())
            except (LoopError, httpx.HTTPError) as error:
                return self.failed(error)
            return self.answered(answer)

    def tools(self) -> list[Tool]:
        """The tool of the program, and those of the server that it was told of."""
        return [APPEND, *(self.server(self.given.tools, self.client).tools() if self.given.tools else ())]

    def messages(self) -> list[dict[str, Any]]:
        """The conversation with which the loop begins."""
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": self.given.prompt}]

    def ask_for_a_title(self) -> None:
        """A request beside the loop, without tools. A task without a title is as good, so its failure is no failure."""
        try:
            self.drive([*self.messages(), {"role": "user", "content": TITLE}], [])
        except (LoopError, httpx.HTTPError) as error:
            click.echo(f"no title: {type(error).__name__}", err=True)

    def drive(self, messages: list[dict[str, Any]], tools: list[Tool]) -> Answer:
        """Run the loop on a conversation."""
        agent = Agent(self.given.model, messages, tools)
        registry = Registry({"append": self.append})
        loop = self.loop(agent, wire=self.wire, dialect=self.dialect, limit=ROUNDS, registry=registry)
        runner = Runner(
            self.given.base_url,
            self.given.key,
            wire=self.wire,
            client=self.client,
            exchange=self.invoker.exchange,
        )
        return runner.drive(loop, stream=not self.given.plain)

    def append(self, path: str, text: str, *, fail: bool = False) -> str:
        """The tool."""
        append(path, text)
        if fail:
            raise RuntimeError(f"the line {text} is written, and this failure was asked for")
        return f"written: {text}"

    def answered(self, answer: Answer) -> int:
        """Print the answer; its exit status."""
        click.echo(answer.text)
        if answer.stop is Stop.END:
            return DONE
        click.echo(f"the answer is incomplete: {answer.stop.value}", err=True)
        return INCOMPLETE

    def failed(self, error: LoopError | httpx.HTTPError) -> int:
        """Print why there is no answer; its exit status. Any other error is one of this program, and ends it."""
        click.echo(f"error: {type(error).__name__}: {error}", err=True)
        return FAILED

    @classmethod
    def described(cls) -> dict[str, Any]:
        """The description of this program, or of a variant of it, as a file for the kit would have it."""
        variant = [] if cls.__module__ == __name__ else ["--variant", f"{cls.__module__}:{cls.__qualname__}"]
        task = ["--wire", "{wire}", "--base-url", "{base_url}", "--key", "{key}", "--model", "{model}", "{prompt}"]
        return {
            "name": "looptck-reference-program",
            "version": looptck_reference.__version__,
            "language": "python",
            "wire": ["openai-chat", "openai-responses", "anthropic-messages"],
            "once": [sys.executable, "-m", "looptck_reference.program", *variant, *cls.told, *task],
            "env": {"PYTHONPATH": _import_path()},
            "tools": {
                "mark": {"name": "append", "arguments": {"path": "{mark_file}", "text": "{text}{tail}"}},
                "fail": {"name": "append", "arguments": {"path": "{mark_file}", "fail": True, "text": "{text}{tail}"}},
            },
        }


class Equipped(Program):
    """The program as it is told of a server of tools, with which the kit can judge more than with the program's own."""

    told = ("--tools", "{mcp_url}")

    @classmethod
    def described(cls) -> dict[str, Any]:
        """The description, with the names of the server's tools."""
        return {**super().described(), "mcp": {"name": PREFIX + "{name}"}}


def _import_path() -> str:
    """Where this process has found its modules, for the program that it starts."""
    return ":".join(one for one in sys.path if one)
