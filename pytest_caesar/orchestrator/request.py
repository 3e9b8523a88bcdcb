"""What a delegation asks for: the arguments of ``delegate``, and the request that is made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast, get_args

from caesar_agent.documents.task import Task
from pytest_caesar.agents.durations import MAX_DEADLINE_MS
from pytest_caesar.agents.errors import near_miss
from pytest_caesar.gates.criteria import command_of
from pytest_caesar.runs.errors import DelegationError

if TYPE_CHECKING:
    from pytest_caesar.gates.gates import Gate, GateLike

DEFAULT_TIMEOUT = 600.0
"""Seconds an agent has when nobody says otherwise. Source: the reference, ``default_timeout``."""

Mode = Literal["read-only", "write"]
RequestedIsolation = Literal["auto", "worktree", "inplace"]
RequestedNetwork = Literal["auto", "on", "off"]


class RequestFields(TypedDict, total=False):
    """What ``delegate`` takes beside the objective and the agent; None is as good as absent.

    Each field is described there.
    """

    context: str
    constraints: Iterable[str]
    acceptance_criteria: Iterable[str]
    mode: Mode | None
    isolation: RequestedIsolation | None
    timeout: float | None
    role: str | None
    model: str | None
    network: RequestedNetwork | None
    channel: bool | None
    workspace: Path | str | None
    base_ref: str | None
    placed: Iterable[str]
    depth: int | None
    gates: Iterable[GateLike]
    promised: Iterable[str]
    task_fields: Mapping[str, Any] | None
    sandbox: str | None


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
        sandbox: ``none``, ``auto``, or the name of one.
    """

    objective: str
    context: str = ""
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    mode: Mode = "write"
    isolation: RequestedIsolation = "auto"
    timeout: float = DEFAULT_TIMEOUT
    role: str | None = None
    model: str | None = None
    network: RequestedNetwork = "auto"
    channel: bool = False
    workspace: Path | None = None
    base_ref: str | None = None
    placed: tuple[str, ...] = ()
    depth: int | None = None
    gates: tuple[Gate, ...] = ()
    promised: tuple[str, ...] = ()
    task_fields: Mapping[str, Any] = field(default_factory=dict)
    sandbox: str = "none"

    @classmethod
    def of(cls, objective: str, given: RequestFields, defaults: Mapping[str, Any]) -> Request:
        """Bring what a caller gives into one shape.

        Args:
            objective: what the agent is to do.
            given: as the caller gave it; a list where one is expected may be any iterable.
            defaults: values of fields that nobody gave.

        Raises:
            TypeError: there is no field of that name.
            DelegationError: a value cannot be delegated; says which, and what is expected.
        """
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                hint = near_miss(name, known)
                raise TypeError(f"delegate() got an unexpected keyword argument {name!r}{hint}")
        values: dict[str, Any] = {
            **defaults,
            **{name: value for name, value in given.items() if value is not None},
        }
        if "workspace" in values:
            values["workspace"] = Path(values["workspace"]).absolute()
            if given.get("isolation") is None:
                values["isolation"] = "auto"  # it is there already
        for name in ("constraints", "acceptance_criteria", "placed", "promised"):
            values[name] = _sentences(values.get(name, ()))
        gates = values.pop("gates", ())
        request = cls(objective=objective, **values)
        request.check()
        return replace(request, gates=_gates(gates, request.acceptance_criteria))

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
        _one_of("isolation", self.isolation, get_args(RequestedIsolation))
        _one_of("network", self.network, get_args(RequestedNetwork))
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


def _gates(gates: Iterable[GateLike], criteria: tuple[str, ...]) -> tuple[Gate, ...]:
    """Return the gates that were given, and those that the criteria are."""
    given = gates if isinstance(gates, str) else tuple(gates)
    if not given and not any(map(command_of, criteria)):
        return ()
    from pytest_caesar.gates.gates import as_gates, criteria_gates  # noqa: PLC0415 - seldom needed

    made = as_gates(given)
    return as_gates((*made, *criteria_gates(criteria, gates=made)))


def _sentences(values: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple; a lone string stays one, for ``Request.check`` to refuse."""
    return cast("tuple[str, ...]", values) if isinstance(values, str) else tuple(values)


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
