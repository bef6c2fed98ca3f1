"""Many cases in one test: each is tried, and the test's failure names all that fail, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def each(cases: Mapping[str, tuple[Any, ...]], check: Callable[..., object]) -> None:
    """Try a check on the values of every case.

    Raises:
        AssertionError: there is no case, or the check of some case has raised; the message names these cases.
    """
    assert cases, "there is no case to try"
    wrong = []
    for name, values in cases.items():
        try:
            check(*values)
        except Exception as error:  # noqa: BLE001  whatever a case raises is its failure
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(cases)} cases fail:\n\n" + "\n\n".join(wrong))
