"""The outcome of a run, as the protocol says it."""

from __future__ import annotations

from asyncio import CancelledError
from dataclasses import asdict

from looptck_reference.loop.loop import Loop
from looptck_reference.prompty.invoke import Invocation
from looptck_reference.vocabulary.actions import Fail, Finish, Suspend
from looptck_reference.vocabulary.errors import Cancelled, LoopError
from looptck_reference.vocabulary.usage import total
from looptck_reference.vocabulary.values import Json

__all__ = ["ended", "failed"]


def ended(loop: Loop) -> Json:
    """The outcome of a run that raised nothing: the caller got an answer, left the stream, or has to decide."""
    match loop.end:
        case Finish(answer):
            used = total(answer.usage)
            told = {"usage": used} if used else {}
            if answer.output is not None:
                told["output"] = answer.output
            return {"kind": "value", "text": answer.text, "stop": answer.stop.value, **told}
        case Suspend(calls, state):
            return {"kind": "suspended", "state": state, "calls": [asdict(call) for call in calls]}
        case Fail(error, reason):
            return _error(error, reason)
    raise AssertionError("the run has not ended")


def failed(begun: Invocation | None, error: BaseException) -> Json:
    """The outcome of a run that raised this: with the reason of the loop's end, or of the error of asking the model."""
    if isinstance(error, CancelledError):
        return _error(error, Cancelled.reason)
    known = begun.loop.end if begun is not None and isinstance(begun.loop.end, Fail) else error
    return _error(error, known.reason if isinstance(known, Fail | LoopError) else "other")


def _error(error: BaseException, reason: str) -> Json:
    named, *bases = (kind.__name__ for kind in type(error).__mro__[:-1])
    return {"kind": "error", "reason": reason, "type": named, "message": str(error), "bases": bases}
