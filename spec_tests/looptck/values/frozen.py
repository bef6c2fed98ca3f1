"""The kit's dataclasses: `frozen` is held by mypy alone.

Two hundred classes are made before the first check is played. Freezing one at run time takes longer than all else that
`dataclass` does, and makes each instance slower to make. So a frozen class here is one that mypy lets nobody change and
that has a hash; a change at run time is not refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  the name is given on
else:
    from dataclasses import dataclass as made

    def dataclass(cls: type | None = None, *, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
        """As `dataclasses.dataclass`; ``frozen``: with a hash of its fields, but not frozen."""
        decorator = made(eq=eq, unsafe_hash=frozen and eq, **options)
        return decorator if cls is None else decorator(cls)


__all__ = ["dataclass"]
