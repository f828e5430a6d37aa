"""The program weft as a process: where it is, how it runs, how it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Iterator, Sequence

from . import errors

_GRACE = 5.0  # seconds that a process has to end after a signal


def find_binary(binary: str | os.PathLike[str] | None = None) -> str:
    """Return the path of the program weft.

    It is the argument, else the variable WEFT_BINARY, else the program that the
    wheel brought, else ``weft`` on the PATH.
    """
    name = "weft.exe" if sys.platform == "win32" else "weft"
    for chosen, what in ((binary, "binary"), (os.environ.get("WEFT_BINARY"), "WEFT_BINARY")):
        if chosen:
            found = shutil.which(os.fspath(chosen))
            if found is None:
                raise errors.BinaryNotFound(f"{what}: {os.fspath(chosen)} is not a program that can be run")
            return found
    beside = Path(__file__).parent / "bin" / name
    if beside.is_file():
        return str(beside)
    found = shutil.which(name)
    if found is None:
        raise errors.BinaryNotFound(
            "the program weft was not found: set WEFT_BINARY to its path, or put it on the PATH"
        )
    return found


class Process:
    """A running command of weft. Its standard output is read as it comes.

    ``close`` ends the command if it runs. It blocks until the command has ended.
    """

    def __init__(self, command: Sequence[str]):
        # Standard error goes to a file without a name, so that no pipe can fill.
        self._stderr: IO[bytes] = tempfile.TemporaryFile()
        try:
            self._child = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._stderr
            )
        except OSError as e:
            self._stderr.close()
            if e.errno == 7:  # E2BIG
                raise errors.UsageError("the query and its parameters are longer than the system allows") from e
            raise errors.BinaryNotFound(f"{command[0]}: {e.strerror}") from e
        assert self._child.stdout is not None
        self.stdout: IO[bytes] = self._child.stdout

    def interrupt(self) -> None:
        """Ask the command to stop, so that it writes its partial result."""
        if self._child.poll() is None:
            if sys.platform == "win32":
                self._child.terminate()
            else:
                self._child.send_signal(signal.SIGINT)

    def finish(self) -> tuple[int, str]:
        """Wait for the end, and return the exit code and standard error."""
        code = self._child.wait()
        self.stdout.close()
        if self._stderr.closed:
            return code, ""
        self._stderr.seek(0)
        text = self._stderr.read().decode("utf-8", "replace")
        self._stderr.close()
        return code, text

    def close(self) -> None:
        """End the command, if it runs, and free what it had."""
        self.stdout.close()
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        self._stderr.close()

    def drain(self) -> bytes:
        """Return the rest of standard output after ``interrupt``, within the grace time."""
        try:
            rest, _ = self._child.communicate(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            rest, _ = self._child.communicate()
        return rest or b""


def run(command: Sequence[str]) -> tuple[int, bytes, str]:
    """Run a command to its end; return exit code, output and standard error.

    Ctrl-C is passed to the command, which then writes a partial result: the exit
    code is 130.
    """
    process = Process(command)
    try:
        try:
            out = process.stdout.read()
        except KeyboardInterrupt:
            process.interrupt()
            out = process.drain()
            _, text = process.finish()
            return 130, out, text
        code, text = process.finish()
        return code, out, text
    finally:
        process.close()


def lines(process: Process) -> Iterator[bytes]:
    """Yield the lines that a command writes."""
    yield from process.stdout
