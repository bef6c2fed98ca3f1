"""What the modules of the wheel import is declared: as a dependency, or in the extra of their room."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

import pytest

from meta.wheel.rooms import ROOMS, extra_of

TOP = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
OURS = {
    (TOP / path).name: (TOP / path).parent for path in PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
}
"""The packages of the wheel, each with the folder that it lies in."""
UNIMPORTED = {
    "python-multipart": "starlette imports it for forms",
}
"""Declared, and imported by somebody else's code."""


@dataclass(frozen=True)
class Import:
    """A module that another one imports."""

    importer: str
    line: int
    name: str
    """``package.module``, or ``package.module.name`` where a name is imported from it."""
    late: bool
    """Whether it happens in a function: when that is called."""

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.name}"


def imports_of(importer: str, text: str) -> Iterator[Import]:
    """All imports of a module that happen when it runs; those for type checkers do not."""

    def found(node: ast.AST, *, late: bool) -> Iterator[Import]:
        match node:
            case ast.Import(names):
                yield from (Import(importer, node.lineno, one.name, late) for one in names)
            case ast.ImportFrom(module, names, 0):
                yield from (Import(importer, node.lineno, f"{module}.{one.name}", late) for one in names)
            case ast.If(ast.Name("TYPE_CHECKING"), _, other):
                for statement in other:
                    yield from found(statement, late=late)
            case _:
                late = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
                for child in ast.iter_child_nodes(node):
                    yield from found(child, late=late)

    yield from found(ast.parse(text), late=False)


@cache
def modules() -> dict[str, str]:
    """The text of every module of the wheel, by its name."""
    texts = {}
    for package, folder in OURS.items():
        for path in sorted((folder / package).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            texts[".".join(parts).removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return texts


@cache
def imports() -> tuple[Import, ...]:
    """Those of every module of the wheel."""
    return tuple(one for name, text in modules().items() for one in imports_of(name, text))


@cache
def declared() -> dict[str, frozenset[str]]:
    """The distributions that each extra brings, beside those of ``""``, which are always there."""
    project = PROJECT["project"]
    lists = {"": project["dependencies"], **project["optional-dependencies"]}
    return {extra: frozenset(normal(re.split(r"[^\w.-]", one)[0]) for one in lists[extra]) for extra in lists}


def normal(name: str) -> str:
    """The name of a distribution as all tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def installed() -> dict[str, str]:
    """The distribution of each module that a declared one has here. Parts of a package may be of several of them."""
    owners = {}
    for distribution in frozenset().union(*declared().values()) - {"looptck"}:
        with contextlib.suppress(metadata.PackageNotFoundError):
            record = metadata.distribution(distribution).read_text("RECORD") or ""
            for module in re.findall(r"^([\w/]+)(?:\.[\w-]+)?\.(?:py|so|pyd),", record, re.MULTILINE):
                owners[module.replace("/", ".").removesuffix(".__init__")] = distribution
    return owners


def distribution_of(name: str) -> str:
    """The distribution of an import; where it is not installed here, the one that is named as its package is."""
    known, package = installed(), name
    while package and package not in known:
        package = package.rpartition(".")[0]
    return known[package] if package else normal(name.partition(".")[0])


def others(extra: str | None = None) -> list[Import]:
    """The imports of other people's packages; with ``extra``, those of its rooms."""
    return [
        one
        for one in imports()
        if one.name.partition(".")[0] not in {*sys.stdlib_module_names, *OURS, "__future__"}
        and (extra is None or extra_of(one.importer) == extra)
    ]


def test_every_import_is_declared() -> None:
    """Each module imports what is always there, and what its room's extra brings."""
    undeclared = [
        f"{one}, which is of {distribution_of(one.name)}"
        for one in others()
        if distribution_of(one.name) not in declared()[""] | declared()[extra_of(one.importer)]
    ]

    assert [] == undeclared


def test_what_is_declared_is_imported() -> None:
    """No dependency is left over: the rooms of an extra import all that it brings."""
    left = [
        f"{name} of {extra or 'the dependencies'}"
        for extra in {*ROOMS.values()}
        for name in declared()[extra] - {distribution_of(one.name) for one in others(extra)} - UNIMPORTED.keys()
    ]

    assert [] == left


def test_every_extra_has_a_room() -> None:
    """And every room an extra; that of the tests has none in the wheel."""
    assert {*declared()} - {"test"} == {*ROOMS.values()}


def test_no_room_imports_one_of_another_extra() -> None:
    """What may be missing is imported in functions only, which say so first."""
    early = [
        str(one)
        for one in imports()
        if one.name.partition(".")[0] in OURS
        and not one.late
        and extra_of(one.name) not in ("", extra_of(one.importer))
    ]

    assert [] == early


def test_the_rooms_are_there() -> None:
    """The table names modules and packages that there are."""
    assert ROOMS.keys() <= modules().keys()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("import a.b, c", ["a.b", "c"]),
        ("from a.b import c, d", ["a.b.c", "a.b.d"]),
        ("from . import c", []),
        ("if TYPE_CHECKING:\n    import a\nelse:\n    import b", ["b"]),
        ("try:\n    import a\nexcept ImportError:\n    a = None", ["a"]),
        ("class A:\n    import a", ["a"]),
    ],
)
def test_imports_are_found(line: str, names: list[str]) -> None:
    """Wherever they are."""
    assert names == [one.name for one in imports_of("m", line)]


def test_late_imports_are_known() -> None:
    """Those in functions, of classes too."""
    text = "import a\nclass C:\n    def f(self):\n        import b\nasync def g():\n    if 1:\n        import c"

    assert [False, True, True] == [one.late for one in imports_of("m", text)]


@pytest.mark.parametrize(
    ("name", "distribution"),
    [
        ("yaml", "pyyaml"),
        ("google.protobuf.message.DecodeError", "protobuf"),
        ("google.rpc.status_pb2", "googleapis-common-protos"),
        ("opentelemetry.trace.Span", "opentelemetry-api"),
        ("opentelemetry.sdk.trace", "opentelemetry-sdk"),
        ("opentelemetry.proto.collector.trace.v1.trace_service_pb2", "opentelemetry-proto"),
        ("orjson.dumps", "orjson"),
        ("no_such.thing", "no-such"),
    ],
)
def test_owners_are_known(name: str, distribution: str) -> None:
    """Also where several distributions share a package."""
    assert distribution == distribution_of(name)
