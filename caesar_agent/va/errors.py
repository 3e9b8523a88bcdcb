"""Errors of va-agent-protocol."""

from __future__ import annotations

from caesar_agent.errors import CaesarError
from caesar_agent.terminal import one_line


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
