"""The methods of a driver object, called with what the protocol of drivers in Python gives them."""

from __future__ import annotations

import inspect
from typing import Any

from looptck.drivers.faults import DriverFault, Kind

GIVEN = {
    "start": "",
    "run": "case, emit",
    "run_async": "case, emit",
    "cancel": "id",
    "stop": "",
}
"""By method: the arguments that looptck calls it with."""


def called(driver: object, name: str, *given: Any) -> Any:
    """Call a method of a driver, which may also be a function or another callable object.

    Raises:
        DriverFault: there is no such method, or it does not take these arguments.
    """
    line = f"def {name}(self{', ' if GIVEN[name] else ''}{GIVEN[name]})"
    method = getattr(driver, name, None)
    if method is None:
        kind: Kind = "cannot-start" if name == "start" else "crashed"
        raise DriverFault(kind, f"{type(driver).__name__} has no method {name}; declare `{line}`")
    try:
        inspect.signature(method).bind(*given)
    except ValueError:
        pass  # a method without a signature, such as one in C: only the call can tell
    except TypeError as error:
        detail = f"looptck calls {name}({GIVEN[name]}), and the method does not fit that: {error}; declare `{line}`"
        raise DriverFault("crashed", detail) from error
    return method(*given)
