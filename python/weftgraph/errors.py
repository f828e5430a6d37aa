"""Exceptions of weftgraph: one class for each exit code of the program."""

from __future__ import annotations

import re
from typing import Any

__all__ = [
    "WeftError",
    "UsageError",
    "InputError",
    "QueryError",
    "MemoryLimitError",
    "DeviceError",
    "Timeout",
    "Interrupted",
    "BinaryNotFound",
    "CutShort",
    "ServerError",
]


class WeftError(Exception):
    """A command of weft failed.

    ``code`` is the exit code. ``message`` is the text that weft wrote, without
    its notes. ``notes`` has the other lines, such as guesses about a file.
    """

    code = 1

    def __init__(self, message: str, *, code: int | None = None, notes: list[str] | None = None):
        super().__init__(message)
        self.message = message
        self.notes = notes or []
        if code is not None:
            self.code = code


class BinaryNotFound(WeftError):
    """The program weft was not found."""


class UsageError(WeftError, ValueError):
    """An option or its value is wrong (exit code 2)."""

    code = 2


class InputError(WeftError):
    """A graph cannot be read (exit code 3)."""

    code = 3


class QueryError(WeftError, ValueError):
    """A query is wrong, or weft cannot run it (exit code 4).

    ``line`` and ``column`` begin at 1, and are None if the message has no place.
    ``str(error)`` has the line of the query with a caret below the mistake.
    """

    code = 4

    def __init__(self, message: str, **more: Any):
        super().__init__(message, **more)
        self.line: int | None = None
        self.column: int | None = None
        place = re.search(r"line (\d+), column (\d+)", message.split("\n", 1)[0])
        if place:
            self.line, self.column = int(place[1]), int(place[2])


class MemoryLimitError(WeftError, MemoryError):
    """A command needs more memory than there is or than it may use (exit code 5)."""

    code = 5


class DeviceError(WeftError):
    """A device that was asked for is absent or failed (exit code 6)."""

    code = 6


class Timeout(WeftError, TimeoutError):
    """The time limit passed (exit code 124).

    ``partial`` is what was found so far, in the form that the call returns: a
    count that is a lower bound, or the rows so far. It is None if there is nothing.
    """

    code = 124

    def __init__(self, message: str, *, partial: Any = None, **more: Any):
        super().__init__(message, **more)
        self.message = message
        self.partial = partial

    def __str__(self) -> str:
        return self.message


class Interrupted(WeftError, KeyboardInterrupt):
    """Ctrl-C or a signal ended the command (exit codes 129, 130, 143).

    It is a KeyboardInterrupt too. ``partial`` is as for Timeout.
    """

    code = 130

    def __init__(self, message: str, *, partial: Any = None, **more: Any):
        super().__init__(message, **more)
        self.partial = partial


class CutShort(WeftError):
    """A server cut a result short. ``reason`` is its word for why, and ``partial`` what it found so far."""

    def __init__(self, message: str, *, reason: str = "", partial: Any = None, **more: Any):
        super().__init__(message, **more)
        self.reason = reason
        self.partial = partial


class ServerError(WeftError):
    """A server refused a request, or cannot be reached. ``status`` and ``kind`` are those of its answer."""

    def __init__(self, message: str, *, status: int | None = None, kind: str = "", **more: Any):
        super().__init__(message, **more)
        self.status = status
        self.kind = kind


_classes: dict[int, type[WeftError]] = {
    2: UsageError,
    3: InputError,
    4: QueryError,
    5: MemoryLimitError,
    6: DeviceError,
    124: Timeout,
    129: Interrupted,
    130: Interrupted,
    143: Interrupted,
}


def from_exit(code: int, stderr: str) -> WeftError:
    """Return the exception for an exit code and what the command wrote."""
    entries = messages(stderr)
    message = entries[-1] if entries else f"weft ended with exit code {code}"
    if code < 0:
        message = f"weft was ended by signal {-code}" + (f": {message}" if entries else "")
    kind = _classes.get(code, Interrupted if code in (-2, -15, -1) else WeftError)
    return kind(message, code=code, notes=entries[:-1])


def messages(stderr: str) -> list[str]:
    """Return the messages in what a command wrote to standard error.

    A message begins with ``weft: ``; the lines below it belong to it.
    """
    found: list[str] = []
    for line in stderr.splitlines():
        if line.startswith("weft: "):
            found.append(line[len("weft: "):])
        elif found:
            found[-1] += "\n" + line
        elif line.strip():
            found.append(line)
    return found
