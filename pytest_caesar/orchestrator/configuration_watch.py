"""Whether an agent changed what decides about the next delegation; told, never acted on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.config import MAX_CONFIG_BYTES, project_files
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.state_before import read_plain_file


@dataclass(frozen=True, slots=True)
class ConfigurationWatch:
    """The configuration of a project as it stood before an agent."""

    contents: Mapping[Path, bytes | str | None]

    @classmethod
    def begin(cls, project: Path) -> ConfigurationWatch:
        """Remember the files of a project, also those that are not there."""
        return cls({file: _content(file) for file in project_files(project.resolve())})

    def findings(self, changes: frozenset[Path]) -> tuple[Diagnostic, ...]:
        """Name the files that are different now.

        Args:
            changes: files that git shows as changed, which are told already.
        """
        return tuple(
            Diagnostic(
                code="configuration-changed",
                message=f"While the agent worked, {shown(str(file))} changed. Its agents, its "
                "policy and its setup commands hold for the next delegation: look at it before.",
                path=str(file),
            )
            for file, before in self.contents.items()
            if file not in changes and _content(file) != before
        )


def _content(file: Path) -> bytes | str | None:
    content = read_plain_file(file, MAX_CONFIG_BYTES + 1)
    if content is not None:
        return content
    try:
        return os.readlink(file)  # noqa: PTH115 - as it is written, not where it leads
    except OSError:
        return None
