"""Prompts as files for these tests."""

from __future__ import annotations

from pathlib import Path

from meta.reference.reference_replies import URL

CONNECTION = f"  connection: {{kind: key, endpoint: {URL}, apiKey: k}}\n"
TOOLS = """\
tools:
  - name: weather
    kind: function
    parameters: [{name: city, kind: string, required: true}]
"""
BODY = "system:\nBe brief.\n\nuser:\n{{question}}\n"


def write(folder: Path, name: str = "agent", *, stream: bool = False, more: str = TOOLS, body: str = BODY) -> Path:
    """A prompt file, with a tool, or with what `more` says instead."""
    path = folder / f"{name}.prompty"
    options = f"  options: {{stream: {str(stream).lower()}}}\n"
    inputs = "inputs: [{name: question, kind: string, default: Hello}]\n"
    model = f"model:\n  id: m\n{CONNECTION}{options}"
    path.write_text(f"---\nname: {name}\n{model}{inputs}{more}---\n{body}", encoding="utf-8")
    return path


def child(mode: str, *, path: str = "child.prompty") -> str:
    """The tools of a prompt that runs another one."""
    return f"tools:\n  - {{name: ask, kind: prompty, path: {path}, mode: {mode}}}\n"
