"""Further operators, for loops from outside: what is left out of a loop, one part at a time.

The mutants of the reference are made without them: they have been reviewed one by one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

from tools.mutation.operators import OPERATORS, Change, Operator, Place, gathered

BODIES = frozenset({"body", "orelse", "finalbody"})
NO_TEXT = (ast.JoinedStr, ast.Expr)
"""Where a text is a piece of a larger one, or says something to the reader alone."""


def deleted(place: Place) -> Iterator[Change]:
    """A statement that is not there; an ``append dropped`` is one already."""
    node = place.node
    if place.field not in BODIES or any(gathered(place)):
        return
    assigns = isinstance(node, ast.Assign | ast.AugAssign | ast.Delete) or (
        isinstance(node, ast.AnnAssign) and node.value is not None
    )
    acts = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await)
    if assigns or acts or isinstance(node, ast.Raise | ast.Break | ast.Continue):
        yield "statement deleted", ast.Pass()
    elif isinstance(node, ast.If) and not node.orelse:
        yield "if deleted", ast.Pass()


def left(place: Place) -> Iterator[Change]:
    """``break`` for ``continue``, and ``continue`` for ``break``."""
    if isinstance(place.node, ast.Break | ast.Continue):
        ends = isinstance(place.node, ast.Break)
        yield "continue for break" if ends else "break for continue", ast.Continue() if ends else ast.Break()


def lessened(place: Place) -> Iterator[Change]:
    """A dictionary without one of its members, or a list, a set or a tuple without one of its elements."""
    node = place.node
    if isinstance(node, ast.Dict):
        for number in range(len(node.keys)):
            changed = deepcopy(node)
            del changed.keys[number], changed.values[number]
            yield f"member {number + 1} dropped", changed
    elif isinstance(node, ast.List | ast.Set | ast.Tuple) and not isinstance(place.parent, ast.Subscript):
        reads = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        for number in range(len(node.elts) if reads and (isinstance(node, ast.List) or len(node.elts) > 1) else 0):
            less = deepcopy(node)
            del less.elts[number]
            yield f"element {number + 1} dropped", less


def argued(place: Place) -> Iterator[Change]:
    """A call without one of its named arguments, without its last positional one, or with its one argument alone."""
    node = place.node
    if not isinstance(node, ast.Call):
        return
    for number, keyword in enumerate(node.keywords):
        changed = deepcopy(node)
        del changed.keywords[number]
        yield f"argument {keyword.arg or '**'} dropped", changed
    if len(node.args) > 1 and not isinstance(node.args[-1], ast.Starred):
        changed = deepcopy(node)
        del changed.args[-1]
        yield "last argument dropped", changed
    if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp):
        yield "call dropped", deepcopy(node.args[0])


def chosen(place: Place) -> Iterator[Change]:
    """``and`` and ``or`` without one operand, and one side of a conditional expression, whatever its condition."""
    node = place.node
    if isinstance(node, ast.BoolOp):
        for number in range(len(node.values)):
            changed = deepcopy(node)
            del changed.values[number]
            yield f"operand {number + 1} dropped", changed if len(changed.values) > 1 else changed.values[0]
    elif isinstance(node, ast.IfExp):
        yield "always the first", deepcopy(node.body)
        yield "always the second", deepcopy(node.orelse)


def caught(place: Place) -> Iterator[Change]:
    """A ``try`` without one of its handlers, or without what it does in any case."""
    node = place.node
    if not isinstance(node, ast.Try):
        return
    for number in range(len(node.handlers)):
        changed = deepcopy(node)
        del changed.handlers[number]
        if changed.handlers or changed.finalbody:
            changed.orelse = changed.orelse if changed.handlers else []
            yield f"except {number + 1} dropped", changed
        else:
            yield "except dropped", ast.If(ast.Constant(True), [*changed.body, *changed.orelse], [])
    if node.finalbody and node.handlers:
        changed = deepcopy(node)
        changed.finalbody = []
        yield "finally dropped", changed


def emptied(place: Place) -> Iterator[Change]:
    """A text that is empty; and a truth value that is the other one."""
    node = place.node
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, str | bytes) and node.value and not isinstance(place.parent, NO_TEXT):
        yield "text emptied", ast.Constant(type(node.value)())
    elif isinstance(node.value, bool):
        yield "bool flipped", ast.Constant(not node.value)


FURTHER: tuple[Operator, ...] = (*OPERATORS, deleted, left, lessened, argued, chosen, caught, emptied)
