"""Errors of the SDK: one base, one class for each thing that a caller does differently.

Facts are attributes, the text is made from them, and every error survives pickling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class CaesarError(Exception):
    """Base of every error that this project raises on purpose.

    Subclasses take keyword arguments only, keep them as attributes and build
    their text in ``message()``.
    """

    def __init__(self, **facts: Any) -> None:
        self._facts = facts
        for name, value in facts.items():
            setattr(self, name, value)
        super().__init__(self.message())

    def message(self) -> str:
        """Say what was found, where, what was expected, and what to do."""
        return str(self._facts.get("text", type(self).__name__))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self._facts))


def _rebuild(cls: type[CaesarError], facts: dict[str, Any]) -> CaesarError:
    return cls(**facts)


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing that is wrong with one field of a document.

    Attributes:
        code: stable code, as in ``DocumentError.code``.
        where: path of the field, or "" for the whole document.
        problem: what was found and what was expected.
    """

    code: str
    where: str
    problem: str

    def __str__(self) -> str:
        return f"at {self.where}: {self.problem}" if self.where else self.problem


class DocumentError(CaesarError):
    """A document is not what the contract says.

    Attributes:
        kind: ``task``, ``report``, ``event``, ``question``, ``answer`` or ``document``.
        code: stable code, such as ``not-json`` or ``wrong-type``.
        where: path of the first wrong field (``changes[0].path``), or "" for the
            whole document.
        problem: what was found and what was expected.
        problems: every field that is wrong, in document order, the first included; of
            the elements of an array the first wrong one; at most ``documents.problems.MAX_PROBLEMS``. Empty when there is no more
            to say than ``problem``.
        count: how many fields are wrong, also of those that ``problems`` leaves out.
    """

    kind: str
    code: str
    where: str
    problem: str
    problems: tuple[FieldProblem, ...] = ()
    count: int = 1

    def message(self) -> str:
        """Name the document, the first wrong field, and how many more are wrong."""
        place = f" at {self.where}" if self.where else ""
        rest = f" (and {self.count - 1} more)" if self.count > 1 else ""
        return f"invalid {self.kind}{place}: {self.problem}{rest}"


class UnsupportedVersionError(DocumentError):
    """The ``protocol`` field is missing, unknown, or of another version.

    Attributes:
        found: the value of ``protocol`` as it stands in the document, or None.
        expected: the version this reader supports.
    """

    found: object
    expected: str


class EventLogError(CaesarError):
    """An event could not be appended.

    Attributes:
        path: the event log.
        problem: what was found there.
    """

    path: str
    problem: str

    def message(self) -> str:
        """Name the event log and what was found there."""
        return f"cannot append to {self.path}: {self.problem}"


class MisuseError(CaesarError, ValueError):
    """A method of ``Agent`` was called with something that the contract does not know.

    Attributes:
        method: name of the method.
        problem: what was found and what was expected.
    """

    method: str
    problem: str

    def message(self) -> str:
        """Return the text; see the base class."""
        return f"agent.{self.method}(): {self.problem}"


class CommandFailedError(CaesarError):
    """A command that was run with ``check=True`` did not exit with 0.

    Attributes:
        command: the command line.
        ending: how it ended, such as ``exit code 1`` or ``SIGKILL``.
        output: the end of what it printed, stderr where it printed there.
    """

    command: str
    ending: str
    output: str

    def message(self) -> str:
        """Return the text; see the base class."""
        text = f"{self.command!r} ended with {self.ending}"
        return f"{text}:\n{self.output}" if self.output else text


class StartError(CaesarError):
    """The agent has no task that it could read.

    Attributes:
        problem: one sentence with the remedy.
    """

    problem: str

    def message(self) -> str:
        """Return the text; see the base class."""
        return self.problem


class DeliveryError(CaesarError):
    """The report cannot be handed in.

    Attributes:
        path: where it was to be written.
        reason: what the system says.
    """

    path: str
    reason: str

    def message(self) -> str:
        """Return the text; see the base class."""
        return (
            f"the report cannot be written to {self.path}: {self.reason}; CAESAR_REPORT_PATH must "
            "name a file in a folder that exists, is writable and has space"
        )
