"""What faked programs reply."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pytest_caesar.programs.call import ProgramCall, ProgramReply

Script = Callable[[ProgramCall], "ProgramReply | str | bytes | int | None"]
"""Makes a reply from a call: text is its stdout, a number its exit code, None no reply."""


@dataclass(slots=True)
class FakedProgram:
    """A program that a test plays.

    Attributes:
        name: of the program.
        words: the first words of the calls that it takes; all calls when empty.
        wants_stdin: read what comes in before the reply.
        calls: so far, in the order in which they came.
    """

    name: str
    words: tuple[str, ...]
    wants_stdin: bool
    _script: Script
    calls: list[ProgramCall] = field(default_factory=list)

    def fits(self, argv: Sequence[str]) -> bool:
        """Tell whether it takes a call."""
        return tuple(argv[1 : 1 + len(self.words)]) == self.words

    def reply(self, call: ProgramCall) -> ProgramReply | None:
        """Return what it replies, or None where nothing fits.

        Raises:
            Exception: that of the test's own function.
        """
        told = self._script(call)
        if told is None or isinstance(told, ProgramReply):
            return told
        if isinstance(told, int):
            return ProgramReply(exit_code=told)
        return ProgramReply(stdout=told)

    def __repr__(self) -> str:
        return f"<FakedProgram {' '.join((self.name, *self.words))}: {len(self.calls)} calls>"


@dataclass(slots=True)
class WatchedProgram:
    """A program whose calls are noted while the real one runs.

    Attributes:
        name: of the program.
        calls: so far, in the order in which they came.
    """

    name: str
    calls: list[ProgramCall] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<WatchedProgram {self.name}: {len(self.calls)} calls>"


@dataclass(slots=True)
class Ledger:
    """Everything that came, for the judgement at the end of a test.

    Attributes:
        calls: all of them, by the order in which they came.
        problems: calls that no reply fits, and functions that failed, in sentences.
    """

    calls: dict[int, ProgramCall] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
