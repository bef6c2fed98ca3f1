"""Errors for clients, with their status, and errors of tools."""

from __future__ import annotations

__all__ = ["Refused", "ToolFailed"]


KNOWN = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}


class Refused(Exception):
    """The request cannot be answered. `param` names the request member that caused the error, if any."""

    def __init__(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code

    @property
    def type(self) -> str:
        """The error type that OpenAI and Anthropic use for this status."""
        return KNOWN.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")


class ToolFailed(Exception):
    """A tool failed; `status` is the word that the model reads."""

    def __init__(self, message: str, status: str = "failed") -> None:
        super().__init__(message)
        self.status = status
