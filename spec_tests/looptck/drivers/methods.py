"""The methods of a driver object, called with what the protocol of drivers in Python gives them."""

from __future__ import annotations

import inspect
from typing import Any

from looptck.drivers.faults import DriverFault

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
        DriverFault: it does not take these arguments.
    """
    method = getattr(driver, name)
    try:
        inspect.signature(method).bind(*given)
    except ValueError:
        pass  # a method without a signature, such as one in C: only the call can tell
    except TypeError as error:
        line = f"def {name}(self{', ' if GIVEN[name] else ''}{GIVEN[name]})"
        detail = f"looptck calls {name}({GIVEN[name]}), and the method does not fit that: {error}; declare `{line}`"
        raise DriverFault("crashed", detail) from error
    return method(*given)
