"""Operators: what may be changed in a syntax tree, one node at a time.

Each operator looks at a place and gives the nodes that may stand there instead. It never touches the tree it looks at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

FLIPPED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
MOVED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
GATHERING = frozenset({"add", "append", "appendleft", "extend", "insert", "update"})
"""The methods by which a collection grows."""
SYMMETRIC = frozenset({"max", "min"})
"""Functions that do not mind the order of their arguments."""


@dataclass(frozen=True, slots=True)
class Place:
    """A node, and where in its parent it stands."""

    node: ast.AST
    parent: ast.AST
    field: str


Change = tuple[str, ast.AST]
"""What is done, in words, and the node that stands there instead."""
Operator = Callable[[Place], Iterator[Change]]


def compared(place: Place) -> Iterator[Change]:
    """Each comparison the other way round, and with its boundary on the other side."""
    node = place.node
    if isinstance(node, ast.Compare):
        for words, instead in (("comparison flipped", FLIPPED), ("boundary moved", MOVED)):
            for number, operator in enumerate(node.ops):
                if type(operator) in instead:
                    changed = deepcopy(node)
                    changed.ops[number] = instead[type(operator)]()
                    yield words, changed


def joined(place: Place) -> Iterator[Change]:
    """``and`` for ``or``, and ``or`` for ``and``."""
    node = place.node
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And)
        yield "or for and" if both else "and for or", ast.BoolOp(ast.Or() if both else ast.And(), deepcopy(node.values))


def negated(place: Place) -> Iterator[Change]:
    """A condition the other way round; that of a single comparison is such already where the comparison is flipped."""
    node = place.node
    decides = (place.field == "test" and not isinstance(place.parent, ast.Assert)) or place.field in {"ifs", "guard"}
    flipped = isinstance(node, ast.Compare) and len(node.ops) == 1
    if decides and isinstance(node, ast.expr) and not flipped:
        inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else None
        yield "condition negated", deepcopy(inner) if inner else ast.UnaryOp(ast.Not(), deepcopy(node))


def counted(place: Place) -> Iterator[Change]:
    """A whole number, one more and one less."""
    node = place.node
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield "int + 1", ast.Constant(node.value + 1)
        yield "int - 1", ast.Constant(node.value - 1)


def returned(place: Place) -> Iterator[Change]:
    """A function that goes on where it returned; what it would have returned is worked out all the same."""
    node = place.node
    if isinstance(node, ast.Return):
        value = node.value
        if value is None:
            yield "return dropped", ast.Pass()
        elif not (isinstance(value, ast.Constant) and value.value is None):
            yield "return dropped", ast.Expr(deepcopy(value))


def yielded(place: Place) -> Iterator[Change]:
    """A generator that keeps to itself what it works out, and is a generator still."""
    node = place.node
    if isinstance(node, ast.Yield | ast.YieldFrom):
        value = deepcopy(node.value) if node.value else ast.Constant(None)
        yield "yield dropped", ast.IfExp(ast.Constant(False), deepcopy(node), value)


def awaited(place: Place) -> Iterator[Change]:
    """A coroutine that nobody waits for."""
    if isinstance(place.node, ast.Await):
        yield "await dropped", deepcopy(place.node.value)


def gathered(place: Place) -> Iterator[Change]:
    """A collection, or a text, that does not grow."""
    node = place.node
    grows = (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in GATHERING
    )
    counts = isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
    if grows or (isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and not counts):
        yield "append dropped", ast.Pass()


def swapped(place: Place) -> Iterator[Change]:
    """Two neighbouring positional arguments in each other's place."""
    node = place.node
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Name) and node.func.id in SYMMETRIC):
        return
    for number in range(len(node.args) - 1):
        one, two = node.args[number : number + 2]
        if not any(isinstance(each, ast.Starred) for each in (one, two)) and ast.dump(one) != ast.dump(two):
            changed = deepcopy(node)
            changed.args[number : number + 2] = deepcopy([two, one])
            yield f"arguments {number + 1} and {number + 2} swapped", changed


OPERATORS: tuple[Operator, ...] = (
    compared,
    joined,
    negated,
    counted,
    returned,
    yielded,
    awaited,
    gathered,
    swapped,
)


def changes(place: Place, operators: Sequence[Operator] = OPERATORS) -> list[Change]:
    """All that these operators may do at a place, in a fixed order."""
    return [change for operator in operators for change in operator(place)]
