"""What became of task units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from caesar_agent.console import one_line
from caesar_agent.va.evidence import Evidence
from caesar_agent.va.lifecycle import TaskLifecycle, TaskState
from caesar_agent.va.task_unit import TaskUnit
from pytest_caesar.va.conversation import Messages

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What became of one task unit.

    Attributes:
        unit: as it was last dispatched: references resolved, pitfalls added. As it was
            given when it never was.
        evidence: of the last attempt; ``blocked`` by a dependency when there was none.
        lifecycle: the attempts, each an execution.
        runs: one for each attempt, in order; empty when it was never dispatched.
        messages: what was said, in order, all attempts together.
    """

    unit: TaskUnit
    evidence: Evidence
    lifecycle: TaskLifecycle
    runs: tuple[Run, ...] = ()
    messages: Messages = field(default=Messages(), repr=False)

    @property
    def completed(self) -> bool:
        """The evidence says so."""
        return self.evidence.status == "completed"

    @property
    def state(self) -> TaskState:
        """Where the task stands."""
        return self.lifecycle.state

    @property
    def run(self) -> Run:
        """The run of the last attempt.

        Raises:
            LookupError: the unit was never dispatched; ``evidence`` says why.
        """
        if not self.runs:
            raise LookupError(f"{self.unit.id} was never dispatched: {_why(self.evidence)}")
        return self.runs[-1]

    def __repr__(self) -> str:
        attempts = len(self.runs)
        return (
            f"<Dispatched {one_line(self.unit.id, limit=60)}: {self.evidence.status}, {attempts} "
            f"attempt{'' if attempts == 1 else 's'}{_why(self.evidence, before=', ')}>"
        )


@dataclass(frozen=True, slots=True)
class DispatchedUnits:
    """What became of several task units; ``units["id"]`` is one of them.

    Attributes:
        order: ids in the order of dispatch; what was never dispatched stands last.
        by_id: each of them.
    """

    order: tuple[str, ...]
    by_id: Mapping[str, Dispatched]

    @property
    def completed(self) -> bool:
        """All of them are."""
        return all(unit.completed for unit in self)

    @property
    def evidence(self) -> dict[str, Evidence]:
        """The evidence of each, by id."""
        return {unit.unit.id: unit.evidence for unit in self}

    @property
    def messages(self) -> Messages:
        """What was said about all of them, in order."""
        return Messages(message for unit in self for message in unit.messages)

    def __getitem__(self, task_id: str) -> Dispatched:
        return self.by_id[task_id]

    def __iter__(self) -> Iterator[Dispatched]:
        return (self.by_id[task_id] for task_id in self.order)

    def __len__(self) -> int:
        return len(self.order)


def _why(evidence: Evidence, *, before: str = "") -> str:
    if evidence.failure_detail:
        return before + one_line(evidence.failure_detail.hypothesis)
    return before + one_line(evidence.block_reason.description) if evidence.block_reason else ""
