"""``--caesar-hostile``: every delegation of a user's own tests in hostile surroundings."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.conformance.surroundings import Surroundings, reads_stdin, surround
from pytest_caesar.orchestrator.delegation import Delegation
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.request import RequestFields
from pytest_caesar.session.session import CaesarSession
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.workspace.repository import Repository

PLACE = "caesar ü 'q\" $x"
"""Folder that everything of a hostile test lies in."""

OPEN_FILES = 64
"""How many files an agent may have open."""

TOLD = (
    "caesar hostile: GIT_* pointing elsewhere, the C locale, stdin closed, "
    f"{OPEN_FILES} open files, odd paths"
)
"""Line at the head of the session."""


def install(session: CaesarSession) -> None:
    """Make every orchestrator of a session a hostile one."""
    session.header_lines.append(TOLD)
    session.orchestrator_type = HostileOrchestrator


class HostileOrchestrator(Orchestrator):
    """An orchestrator whose agents all run in hostile surroundings.

    A function of Python runs in a process of its own, since this one cannot be made hostile.

    Args:
        agent: as for ``Orchestrator``.
        tmp_path: where the foreign repository and the programs go.
        wishes: as for ``Orchestrator``.
    """

    def __init__(self, agent: AgentTarget | None = None, *, tmp_path: Path, **wishes: Any) -> None:
        super().__init__(agent, **wishes)
        self._folder = tmp_path / "caesar hostile"
        self._numbers = itertools.count(1)

    def _delegation(
        self,
        objective: str,
        agent: AgentTarget | str | Path | None,
        fields: RequestFields,
        cancelled: Cancellation,
    ) -> Delegation:
        delegation = super()._delegation(objective, agent, fields, cancelled)
        number = next(self._numbers)
        other = self._folder / "elsewhere"
        if number == 1:
            Repository.create(other).commit({"other.txt": "Not yours.\n"})
        target = delegation.agent
        surroundings = Surroundings(
            set={
                "LC_ALL": "C",
                "LANG": "C",
                "GIT_DIR": str(other / ".git"),
                "GIT_WORK_TREE": str(other),
                "GIT_INDEX_FILE": str(other / ".git" / "index"),
            },
            unset=("LANGUAGE", "TERM"),
            closed_stdin=not reads_stdin(target),
            open_files=OPEN_FILES,
        )
        hostile = surround(
            target, surroundings, folder=self._folder / f"{number:02d}", settings=self.settings
        )
        return replace(delegation, agent=hostile)
