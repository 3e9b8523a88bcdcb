"""What a sandbox must hold, each by the name under which it is proved and told."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

INVARIANTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "outside": "nothing is written outside the workspace, the task directory, HOME and /tmp",
        "project": "the project's own checkout is not written",
        "hooks": "no git hook and no git configuration is written",
        "objects": "the repository's objects and refs are neither changed nor removed",
        "hidden": "hidden files are not read",
        "remount": "nothing is mounted, and nothing mounted otherwise",
        "namespaces": "no further user namespace is made",
        "privileges": "no privilege is there or can be gained",
        "processes": "no other process is seen",
        "signals": "no process outside is signalled",
        "ipv4": "the network is not reached over IPv4, nor is the loopback outside",
        "ipv6": "the network is not reached over IPv6, nor is the loopback outside",
        "dns": "no name server is reached",
        "abstract-sockets": "no abstract socket outside is reached",
    }
)
"""Every invariant, with what it says."""

OF_NETWORK: Final = frozenset({"ipv4", "ipv6", "dns", "abstract-sockets"})
"""Those that hold only while a task has no network."""


def closes_network(held: Collection[str]) -> bool:
    """Tell whether a sandbox keeps the network from a task that has none."""
    return OF_NETWORK.issubset(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxUse:
    """The sandbox that a run was made in, as it was proved on this machine.

    Attributes:
        name, version: of the sandbox.
        held: names of the invariants that were tried and held.
        limits: what was bounded, such as ``max_memory``; names of the settings.
    """

    name: str
    version: str
    held: tuple[str, ...]
    limits: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"
