"""What differs between hosts; so far there is the system of the specification.

A profile holds facts only, so that another host is another value and not another check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pytest_caesar.agents.definitions import THINKING_LEVELS


@dataclass(frozen=True, slots=True, kw_only=True)
class HostProfile:
    """One host in one version.

    Attributes:
        name: as in messages.
        version: the state it describes.
        fields: keys that it reads, in camel case.
        neighbours: keys of other hosts, which it passes over and nobody misspelt.
        thinking_levels: exact spellings.
        foreign_tools: tools that only other hosts have, lower case, with the name here or
            "". Empty for the system of the specification: its set of tools is open, and
            its own agents use names such as ``glob``.
        max_depth: depth at which nobody delegates any more.
    """

    name: str
    version: str
    fields: frozenset[str]
    neighbours: frozenset[str]
    thinking_levels: tuple[str, ...]
    foreign_tools: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    max_depth: int = 2


SYSTEM = HostProfile(
    name="the system of the specification",
    version="1",
    fields=frozenset(
        {
            "name",
            "description",
            "tools",
            "spawns",
            "model",
            "thinkingLevel",
            "thinking",
            "output",
            "blocking",
        }
    ),
    neighbours=frozenset({"mode", "models", "color", "tags", "title", "outputs"}),
    thinking_levels=THINKING_LEVELS,
)
