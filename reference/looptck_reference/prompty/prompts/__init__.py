"""Prompts: `.prompty` files as agents.

    prompt = load("weather.prompty")
    messages = prompt.messages({"question": "Weather in Paris?"})

The documents of this project speak of how such files are run, and show one (the Agent Mode guide). What they leave open
about the files themselves is taken from the later runtime specification, §2 (the format), §4 (loading), §5 and §6
(templates and roles) and §12.2 (inputs), which is cited where it decides.

Read it in this order: `frontmatter` (text becomes JSON that `prompty.schema.json` accepts), `references`, `properties`,
`reading` (what each field means), `template` (the body), `prompt`, `loader` (files and their children).
"""

from __future__ import annotations

from looptck_reference.prompty.prompts.errors import PromptError
from looptck_reference.prompty.prompts.loader import Loader, load
from looptck_reference.prompty.prompts.prompt import Model, Prompt
from looptck_reference.prompty.prompts.properties import Input

__all__ = ["Input", "Loader", "Model", "Prompt", "PromptError", "load"]
