"""Why there is no run."""

from __future__ import annotations

from caesar_agent.errors import CaesarError


class DelegationError(CaesarError):
    """A delegation that cannot be started as it was asked for; nothing was left behind.

    Attributes:
        problem: what was found, where, and what to do.
    """

    __module__ = "pytest_caesar"

    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return self.problem
