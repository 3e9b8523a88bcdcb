"""Errors of va-agent-protocol."""

from __future__ import annotations

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError


class IllegalTransitionError(CaesarError):
    """A task cannot go from one state to another.

    Attributes:
        task_id: the task.
        from_state: the state it is in.
        to_state: the state that was asked for.
        allowed: the states that it may go to; empty for a final state.
    """

    task_id: str
    from_state: str
    to_state: str
    allowed: tuple[str, ...]

    def message(self) -> str:
        """Name both states, and what would be allowed."""
        rest = (
            f"allowed from there: {', '.join(self.allowed)}"
            if self.allowed
            else f"{self.from_state} is final"
        )
        return (
            f"task {one_line(self.task_id, limit=60)!r} cannot go from {self.from_state} to "
            f"{one_line(self.to_state, limit=60)}: {rest}"
        )


class TaskGraphError(CaesarError):
    """A list of task units cannot be worked through as it stands.

    Attributes:
        task_id: the unit that is wrong.
        problem: what is wrong with it, and what was expected.
        cycle: ids of a cycle, the first once more at the end; empty where there is none.
    """

    task_id: str
    problem: str
    cycle: tuple[str, ...] = ()

    def message(self) -> str:
        """Name the unit and the problem."""
        return f"task {one_line(self.task_id, limit=60)!r}: {self.problem}"


class UnresolvedInputError(CaesarError):
    """An input refers to an output that the other task did not hand over.

    Attributes:
        task_id: the unit that needs it.
        name: of the input.
        from_task: the unit that was to hand it over.
        output_key: what it was to hand over.
        found: the keys that it did hand over.
    """

    task_id: str
    name: str
    from_task: str
    output_key: str
    found: tuple[str, ...]

    def message(self) -> str:
        """Name the input, what it refers to, and what there is."""
        keys = ", ".join(one_line(key, limit=40) for key in self.found[:10])
        return (
            f"task {one_line(self.task_id, limit=60)!r}: the input {one_line(self.name, limit=60)!r} "
            f"is the output {one_line(self.output_key, limit=60)!r} of "
            f"{one_line(self.from_task, limit=60)!r}, which handed over {keys or 'nothing'}"
        )
