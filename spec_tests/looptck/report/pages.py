"""The output of ``looptck list`` and ``looptck explain``.

A report names three kinds of ids: requirements, traits, and the rules by which a wire's judge refuses a request.
"""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import click

from looptck import spec
from looptck.catalogue.requirements import Requirement, catalogue, unknown
from looptck.catalogue.traits import Trait, traits
from looptck.values.plain import amount

MEANINGS = {
    "unsafe": "if it fails, something runs unasked, runs twice, leaks or gets lost",
    "broken": "if it fails, the service refuses a request or the answer is wrong",
    "fragile": "if it fails, legal but rare traffic breaks the loop",
    "untidy": "if it fails, only order and convenience suffer",
}


def listing(profiles: tuple[str, ...]) -> str:
    """One line for each requirement (id, level, text) of these profiles; without any, of all, followed by the traits.

    Raises:
        click.UsageError: a profile does not exist.
    """
    try:
        named = catalogue().named(profiles)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    lines = []
    for profile in named:
        lines.append(f"{profile.name}: {profile.title} ({amount(len(profile.requirements), 'requirement')})")
        lines += [f"  {_mark(row)} {row.level:<6} {row.id}: {row.text}" for row in profile.requirements]
    if not profiles:
        lines.append(f"traits: questions that no document decides; recorded, not judged ({len([*traits()])} traits)")
        lines += [f"  ? {trait.id}: {trait.question}" for trait in traits()]
    return "\n".join(lines) + "\n"


def explanation(id: str, driver: str | None = None) -> str:
    """The explanation of a requirement, a trait or a rule; one that can be run ends in the command that does that.

    Raises:
        click.UsageError: none of them has this id.
    """
    from looptck.wires.rules import RULES

    rows = catalogue().rows
    lines: list[str] = []
    if id in traits():
        lines += _asked(traits()[id], driver)
    if id in rows:
        lines += _explained(rows[id], driver)
    if sentences := {wire: rules[id] for wire, rules in RULES.items() if id in rules}:
        lines += [*([""] if lines else []), *_ruled(id, sentences)]
    if not lines:
        rules = dict.fromkeys(rule for of_wire in RULES.values() for rule in of_wire)
        known = [*rows, *(trait.id for trait in traits()), *rules]
        raise click.UsageError(unknown("requirement, trait or rule", id, known))
    return "\n".join(lines) + "\n"


def _ruled(id: str, sentences: Mapping[str, str]) -> Iterator[str]:
    """A rule, whose id stands in parentheses behind a service's message."""
    from looptck.bench.standing import ALL_REFUSED

    yield f"{id}  [a rule: the service refuses a request that breaks it]"
    width = max(map(len, sentences))
    yield from (f"  {wire + ':':<{width + 1}} {sentence}" for wire, sentence in sentences.items())
    yield f"  it is judged in every run, by the requirement of the run's profile: {', '.join(ALL_REFUSED)}"


def _asked(trait: Trait, driver: str | None) -> Iterator[str]:
    row = trait.row
    yield f"{trait.id}  [trait, since {row.added}]"
    yield f"  {trait.question}"
    yield f"  cells: {_cells(row)}"
    if row.needs:
        yield f"  needs the capabilities: {', '.join(row.needs)}"
    if trait.requirement:
        yield f"  a related requirement is judged, and may forbid some answers: {trait.requirement}"
    yield "  answers (recorded, not judged):"
    width = max(map(len, trait.meanings))
    yield from (f"    {name:<{width}}  {meaning}" for name, meaning in trait.meanings.items())
    if trait.exact:
        yield "  `looptck compare` compares the details too"
    yield f"  try it: {_run(driver, '--trait', trait.id)}"


def _run(driver: str | None, *words: str) -> str:
    """The command line."""
    return shlex.join(["looptck", "run", *(["--driver", driver] if driver else []), *words])


def _explained(row: Requirement, driver: str | None) -> Iterator[str]:
    yield f"{row.id}  [{row.level}, profile {row.profile}, since {row.added}]"
    yield f"  {row.text}"
    for source in row.sources:
        yield f"  source: {source}" + (f"  <{source.url}>" if source.url else "")
    if row.impact:
        yield f"  impact: {row.impact} ({MEANINGS[row.impact]})"
    yield f"  cells: {_cells(row)}"
    if row.needs:
        yield f"  needs the capabilities: {', '.join(row.needs)}"
    yield from (f"  not for loops that follow {one}, which decides otherwise" for one in row.otherwise)
    yield from (f"  not for loops that declare {one}" for one in row.excused_by)
    yield f"  observed at: {row.observed_at}"
    if row.excluded:
        yield f"  excluded: {row.excluded}"
        return
    checks = list(checks_of(row))
    yield "  checked by:" if checks else "  no check yet"
    yield from (f"    {check}" for check in checks)
    if row.killed_by:
        yield f"  mutants that fail it: {', '.join(row.killed_by)} (looptck kill --requirement {row.id})"
    if row.no_mutant:
        yield f"  no mutant fails it: {row.no_mutant}"
    yield from (f"  see the trait: {trait.id}" for trait in traits() if trait.requirement == row.id)
    yield f"  try it: {_run(driver, '--profile', row.profile, '--requirement', row.id)}"


def _cells(row: Requirement) -> str:
    where = {None: "plain and stream", True: "stream", False: "plain"}[row.streams]
    return where + (f"; wires: {', '.join(row.wires)}" if row.wires else "")


def checks_of(row: Requirement) -> Iterator[str]:
    """The tests and declared cases that check a requirement, each with its description.

    The source of the tests is parsed, since importing them would take more than a second.
    """
    from looptck.bench.cases import cases

    for text in _sources():
        if f'"{row.judged_as}"' in text:
            bound = ((name, about) for name, about, ids in _tests(text) if row.judged_as in ids)
            yield from (f"{name}: {about}" for name, about in bound if _plays(row, name))
    for case in cases().checking({row.judged_as}):
        if _plays(row, case.name):
            yield f"{case.name}: {case.why}"


def _plays(row: Requirement, case: str) -> bool:
    return row.plays(case) or row.plays_a_variant(case)


@cache
def _sources() -> tuple[str, ...]:
    """The source of each module of tests."""
    paths = sorted(Path(next(iter(spec.__path__))).rglob("test_*.py"))
    return tuple(path.read_text(encoding="utf-8") for path in paths)


@cache
def _tests(text: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """The tests of a module: the case of each, its description, and the ids that ``@requirement`` binds it to."""
    return tuple(
        (
            node.name.removeprefix("test_").replace("_", "-"),
            _in_one_line(ast.get_docstring(node)),
            frozenset(_ids(node)),
        )
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    )


def _in_one_line(doc: str | None) -> str:
    return " ".join((doc or "").split())


def _ids(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        match decorator:
            case ast.Call(ast.Name("requirement"), arguments):
                yield from (str(one.value) for one in arguments if isinstance(one, ast.Constant))


def _mark(row: Requirement) -> str:
    return "-" if row.excluded else "+"
