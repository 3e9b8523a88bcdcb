"""Workflow commands: found beside agents, in the same manner, and independent of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.discovery import FAMILIES, read_definition
from pytest_caesar.agents.front_matter import parse_front_matter

_SUFFIX = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowCommand:
    """A prompt that is called by name.

    Attributes:
        name: stem of its file.
        description: from its front matter, or "".
        instructions: its body.
        source: who it belongs to.
        file_path: the file, or ``embedded:NAME.md``.
    """

    name: str
    description: str
    instructions: str
    source: Literal["bundled", "user", "project"]
    file_path: str


def discover_commands(
    cwd: Path, home: Path | None, *, bundled: Iterable[WorkflowCommand] = ()
) -> tuple[tuple[WorkflowCommand, ...], tuple[Diagnostic, ...]]:
    """Find every workflow command.

    Args:
        cwd: the project's folder; ``<family>/commands`` in it counts.
        home: ``<family>/commands`` in it counts too; None leaves it out.
        bundled: added last, where the name is not taken.

    Returns:
        Commands, the first of each exact name; and what could not be read.
    """
    folders: list[tuple[Path, Literal["user", "project"]]] = []
    for family in FAMILIES:
        folders.append((cwd / family / "commands", "project"))
        if home is not None:
            folders.append((home / family / "commands", "user"))
    seen: dict[str, WorkflowCommand] = {}
    findings: list[Diagnostic] = []
    for folder, source in folders:
        for file in _files(folder):
            try:
                front = parse_front_matter(read_definition(file))
            except OSError as error:
                reason = error.strerror or str(error)
                findings.append(
                    Diagnostic(
                        code="definition-skipped",
                        message=f"Failed to read command file: {reason}",
                        path=str(file),
                    )
                )
                continue
            description = front.fields.get("description")
            command = WorkflowCommand(
                name=file.name.removesuffix(_SUFFIX),
                description=description if isinstance(description, str) else "",
                instructions=front.body,
                source=source,
                file_path=str(file),
            )
            seen.setdefault(command.name, command)
    for command in bundled:
        seen.setdefault(command.name, command)
    return tuple(seen.values()), tuple(findings)


def get_command(commands: Iterable[WorkflowCommand], name: str) -> WorkflowCommand | None:
    """Return the command of exactly that name."""
    return next((command for command in commands if command.name == name), None)


def _files(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if entry.name.endswith(_SUFFIX) and not entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []
    return [folder / name for name in names]
