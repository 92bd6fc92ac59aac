"""A process of the program that answers lines of JSON, in order."""

from __future__ import annotations

import collections
import json
import os
import subprocess
import tempfile
import threading
from typing import Any

from ._errors import ProgramError
from ._program import environment

_CLOSE_SECONDS = 5  # until a process that has no work is killed
_SHOWN = 2000  # bytes of what it said last


class Answer:
    """A record that is waited for."""

    def __init__(self, child: "Child"):
        self.child = child
        self._done = threading.Event()
        self._record: dict[str, Any] | None = None
        self._error: ProgramError | None = None

    def set(self, record: dict[str, Any] | None, error: ProgramError | None) -> None:
        self._record, self._error = record, error
        self._done.set()

    def done(self) -> bool:
        return self._done.is_set()

    def result(self) -> dict[str, Any]:
        """The record, when it is there."""
        if self.child.pid != os.getpid():
            raise ProgramError("this work was begun before the fork, by the parent process")
        self._done.wait()
        if self._error is not None:
            # A new one: several threads may raise it, each with a traceback of its own.
            raise ProgramError(self._error.message, self._error.exit_code)
        assert self._record is not None
        return self._record


class Child:
    """Its methods are safe for several threads. After a fork it is the parent's: see forget."""

    def __init__(self, command: list[str]):
        self.pid = os.getpid()
        self._writing = threading.Lock()  # so that lines stand in the order of their answers
        self._lock = threading.Lock()  # of the next two, never held while anything is waited for
        self._waiting: collections.deque[Answer] = collections.deque()
        self._ended: ProgramError | None = None
        self._says = tempfile.TemporaryFile()
        try:
            # Without buffers, which a fork would copy. In a session of its own, so that Ctrl-C goes
            # to Python alone, which then says what becomes of the work.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._says, bufsize=0,
                env=environment(), start_new_session=True)
        except OSError as err:
            self._says.close()
            raise ProgramError(f"{command[0]} cannot be started: {err}") from err
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        threading.Thread(target=self._read, name="infill", daemon=True).start()

    @property
    def alive(self) -> bool:
        return self._ended is None

    @property
    def process_id(self) -> int:
        return self._process.pid

    def ask(self, line: bytes) -> Answer | None:
        """Sends a line, and returns its answer to come. None: it was closed, start another."""
        answer = Answer(self)
        with self._writing:
            try:
                with self._lock:
                    if self._ended is not None and self._ended.exit_code is None:
                        return None
                    if self._ended is not None:
                        answer.set(None, self._ended)
                        return answer
                    self._waiting.append(answer)
                view = memoryview(line + b"\n")
                while view:
                    view = view[self._in.write(view):]
            except (OSError, ValueError):
                pass  # it has ended, and _read says how
            except BaseException:  # Ctrl-C, maybe in the middle of the line
                self._process.kill()
                raise
        return answer

    def abandon(self, answers: list[Answer]) -> None:
        """Gives up answers. If nobody waits for others, the work on them ends too."""
        left = {id(a) for a in answers if not a.done()}
        with self._lock:
            others = [a for a in self._waiting if id(a) not in left and not a.done()]
            if left and not others and self._ended is None:
                self._ended = ProgramError("the work was given up")
                self._process.kill()

    def _read(self) -> None:
        rest = b""
        while True:
            try:
                part = os.read(self._out.fileno(), 1 << 16)
            except (OSError, ValueError):
                part = b""
            if not part:
                break
            *lines, rest = (rest + part).split(b"\n") if b"\n" in part else (rest + part,)
            for line in lines:
                self._give(line)
        self._end()

    def _give(self, line: bytes) -> None:
        """Hands a record to the one that waits longest."""
        try:
            record = json.loads(line)
            with self._lock:
                answer = self._waiting.popleft()
        except (IndexError, ValueError):  # not a program that speaks as ours does
            self._process.kill()
            return
        answer.set(record, None)

    def _end(self) -> None:
        """Tells all that wait how the process ended."""
        code = self._process.wait()
        error = ProgramError(self._how(code), code)
        with self._lock:
            self._ended = self._ended or error
            waiting = list(self._waiting)
            self._waiting.clear()
        with self._writing:  # whose pipe is broken by now
            self._in.close()
        self._out.close()
        self._says.close()
        for answer in waiting:
            answer.set(None, self._ended)

    def _how(self, code: int) -> str:
        size = self._says.seek(0, os.SEEK_END)
        self._says.seek(max(0, size - _SHOWN))
        says = self._says.read().decode("utf-8", "replace").strip()
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the program {how}" + (f": {says}" if says else "")

    def close(self) -> None:
        """Ends the process: at once if it has work, and else by the end of its input."""
        if self.pid != os.getpid():
            return
        with self._lock:
            idle = not self._waiting
            if self._ended is None:
                self._ended = ProgramError("the model was closed")
            else:
                idle = False
        if idle:
            try:
                with self._writing:
                    self._in.close()
                self._process.wait(_CLOSE_SECONDS)
            except (OSError, subprocess.TimeoutExpired):
                pass
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Lets go of the parent's process, after a fork, so that its input can still end."""
        for pipe in (self._in, self._out):
            try:
                pipe.close()
            except OSError:
                pass
        self._ended = ProgramError("this process of the program is the parent's")
        self._process.returncode = 0  # it is not ours to wait for
