"""The requirements of the kit; the table beside this module, ``requirements.md``, holds them.

An id is never used again: what is withdrawn moves to ``RETIRED``. A test compares the table
with the checks and with the documentation, both ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Level = Literal["minimal", "narrated", "dialogue", "robust"]
Kind = Literal["mandatory", "conditional", "advisory"]

LEVELS: dict[str, str] = {
    "minimal": "the two variables: a task is read, a report is handed in, and it is true",
    "narrated": "events: the work can be watched",
    "dialogue": "the return channel: the agent asks, and goes on",
    "robust": "deadlines, signals and hostile surroundings",
}
"""Levels in rising order, with what they are about."""

TITLES: dict[str, str] = {"oacp": "OACP v1", "va": "va-agent-protocol 0.1.0"}
"""The contracts that the kit knows, with the names that people read."""

VA_AREA = "UNIT"
"""The area of the requirements of va-agent-protocol; all others are of OACP."""

GATES: dict[str, str] = {
    "minimal": "REPORT-002",
    "narrated": "EVENTS-001",
    "dialogue": "QUESTIONS-001",
    "robust": "PROCESS-004",
}
VA_GATES: dict[str, str] = {
    "minimal": "UNIT-001",
    "narrated": "UNIT-009",
    "dialogue": "UNIT-011",
    "robust": "UNIT-012",
}
"""What must have passed for a level to be reached at all, beside that nothing of it failed."""

AREAS: dict[str, str] = {
    "TASK": "reading the task",
    "REPORT": "the report",
    "CHANGES": "what the agent changes, and what it says of it",
    "EVENTS": "telling events",
    "QUESTIONS": "asking over the return channel",
    "PROCESS": "beginning and end of the process",
    "SURROUNDINGS": "where and beside what it runs",
    "DEPTH": "depth of delegation",
}
"""Areas, in the order in which they are shown."""

RETIRED: frozenset[str] = frozenset()
"""Ids of requirements that were withdrawn; none of them may be used again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that the contract, or good sense where it is silent, asks of an agent.

    Attributes:
        id: ``AREA-NNN``.
        level: where it belongs.
        kind: ``conditional`` applies with a capability; ``advisory`` never fails, because the
            specification is silent.
        capability: what has to be claimed, or seen, for it to apply; "" otherwise.
        text: what the agent does, in one sentence.
        clause: the passage of the specification it comes from, or why it is asked for.
    """

    id: str
    level: Level
    kind: Kind
    capability: str
    text: str
    clause: str

    @property
    def contract(self) -> str:
        """The contract that asks for it, as in ``TITLES``."""
        return "va" if self.area == VA_AREA else "oacp"

    @property
    def area(self) -> str:
        """The first half of the id."""
        return self.id.partition("-")[0]


_ROW = re.compile(r"\| ([A-Z]+-\d{3}) \| (\w+) \| (\w+)(?: \((\w+)\))? \| (.+) \| (.+) \|")


def _read_table() -> dict[str, Requirement]:
    """Read the table.

    Raises:
        ValueError: an id stands in it twice.
    """
    text = Path(__file__).with_suffix(".md").read_text(encoding="utf-8")
    found: dict[str, Requirement] = {}
    for name, level, kind, capability, what, clause in _ROW.findall(text):
        if name in found:
            raise ValueError(f"requirements.md holds {name} twice")
        found[name] = Requirement(
            id=name,
            level=cast("Level", level),
            kind=cast("Kind", kind),
            capability=capability,
            text=what,
            clause=clause,
        )
    return found


EVERY: dict[str, Requirement] = _read_table()
"""Every requirement by id, in the order in which they are shown."""


def of_contract(contract: str) -> dict[str, Requirement]:
    """Return the requirements of one contract by id."""
    return {name: one for name, one in EVERY.items() if one.contract == contract}


REQUIREMENTS: dict[str, Requirement] = of_contract("oacp")
"""Those of OACP."""

VA_REQUIREMENTS: dict[str, Requirement] = of_contract("va")
"""Those of va-agent-protocol."""
