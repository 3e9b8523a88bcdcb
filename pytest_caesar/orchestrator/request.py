"""What a delegation asks for, checked before anything is written."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from caesar_agent.documents.task import Task
from caesar_agent.errors import CaesarError
from pytest_caesar.agents.durations import MAX_DEADLINE_MS

if TYPE_CHECKING:
    from pytest_caesar.gates.gates import Gate

DEFAULT_TIMEOUT = 600.0
"""Seconds an agent has when nobody says otherwise. Source: the reference, ``default_timeout``."""

Mode = Literal["read-only", "write"]
IsolationWish = Literal["auto", "worktree", "inplace"]
NetworkWish = Literal["auto", "on", "off"]


class DelegationError(CaesarError):
    """A delegation that cannot be started as it was asked for; nothing was left behind.

    Attributes:
        problem: what was found, where, and what to do.
    """

    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return self.problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One delegation as the caller asks for it.

    Attributes:
        objective: what the agent is to do, not blank.
        context: excerpts, history, links.
        constraints, acceptance_criteria: one sentence each.
        mode: ``read-only`` or ``write``.
        isolation: ``auto`` lets the rules decide.
        timeout: seconds until the agent is ended, above zero.
        role, model: handed to the agent, where it knows them.
        network: what is wished; what is granted stands in the task.
        channel: open the return channel.
        workspace: a prepared workspace to adopt, or None.
        base_ref: with ``workspace``: the commit it started from, "" for the empty tree.
        placed: with ``workspace``: paths in it that are not the agent's work.
        depth: delegation depth of the agent, or None to count it from the environment.
        gates: asked of the tree once the agent is gone, in this order.
        promised: keys that ``outputs`` of a report of success must have.
        task_fields: written into ``task.json`` beside the fields of the contract.
    """

    objective: str
    context: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    mode: Mode = "write"
    isolation: IsolationWish = "auto"
    timeout: float = DEFAULT_TIMEOUT
    role: str | None = None
    model: str | None = None
    network: NetworkWish = "auto"
    channel: bool = False
    workspace: Path | None = None
    base_ref: str | None = None
    placed: tuple[str, ...] = ()
    depth: int | None = None
    gates: tuple[Gate, ...] = ()
    promised: tuple[str, ...] = ()
    task_fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def deadline_ms(self) -> int:
        """The timeout in whole milliseconds, at least one."""
        return max(1, round(self.timeout * 1000))

    def check(self) -> None:
        """Refuse what cannot be delegated.

        Raises:
            DelegationError: naming the field, what was found, and what is expected.
        """
        if not isinstance(self.objective, str) or not self.objective.strip():
            raise DelegationError(
                problem="the objective is empty: say in a sentence what the agent is to do"
            )
        _one_of("mode", self.mode, get_args(Mode))
        _one_of("isolation", self.isolation, get_args(IsolationWish))
        _one_of("network", self.network, get_args(NetworkWish))
        _texts("constraints", self.constraints)
        _texts("acceptance_criteria", self.acceptance_criteria)
        _texts("promised", self.promised)
        taken = sorted(set(self.task_fields) & set(Task.model_fields))
        if taken:
            raise DelegationError(
                problem=f"task_fields has {', '.join(taken)}, which the contract defines: "
                "give fields of your own"
            )
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float)):
            raise DelegationError(
                problem=f"the timeout is {self.timeout!r}: expected seconds, as a number"
            )
        if math.isnan(self.timeout) or self.timeout <= 0:
            raise DelegationError(
                problem=f"the timeout is {self.timeout:g} s: an agent needs more than zero seconds"
            )
        if self.timeout * 1000 > MAX_DEADLINE_MS:
            raise DelegationError(
                problem=f"the timeout is {self.timeout:.12g} s: deadline_ms may be at most "
                f"{MAX_DEADLINE_MS} (some 24 days), since timers overflow beyond it"
            )
        if self.depth is not None and self.depth < 0:
            raise DelegationError(
                problem=f"the depth is {self.depth}: 0 is the main agent, "
                "1 the first that is delegated to"
            )
        if self.workspace is None and (self.base_ref is not None or self.placed):
            raise DelegationError(
                problem="base_ref and placed describe a prepared workspace: give workspace= too"
            )


def _one_of(field: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise DelegationError(problem=f"{field} is {value!r}: expected one of {', '.join(allowed)}")


def _texts(field: str, values: object) -> None:
    if isinstance(values, str) or not all(isinstance(item, str) for item in values):  # type: ignore[attr-defined]
        raise DelegationError(
            problem=f"{field} is {values!r}: expected a list of sentences, each a string"
        )


_SAFE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


def check_task_id(task_id: str) -> str:
    """Return a task id that is safe as a file name, or refuse it by name."""
    if not _SAFE_ID.fullmatch(task_id) or ".." in task_id:
        raise DelegationError(
            problem=f"the task id {task_id!r} is not safe as a file name: expected letters, "
            "digits, '_', '-' and single '.', up to 128 of them"
        )
    return task_id
