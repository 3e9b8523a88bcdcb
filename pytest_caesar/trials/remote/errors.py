"""Why trials cannot be sent, or a node cannot carry them out."""

from __future__ import annotations

from caesar_agent.errors import CaesarError


class CannotBeSentError(CaesarError):
    """Something of a trial means nothing on another machine.

    Attributes:
        problem: what it is.
        remedy: what to do instead.
    """

    problem: str
    remedy: str

    def message(self) -> str:
        """Say what cannot be sent, and what to do."""
        return f"this trial cannot be sent to another machine: {self.problem}; {self.remedy}"


class NodeError(CaesarError):
    """A node lacks what a trial needs.

    Attributes:
        node: its name.
        problem: what is missing there.
        remedy: what to do about it.
    """

    node: str
    problem: str
    remedy: str

    def message(self) -> str:
        """Name the node, what it lacks, and what to do."""
        return f"node {self.node}: {self.problem}; {self.remedy}"


class WorkersDiedError(CaesarError):
    """A trial was tried on several workers, and each of them died.

    Attributes:
        attempts: how often it was tried.
        last: what the executor said of the last one.
    """

    attempts: int
    last: str

    def message(self) -> str:
        """Say how often it was tried, and what was said last."""
        return f"the worker died in each of {self.attempts} attempts: {self.last}"
