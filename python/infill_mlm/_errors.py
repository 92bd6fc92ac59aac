"""What goes wrong."""

from __future__ import annotations

from typing import Any


class InfillError(Exception):
    """Any error of this package."""


class ProgramError(InfillError):
    """The program could not be started, or ended before its work was done.

    exit_code is its exit code, negative for the number of the signal that ended it, and None if it
    did not start.
    """

    def __init__(self, message: str, exit_code: int | None = None):
        super().__init__(message, exit_code)
        self.message = message
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.message


class LineError(InfillError, ValueError):
    """A text cannot be worked on. Others can.

    code is the kind as records have it, text the text, and record all that the program wrote.
    """

    code = ""

    def __init__(self, message: str, text: str = "", record: dict[str, Any] | None = None):
        super().__init__(message, text, record)
        self.message = message
        self.text = text
        self.record = record or {}

    def __str__(self) -> str:
        return self.message
