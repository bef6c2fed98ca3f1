"""Rendering: the templates of the site and what they may call."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

FOLDER = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """A page. All text from people and loops is escaped."""
    return _environment().get_template(template).render(**values)


def prose(text: str) -> Markup:
    """A sentence as HTML, with words in backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    marked = [Markup("<code>{}</code>").format(part) if n % 2 else escape(part) for n, part in enumerate(parts)]
    return Markup("").join(marked)


def markdown(text: str, below: int = 0) -> Markup:
    """Markdown as HTML, with headings so many levels further down; HTML in it is shown as text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + below)}"
        elif token.type in {"fence", "code_block"}:
            token.attrSet("tabindex", "0")
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704  the parser has escaped its input


def script(value: Any) -> Markup:
    """A value as JSON that can stand in a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704  no element can begin or end in it


def cell(text: str) -> str:
    """A text in a cell of a table in Markdown: nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", " ".join(text.split()))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=select_autoescape(("html.j2", "svg.j2"), default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"prose": prose, "markdown": markdown, "script": script, "cell": cell}
    return environment
