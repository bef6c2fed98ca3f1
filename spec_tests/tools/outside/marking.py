"""Sources that write down which of their statements are reached, in whatever process and thread they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MARK = "looptck_reached"
"""The module, and the function in it, that marked sources call."""
MARKER = '''\
"""Writes down, once for each, which lines of which module are reached."""

from pathlib import Path

_seen = set()


def looptck_reached(module, first, last):
    if (module, first) not in _seen:
        _seen.add((module, first))
        with Path(__file__).with_suffix(".txt").open("a", encoding="utf-8") as file:
            file.write(f"{first} {last} {module}\\n")
'''


def marked(module: str, source: str) -> str:
    """A source in which each statement of a function tells first that it is reached."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _mark(node, module)
    future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    after = tree.body.index(future[-1]) + 1 if future else int(ast.get_docstring(tree) is not None)
    tree.body.insert(after, ast.ImportFrom(MARK, [ast.alias(MARK)], 0))
    return ast.unparse(ast.fix_missing_locations(tree))


def reached(folder: Path) -> dict[str, set[int]]:
    """The lines by module that the marked sources in a folder have told of."""
    found: dict[str, set[int]] = {}
    file = folder / f"{MARK}.txt"
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        first, last, module = line.split(" ", 2)
        found.setdefault(module, set()).update(range(int(first), int(last) + 1))
    return found


def _mark(node: ast.AST, module: str) -> None:
    """Mark the statements below a node, but for those of functions in it."""
    for field in ("body", "orelse", "finalbody"):
        below = getattr(node, field, None)
        if isinstance(below, list):
            told = [list(_told(statement, module)) for statement in below]
            setattr(node, field, [one for each in told for one in each])
    for inner in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        head = inner.pattern.lineno if isinstance(inner, ast.match_case) else inner.lineno
        below = inner.body[0].lineno - 1
        _mark(inner, module)
        inner.body.insert(0, _call(module, head, max(head, below)))


def _told(statement: ast.stmt, module: str) -> Iterator[ast.stmt]:
    """A statement behind its mark."""
    if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
        yield _call(module, statement.lineno, _end_of_head(statement))
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        _mark(statement, module)
    yield statement


def _call(module: str, first: int, last: int) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(one) for one in (module, first, last)], []))


def _end_of_head(statement: ast.stmt) -> int:
    """The last line that belongs to a statement itself, and not to one in it."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if not body:
        return statement.end_lineno or statement.lineno
    first = body[0].pattern if isinstance(body[0], ast.match_case) else body[0]
    return max(statement.lineno, first.lineno - 1)
