"""Whether a task has the network: a result of what was asked for and what the agent allows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Requested = Literal["auto", "on", "off"]
Control = Literal["open", "toggle", "write-only", "unknown"]
"""``open``: always there; ``toggle``: opened and closed by a flag; ``write-only``: a flag
opens it in write mode alone; ``unknown``: nobody but the agent knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkResult:
    """What becomes of the network of one task.

    Attributes:
        available: what ``task.json`` says; meaningless when refused.
        refused: the task cannot be given to this agent as asked.
        reason: why it is refused, or "".
        remedy: what to do about the refusal, or "".
        warning: what the caller should know although the task goes on, or "".
    """

    available: bool
    refused: bool = False
    reason: str = ""
    remedy: str = ""
    warning: str = ""


_RELAUNCH = (
    'delegate in write mode (with isolation "worktree" its changes stay on a branch of their '
    "own), or choose an agent whose network is always open"
)


def decide_network(
    requested: Requested,
    *,
    mode: Literal["read-only", "write"],
    control: Control,
    agent: str,
    sandboxed: bool = False,
) -> NetworkResult:
    """Lay what was asked for beside what the agent allows.

    Args:
        requested: ``auto`` takes what there is.
        mode: of the task.
        control: what the orchestrator can do about the agent's network.
        agent: id of the agent, for the words.
        sandboxed: a sandbox closes the network whatever the agent does.

    Source: OACP specification, "task.json", on ``network``.
    """
    cut_off = control == "write-only" and mode == "read-only"
    if requested == "off":
        if sandboxed or control in ("toggle", "write-only"):
            return NetworkResult(available=False)
        return NetworkResult(
            available=True,
            warning=f'the network was to be off, but nothing is known that closes it for "{agent}": '
            "the task runs with whatever network the agent has",
        )
    if cut_off and requested == "on":
        return NetworkResult(
            available=False,
            refused=True,
            reason=f'"{agent}" has the network in write mode only: its read-only sandbox '
            "cuts it off",
            remedy=_RELAUNCH,
        )
    if cut_off:
        return NetworkResult(
            available=False,
            warning=f'no network: "{agent}" has it in write mode only; to get it, {_RELAUNCH}',
        )
    if requested == "on" and control == "unknown":
        return NetworkResult(
            available=True,
            warning=f'the network was to be on, but nothing is known that opens it for "{agent}": '
            "declare network_args in its [[agent]] entry",
        )
    return NetworkResult(available=True)
