"""The mutants of the judge: each of its rules dropped, to be noticed by the tests of its wire.

A rule is dropped in three ways: by its slug; at one of the places where a problem is made; and by a keyword of the
schema of requests. A problem that is dropped is found all the same, so that nothing else changes, and not told.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from looptck.catalogue.data import json_fixture
from looptck.suite.options import CouldNotRun
from looptck.wires.anthropic_messages.judge import RULES as MESSAGES
from looptck.wires.openai_chat.judge import RULES as CHAT
from looptck.wires.openai_responses.judge import RULES as RESPONSES
from tools.mutation.by_tests import ROOT, killed_by
from tools.mutation.importing import change, full_name
from tools.mutation.schema_rules import Keyword, keywords
from tools.mutation.trials import Kill

PACKAGE = "looptck"
FOLDER = ROOT / "spec_tests" / PACKAGE
LIST = Path(__file__).with_name("equivalents_judge.yaml")
"""The reviewed list of rules that need no test."""
JUDGE_TESTS = "spec_tests/meta/judge"
SHARED = ("rules", "damage", "schemas", "histories")
HOLDERS = ("spec_tests", "meta.judge", "meta.kit")
"""Tests, as pytest names their modules, and what they share: once imported, they hold the judge as it was."""
NOBODYS = ""
"""The rule of a problem that is dropped at its place."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The judge of a wire."""

    package: str
    schema: str
    rules: Mapping[str, str]
    tests: str
    """The folder with the tests of this wire alone."""

    @property
    def noticing(self) -> tuple[tuple[str, ...], ...]:
        """What has to notice, as arguments of pytest, the likeliest first: the shared tests of this wire, its own."""
        word = self.schema.removeprefix("wire-schemas/").partition(".")[0]
        shared = tuple(("-k", word, f"{JUDGE_TESTS}/test_{name}.py") for name in SHARED)
        return *shared, (f"{JUDGE_TESTS}/{self.tests}",)


WIRES = (
    Wire("wires/openai_chat", "wire-schemas/openai-chat.request.json", CHAT, "chat"),
    Wire("wires/openai_responses", "wire-schemas/openai-responses.request.json", RESPONSES, "responses"),
    Wire("wires/anthropic_messages", "wire-schemas/anthropic-messages.request.json", MESSAGES, "messages"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is dropped."""

    wire: Wire
    name: str
    slug: str = NOBODYS
    module: str = ""
    """Where a problem is made: the path of the module in its package."""
    number: int = 0
    """Which of the problems that are made there."""
    keyword: Keyword | None = None


def every_rule(text: str = "") -> list[Rule]:
    """The rules of all wires whose names hold a text.

    Raises:
        CouldNotRun: there is none.
    """
    found = [rule for wire in WIRES for rule in _rules(wire) if text in rule.name]
    if not found:
        raise CouldNotRun("nothing was selected: no rule with this text")
    return found


def examine(rule: Rule) -> Kill | None:
    """What notices that the rule is dropped; to be asked in a process that ends with it."""
    change(_quiet(rule), [PACKAGE, *HOLDERS])
    if rule.keyword is not None:
        rule.keyword.drop(importlib.import_module(f"{PACKAGE}.catalogue.data").json_fixture(rule.wire.schema))
    else:
        importlib.import_module("tools.mutation.dropping").DROPPED.add(rule.slug)
    importlib.import_module(f"{PACKAGE}.wires")  # now: pytest may import the kit itself, by a way of its own
    return next((killed for tests in rule.wire.noticing if (killed := killed_by(tests))), None)


def shown(rule: Rule) -> Sequence[str]:
    """Where a rule is, from the top of the project."""
    place = (
        f"fixtures/{rule.wire.schema}" if rule.keyword else f"spec_tests/{PACKAGE}/{rule.module or rule.wire.package}"
    )
    return [f"    {place}"]


def _rules(wire: Wire) -> Iterator[Rule]:
    short = wire.package.rpartition("/")[2]
    for slug in wire.rules:
        yield Rule(wire, f"{short}: {slug} is never told", slug=slug)
    for module in _modules(wire):
        made = _problems(_parsed(module))
        texts = [ast.unparse(one) for one in made]
        for number, text in enumerate(texts):
            again = texts[:number].count(text)
            name = f"{module}: `{text}` is not told" + (f" #{again + 1}" if again else "")
            yield Rule(wire, name, module=module, number=number)
    for keyword in keywords(json_fixture(wire.schema)):
        yield Rule(wire, f"{wire.schema}: {keyword.text} is not asked for", keyword=keyword)


def _modules(wire: Wire) -> list[str]:
    return [path.relative_to(FOLDER).as_posix() for path in sorted((FOLDER / wire.package).rglob("*.py"))]


def _parsed(module: str) -> ast.Module:
    return ast.parse((FOLDER / module).read_text(encoding="utf-8"))


def _problems(tree: ast.Module) -> list[ast.Call]:
    """Where problems are made."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Problem"]


def _quiet(rule: Rule) -> dict[str, ast.Module]:
    """The modules that have to be imported otherwise so that the rule is dropped."""
    trees = {}
    for module in [*_modules(rule.wire), "wires/stateless.py"]:
        tree = _parsed(module)
        if module == rule.module:
            _problems(tree)[rule.number].args[0] = ast.Constant(NOBODYS)
        trees[full_name(PACKAGE, module)] = ast.fix_missing_locations(_Quiet().visit(deepcopy(tree)))
    return trees


class _Quiet(ast.NodeTransformer):
    """Lets every function and method of the name ``judge`` keep quiet about what is dropped."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        if node.name == "judge":
            quiet = ast.parse("__import__('tools.mutation.dropping', fromlist=['_']).keeping_quiet", mode="eval").body
            node.decorator_list.append(quiet)
        return node
