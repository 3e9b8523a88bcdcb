"""What the SDK refuses, one class for each thing that its user does differently."""

from __future__ import annotations

from caesar_agent.errors import CaesarError


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
