"""Sites: the single changes that can be made to a source, each with a name that edits elsewhere do not change."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tools.mutation.operators import OPERATORS, Operator, Place, changes

Step = tuple[str, int | None]
"""A field of a node, and the index of what is meant where the field is a list."""

LONGEST = 100
"""The most characters of source in a name."""
AROUND = 60
"""How many characters around a difference are shown."""
TYPES = frozenset({"annotation", "returns", "type_params"})
"""Fields that hold types, which nothing executes."""
NAMES = frozenset({"__all__", "__slots__"})


@dataclass(frozen=True, slots=True)
class Site:
    """One change to one node of a module."""

    module: str
    """The path of the module inside its package."""
    name: str
    """The module, the function, what is done, and the source text that it is done to."""
    operator: str
    path: tuple[Step, ...]
    """From the module's tree to the node."""
    change: int
    """Which of the changes that may be made to the node."""
    lines: range
    """The lines that are executed only if the node may be."""
    column: int
    runs: bool
    """Whether it is executed when a function is called, and not when the module is imported."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A node on the way through a tree."""

    place: Place
    around: ast.AST
    """What the node is read with: its parent, or the first above it that says more than a sign or a colon."""
    path: tuple[Step, ...]
    scope: tuple[str, ...]
    statement: ast.stmt
    runs: bool


def sites(module: str, source: str, operators: Sequence[Operator] = OPERATORS) -> list[Site]:
    """Every change that these operators can make to a module's source, in its order."""
    found: list[Site] = []
    named: Counter[str] = Counter()
    for spot in _spots(ast.parse(source)):
        for number, (operator, _) in enumerate(changes(spot.place, operators)):
            where = " ".join([module, ".".join(spot.scope)]).strip()
            name = f"{where}: {operator}: `{_text(source, spot)}`"
            named[name] += 1
            if named[name] > 1:
                name += f" #{named[name]}"
            node = _placed(spot)
            column = getattr(spot.place.node, "col_offset", 0)
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found.append(Site(module, name, operator, spot.path, number, lines, column, spot.runs))
    return found


def mutated(source: str, site: Site, operators: Sequence[Operator] = OPERATORS) -> ast.Module:
    """The tree of a source with one change made, of those of the operators by which the site was found."""
    tree = ast.parse(source)
    parent: ast.AST = tree
    for field, index in site.path[:-1]:
        parent = _child(parent, field, index)
    field, index = site.path[-1]
    old = _child(parent, field, index)
    new = changes(Place(old, parent, field), operators)[site.change][1]
    if isinstance(old, ast.stmt | ast.expr):
        ast.copy_location(new, old)
    if index is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[index] = new
    return ast.fix_missing_locations(tree)


def difference(source: str, site: Site, operators: Sequence[Operator] = OPERATORS) -> tuple[str, str]:
    """What stood there and what stands there instead: the statement, or the node alone where a statement holds more."""
    shown = []
    for tree in (ast.parse(source), mutated(source, site, operators)):
        node: ast.AST = tree
        statement: ast.AST = tree
        for field, index in site.path:
            node = _child(node, field, index)
            statement = node if isinstance(node, ast.stmt) else statement
        shown.append(" ".join(ast.unparse(node if _is_compound(statement) else statement).split()))
    old, new = shown
    same = _alike(old, new)
    behind = _alike(old[same:][::-1], new[same:][::-1])
    return _shortened(old, same, behind), _shortened(new, same, behind)


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (left, right) in pairs if left != right), min(len(one), len(other)))


def _shortened(text: str, same: int, behind: int) -> str:
    """A text without most of what is the same: so many characters before, and behind, what is not."""
    start, end = max(0, same - AROUND), len(text) - max(0, behind - AROUND)
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _is_compound(node: ast.AST) -> bool:
    """Whether a node is a statement that holds others."""
    return isinstance(node, ast.Match) or (isinstance(node, ast.stmt) and hasattr(node, "body"))


def _child(node: ast.AST, field: str, index: int | None) -> ast.AST:
    found = getattr(node, field)
    child: ast.AST = found if index is None else found[index]
    return child


def _spots(tree: ast.Module) -> Iterator[_Spot]:
    for index, statement in enumerate(tree.body):
        yield from _below(_Spot(Place(statement, tree, "body"), tree, (("body", index),), (), statement, runs=False))


def _below(spot: _Spot) -> Iterator[_Spot]:
    """The node and those below it, but for what does not matter."""
    node = spot.place.node
    if _is_nothing(node):
        return
    yield spot
    for field, value in ast.iter_fields(node):
        if field in TYPES:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield from _below(
                    _Spot(
                        Place(child, node, field),
                        spot.around if isinstance(node, ast.UnaryOp | ast.Slice) else node,
                        (*spot.path, (field, index)),
                        _scope(spot.scope, node, field, runs=spot.runs),
                        child if isinstance(child, ast.stmt) else spot.statement,
                        spot.runs or _is_called(node, field),
                    )
                )


def _scope(scope: tuple[str, ...], node: Any, field: str, *, runs: bool) -> tuple[str, ...]:
    """The function or class that a field of a node is in; outside functions, what is assigned."""
    match node, field:
        case ((ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef()), ("body" | "args")):
            return (*scope, node.name)
        case ((ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name))), "value") if not runs:
            return (*scope, name)
        case _:
            return scope


def _is_called(node: ast.AST, field: str) -> bool:
    """Whether a field of a node is executed only once a function is called."""
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and field == "body"


def _is_nothing(node: ast.AST) -> bool:
    """Whether a node is for the reader and the type checker alone."""
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id in NAMES for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _placed(spot: _Spot) -> ast.stmt | ast.expr:
    """The node whose lines tell whether the change is executed: the statement, but for one that holds others."""
    node = spot.place.node
    if _is_compound(spot.statement) and isinstance(node, ast.expr):
        return node
    return spot.statement


def _text(source: str, spot: _Spot) -> str:
    """The source of a node; of a number, that of what it stands in."""
    node, around = spot.place.node, spot.around
    text = ast.get_source_segment(source, node) or ast.unparse(node)
    if isinstance(node, ast.Constant) and not _is_compound(around):
        text = ast.get_source_segment(source, around) or text
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
