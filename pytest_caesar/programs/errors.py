"""What a test asks of programs that cannot be."""

from __future__ import annotations

from caesar_agent.errors import CaesarError


class ProgramError(CaesarError, ValueError):
    """A program cannot be faked or watched as asked.

    Attributes:
        name: of the program.
        problem: what is wrong, and what to do.
    """

    name: str
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return f"caesar_programs: {self.name!r:.80}: {self.problem}"
