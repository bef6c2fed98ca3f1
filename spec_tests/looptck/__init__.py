"""looptck: a technology compatibility kit for LLM agent loops.

`looptck.driver` and `looptck.signatures` are for people who write drivers. The command `looptck` and
`pytest --pyargs looptck.spec` run the suite. Nothing else is meant to be imported.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["Case", "Driver", "Outcome"]

if TYPE_CHECKING:
    from looptck.driver import Case, Driver, Outcome
else:

    def __getattr__(name: str) -> Any:
        """Import the names above on demand: every pytest in this environment imports this package."""
        if name in __all__:
            from looptck import driver

            return getattr(driver, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
