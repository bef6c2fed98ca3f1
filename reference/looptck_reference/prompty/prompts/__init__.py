"""Prompts: `.prompty` files as agents.

    prompt = load("weather.prompty")
    messages = prompt.messages({"question": "Weather in Paris?"})

The documents that looptck tests specify how such files are run, and show one (the Agent Mode guide). The rules for the
files themselves come from the later runtime specification: §2 (format), §4 (loading), §5 and §6 (templates and roles)
and §12.2 (inputs). Each place that depends on it cites it.

Read it in this order: `frontmatter` (text becomes JSON that `prompty.schema.json` accepts), `references`, `properties`,
`reading` (the meaning of each field), `template` (the body), `prompt`, `loader` (files and their children).
"""

from __future__ import annotations

from looptck_reference.prompty.prompts.errors import PromptError
from looptck_reference.prompty.prompts.loader import Loader, load
from looptck_reference.prompty.prompts.prompt import Model, Prompt
from looptck_reference.prompty.prompts.properties import Input

__all__ = ["Input", "Loader", "Model", "Prompt", "PromptError", "load"]
