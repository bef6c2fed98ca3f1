"""The kit's dataclasses, of which hundreds are made before the first check is played, so they are made quickly.

Two things take most of the time of `dataclasses.dataclass`, and each class here is spared them:

- To freeze it. A frozen class here is one that mypy lets nobody change, and that has a hash; a change at run time is
  not refused.
- To compile `__repr__`, `__eq__` and `__hash__`. Here they are closures that do the same.
"""

from __future__ import annotations

from dataclasses import Field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  the name is given on
else:
    from dataclasses import dataclass as made

    def dataclass(cls: type | None = None, *, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
        """As `dataclasses.dataclass`; ``frozen``: with a hash of its fields, but not frozen."""

        def of(cls: type) -> type:
            own = {*vars(cls)}
            done = made(eq=False, **options | {"repr": False})(cls)
            methods = {"__repr__": _repr(fields(done))} if options.get("repr", True) else {}
            if eq:
                methods["__eq__"] = _eq([field.name for field in fields(done) if field.compare])
                methods["__hash__"] = None
            if eq and frozen:
                methods["__hash__"] = _hash([field.name for field in fields(done) if _hashed(field)])
            for name in methods.keys() - own:
                setattr(done, name, methods[name])
            return done

        return of if cls is None else of(cls)


def _repr(shown: tuple[Field[Any], ...]) -> Any:
    names = [field.name for field in shown if field.repr]

    @recursive_repr()
    def __repr__(self: object) -> str:  # noqa: N807
        members = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({members})"

    return __repr__


def _values(names: list[str]) -> Any:
    """What reads the fields of these names as one value, whose items are equal if they are the same, such as NaN."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(names: list[str]) -> Any:
    values = _values(names)

    def __eq__(self: object, other: object) -> Any:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(names: list[str]) -> Any:
    values = _values(names)

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def _hashed(field: Field[Any]) -> bool:
    return bool(field.compare if field.hash is None else field.hash)


__all__ = ["dataclass"]
