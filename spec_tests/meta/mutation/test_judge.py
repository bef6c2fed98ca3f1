"""Mutants of the judge: every way to drop a rule has a name of its own, and the command says whether it was noticed."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from tools.mutation.__main__ import main
from tools.mutation.judge import every_rule


def run(*arguments: object) -> Result:
    """What the command makes of these arguments."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_rules_have_names_of_their_own() -> None:
    """By slug, by the place where a problem is made, and by the keyword of a schema."""
    names = [rule.name for rule in every_rule("model")]

    assert len(names) == len(set(names))
    assert "openai_chat: model-is-named is never told" in names
    assert "wire-schemas/openai-chat.request.json: /properties/model minLength is not asked for" in names
    assert any(
        name.startswith("wires/openai_chat/judge/history.py: `Problem(") for name in {r.name for r in every_rule()}
    )


def test_a_dropped_rule_is_noticed(tmp_path: Path) -> None:
    """By a test of its wire, which is named."""
    file = tmp_path / "judge.json"

    result = run("judge", "--site", "openai_chat: model-is-named is never told", "--json", file)

    assert "1 killed by unit tests" in result.output
    assert 0 == result.exit_code
    assert "test_rules.py" in json.loads(file.read_text())["mutants"][0]["which"]


def test_a_selection_of_nothing_cannot_run() -> None:
    """Nothing would be proven."""
    result = run("judge", "--site", "nowhere")

    assert 2 == result.exit_code
    assert "could not run: nothing was selected" in result.output
