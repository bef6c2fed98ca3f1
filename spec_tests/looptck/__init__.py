"""looptck: a technology compatibility kit for LLM agent loops.

For tests of code that asks a model: the pytest fixture `llm`, and the answers of its script, `calls`, `says` and the
others below. `looptck.driver` and `looptck.signatures` are for people who write drivers. The command `looptck` and
`pytest --pyargs looptck.spec` run the suite. Nothing else is meant to be imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "LLM",
    "Answer",
    "Case",
    "Driver",
    "Failed",
    "Outcome",
    "broken",
    "calls",
    "check",
    "cut",
    "errs",
    "fails",
    "refuses",
    "says",
    "thinks",
]

if TYPE_CHECKING:
    from looptck.driver import Case, Driver, Outcome
    from looptck.mock.answers import Answer, broken, calls, cut, errs, fails, refuses, says, thinks
    from looptck.mock.llm import LLM, Failed
    from looptck.suite.check import check
else:
    _HOMES = {
        **dict.fromkeys(("Case", "Driver", "Outcome"), "driver"),
        **dict.fromkeys(("LLM", "Failed"), "mock.llm"),
        "check": "suite.check",
    }

    def __getattr__(name: str) -> Any:
        """Import the names above on demand: every pytest in this environment imports this package."""
        if name in __all__:
            return getattr(import_module(f"looptck.{_HOMES.get(name, 'mock.answers')}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
