"""What the report declares beside what was observed: changes and commands."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_caesar.runs.command_reconciliation import Command, CommandVerdict
from pytest_caesar.workspace.reconciliation import ReconciledPath, Reconciliation


@dataclass(frozen=True, slots=True, repr=False)
class RunReconciliation(Reconciliation):
    """Every path of either side with its verdict, in path order, and every command.

    Attributes:
        commands: in the order in which they ran, as far as that is known.
    """

    commands: tuple[Command, ...] = ()

    @property
    def changes(self) -> tuple[ReconciledPath, ...]:
        """The paths; the same as ``entries``."""
        return self.entries

    def commands_with(self, verdict: CommandVerdict) -> tuple[Command, ...]:
        """Return the commands of one verdict."""
        return tuple(command for command in self.commands if command.verdict == verdict)
