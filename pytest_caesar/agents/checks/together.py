"""Checks on all definitions of a folder or a discovery together."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from pytest_caesar.agents.bundled_agents import load_bundled_agents
from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.definition import check_definition
from pytest_caesar.agents.checks.delegation import check_delegation
from pytest_caesar.agents.checks.profiles import SYSTEM, HostProfile
from pytest_caesar.agents.checks.source import SourceFile, read_source
from pytest_caesar.agents.definitions import (
    AgentDefinition,
    AgentParsingError,
    agent_of_front_matter,
)
from pytest_caesar.agents.discovery import FAMILIES
from pytest_caesar.agents.errors import shown

_FAMILY = re.compile(rf"(?:^|/)(?:{'|'.join(re.escape(family) for family in FAMILIES)})/agents/")
_NESTED = re.compile(_FAMILY.pattern + "[^/]+/")
_NO_DEFINITION = frozenset({"no-block", "template"})


def check_files(
    files: Mapping[str, bytes], *, profile: HostProfile = SYSTEM, entry: str = "*"
) -> dict[str, tuple[Complaint, ...]]:
    """Check definitions one by one and together.

    Args:
        files: path to bytes, in order of precedence: of two files that declare the same
            name the first wins.
        profile: the host whose behaviour counts.
        entry: policy of the main session, see ``check_delegation``.

    Returns:
        Complaints for each file, in its order; a file without complaints has none.
    """
    together = check_together(
        [read_source(data, path=path) for path, data in files.items()],
        profile=profile,
        entry=entry,
    )
    alone = {
        path: check_definition(data, path=path, profile=profile) for path, data in files.items()
    }
    meant = {
        posixpath.dirname(path)
        for path, complaints in alone.items()
        if _FAMILY.search(path) or not any(c.code in _NO_DEFINITION for c in complaints)
    }
    return {
        path: (
            *(_in_place(complaint, meant) for complaint in complaints),
            *(complaint for complaint in together if complaint.path == path),
        )
        for path, complaints in alone.items()
    }


def _in_place(complaint: Complaint, meant: Container[str]) -> Complaint:
    """Let pages be where no file is a definition: the folder is not one of definitions."""
    if complaint.code in _NO_DEFINITION and posixpath.dirname(complaint.path) not in meant:
        return replace(complaint, severity="note")
    return complaint


def check_together(
    sources: Iterable[SourceFile], *, profile: HostProfile = SYSTEM, entry: str = "*"
) -> tuple[Complaint, ...]:
    """Return what is wrong between definitions: names that collide, and whom they start."""
    found: list[tuple[AgentDefinition, SourceFile]] = []
    for source in sources:
        with suppress(AgentParsingError):
            found.append((agent_of_front_matter(source.front, location=source.path), source))
    bundled = load_bundled_agents()
    names = {agent.name for agent, _ in found}
    winners: dict[str, AgentDefinition] = {}
    for agent, _ in found:
        winners.setdefault(agent.name, agent)
    everybody = [*winners.values(), *(agent for agent in bundled if agent.name not in names)]
    lines = {source.path: source.line_of("spawns") for _, source in found}
    # What the host never reads takes nobody's name.
    read = [pair for pair in found if not _NESTED.search(pair[1].path)]
    return (
        *_collisions(read),
        *_built_in(read, {agent.name for agent in bundled}),
        *_nested(found),
        *(
            complaint
            for complaint in check_delegation(
                everybody, lines=lines, entry=entry, max_depth=profile.max_depth
            )
            if complaint.path in lines
        ),
    )


def _collisions(found: Sequence[tuple[AgentDefinition, SourceFile]]) -> Iterator[Complaint]:
    first: dict[str, str] = {}
    for agent, source in found:
        winner = first.setdefault(agent.name, source.path)
        if winner == source.path:
            continue
        same_folder = posixpath.dirname(winner) == posixpath.dirname(source.path)
        yield Complaint(
            code="name-taken",
            # Between folders it is how one overrides the other.
            severity="error" if same_folder else "note",
            path=source.path,
            line=source.line_of("name"),
            field="name",
            found=f"the name {shown(agent.name)} is taken by {winner}",
            effect="the first file wins, and this one is left out without a word",
            mend="give it a name of its own, or remove it",
        )


def _built_in(
    found: Sequence[tuple[AgentDefinition, SourceFile]], bundled: set[str]
) -> Iterator[Complaint]:
    for agent, source in found:
        if agent.name in bundled:
            yield Complaint(
                code="replaces-bundled",
                severity="note",
                path=source.path,
                line=source.line_of("name"),
                field="name",
                found=f"{shown(agent.name)} is also a bundled agent",
                effect="this file takes its place everywhere, also where others rely on it",
                mend="nothing, if that is meant",
            )


def _nested(found: Sequence[tuple[AgentDefinition, SourceFile]]) -> Iterator[Complaint]:
    for _, source in found:
        if _NESTED.search(source.path):
            yield Complaint(
                code="nested-folder",
                severity="note",
                path=source.path,
                found="the file lies in a folder below agents/",
                effect="it reads agents/*.md alone, so this file is never seen (other hosts look "
                "into folders too)",
                mend="move the file up into agents/",
            )
