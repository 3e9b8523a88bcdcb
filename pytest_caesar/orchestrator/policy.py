"""Who may be delegated to, and how deep; asked before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from caesar_agent.errors import CaesarError

_DEPTH: Final = re.compile(r"[0-9]{1,6}", re.ASCII)


class Policy(Protocol):
    """What is asked of a ``[policy]`` table."""

    @property
    def allowed(self) -> Sequence[str]:
        """Ids of the agents that may be delegated to; empty for every one."""

    @property
    def denied(self) -> Sequence[str]:
        """Ids of the agents that may not, whatever ``allowed`` says."""

    @property
    def max_depth(self) -> int:
        """Depth at which a delegation is refused."""


class DelegationRefused(CaesarError):  # noqa: N818 - a refusal is an answer, not a fault
    """The policy, or the depth around this process, forbids a delegation.

    Attributes:
        setting: what decides, such as ``[policy] denied``.
        reason: what was found and what was expected.
        remedy: what to do about it.
    """

    __module__ = "pytest_caesar"

    setting: str
    reason: str
    remedy: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return f"delegation refused by {self.setting}: {self.reason}; {self.remedy}"


def check_policy(policy: Policy, *, agent_id: str, depth: int) -> None:
    """Refuse what the policy forbids.

    Args:
        policy: the ``[policy]`` table.
        agent_id: id of the selected agent.
        depth: of the delegation that is asked for; 1 for the main agent's own.

    Raises:
        DelegationRefused: with the setting that decides and what to do.

    Source: OACP reference, "policy order".
    """
    if agent_id in policy.denied:
        raise DelegationRefused(
            setting="[policy] denied",
            reason=f"the agent {agent_id!r} is on the list",
            remedy="take it off the list, or choose another agent",
        )
    if policy.allowed and agent_id not in policy.allowed:
        raise DelegationRefused(
            setting="[policy] allowed",
            reason=f"the agent {agent_id!r} is not among {', '.join(policy.allowed)}",
            remedy="add it to the list, or choose one of these",
        )
    if depth >= policy.max_depth:
        raise DelegationRefused(
            setting="[policy] max_depth",
            reason=(
                f"this delegation would be of depth {depth}, "
                f"and from depth {policy.max_depth} on none is made"
            ),
            remedy="let the agent do the work itself, or write "
            f"`[policy]` with `max_depth = {depth + 1}` into .caesar/config.toml",
        )


def next_depth(environ: Mapping[str, str]) -> int:
    """Return the depth of a delegation made from a process with this environment.

    The main agent has depth 0, so the first delegated agent has 1, and one that
    an agent of depth n delegates to has n + 1.

    Raises:
        DelegationRefused: ``CAESAR_DEPTH`` is not a number of at most six digits.
    """
    text = environ.get("CAESAR_DEPTH", "").strip()
    if not text:
        return 1
    if not _DEPTH.fullmatch(text):
        raise DelegationRefused(
            setting="CAESAR_DEPTH",
            reason=f"the environment says {text[:40]!r} where a depth of 0 or more is expected",
            remedy="unset the variable, or set it to the depth of the agent that delegates",
        )
    return int(text) + 1
