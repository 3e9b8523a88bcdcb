"""Find agent definitions: families, the project before the user, plugins, bundled ones last."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.bundled_agents import load_bundled_agents
from pytest_caesar.agents.definitions import (
    AgentDefinition,
    AgentParsingError,
    Source,
    agent_of_front_matter,
)
from pytest_caesar.agents.fallback import fallback_damage
from pytest_caesar.agents.front_matter import FrontMatter, parse_front_matter
from pytest_caesar.agents.paths import current_folder
from pytest_caesar.agents.plugins import PluginRoot, list_plugin_roots, plugin_registry
from pytest_caesar.files.reading import read_regular

FAMILIES = (".xcsh", ".claude", ".codex", ".gemini")
"""Highest first."""
MAX_DEFINITION_BYTES = 4 << 20
"""No prompt is this long; a larger file is skipped with a finding, not read into memory."""
_USER_FOLDERS = {".xcsh": ".xcsh/agent/agents"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFolder:
    """One folder that is looked through.

    Attributes:
        path: absolute.
        source: who its agents belong to.
        family: ``.claude`` and so on; "" for plugins.
        plugin: ``name@marketplace``, or "".
    """

    path: Path
    source: Source
    family: str = ""
    plugin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One definition with where it came from.

    Attributes:
        agent: the definition.
        folder: the folder it was found in, or None for a bundled one.
        front: its front matter, or None for a bundled one.
    """

    agent: AgentDefinition
    folder: AgentFolder | None = None
    front: FrontMatter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """All that was found.

    Attributes:
        agents: those that can be selected, in order of precedence.
        shadowed: each loser with the name of its winner's file, in the same order.
        project_agents_dir: project folder of the highest family that has one, or None.
        folders: every folder that exists, in order.
        diagnostics: what was skipped, damaged or surprising.
    """

    agents: tuple[Found, ...]
    shadowed: tuple[tuple[Found, Found], ...] = ()
    project_agents_dir: Path | None = None
    folders: tuple[AgentFolder, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def get(self, name: str) -> Found | None:
        """Return the agent of exactly that name."""
        return next((found for found in self.agents if found.agent.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that can be selected, in order."""
        return tuple(found.agent.name for found in self.agents)


MAX_BELOW = 200
"""Folders below one of definitions, and entries of each, that are looked at."""


def discover_agents(
    cwd: Path,
    home: Path | None,
    *,
    stop_at: Path | None = None,
    config_dir: str | None = None,
) -> Discovery:
    """Find every agent definition that counts in a folder.

    Args:
        cwd: where the search for project folders starts, absolute; it walks up, for each
            family on its own, to the nearest folder that has one.
        home: whose user folders and plugins count; None leaves both out.
        stop_at: last folder of the walk upwards; None walks to the root, as the system does.
        config_dir: replaces ``.xcsh`` in the path of the user's folder (``PI_CONFIG_DIR``).

    Returns:
        Winners, losers and findings. Nothing is cached: each call reads the files anew.

    Raises:
        FrontMatterError, AgentParsingError: a bundled agent is broken.
    """
    folders, project_dir, findings = _folders(cwd, home, stop_at, config_dir)
    seen: dict[str, Found] = {}
    shadowed: list[tuple[Found, Found]] = []
    existing: list[AgentFolder] = []
    for folder in folders:
        loaded, problems, exists = load_folder(folder)
        findings += problems
        if exists:
            existing.append(folder)
        for found in loaded:
            winner = seen.setdefault(found.agent.name, found)
            # The project's folder may be the user's own, met a second time.
            if winner is not found and winner.agent.file_path != found.agent.file_path:
                shadowed.append((found, winner))
    for agent in load_bundled_agents():
        found = Found(agent=agent)
        winner = seen.setdefault(agent.name, found)
        if winner is not found:
            shadowed.append((found, winner))
    return Discovery(
        agents=tuple(seen.values()),
        shadowed=tuple(shadowed),
        project_agents_dir=project_dir,
        folders=tuple(existing),
        diagnostics=tuple(findings),
    )


def _folders(
    cwd: Path, home: Path | None, stop_at: Path | None, config_dir: str | None
) -> tuple[list[AgentFolder], Path | None, list[Diagnostic]]:
    folders: list[AgentFolder] = []
    findings: list[Diagnostic] = []
    project_dir: Path | None = None
    for family in FAMILIES:
        nearest = _nearest(cwd, family, stop_at)
        if nearest is not None:
            project_dir = project_dir or nearest
            folders.append(AgentFolder(path=nearest, source="project", family=family))
            if home is not None and _is_at_or_above(nearest.parent.parent, home):
                findings.append(
                    Diagnostic(
                        code="definition-folder-above-home",
                        message=f"{nearest} counts as the project's, because no nearer folder "
                        f"has {family}/agents",
                        path=str(nearest),
                    )
                )
        if home is not None:
            user = _USER_FOLDERS.get(family, f"{family}/agents")
            if family == ".xcsh" and config_dir:
                user = f"{config_dir}/agent/agents"
            folders.append(AgentFolder(path=home / user, source="user", family=family))
    if home is not None:
        roots, problems = list_plugin_roots(home)
        findings += problems
        findings += _plugin_findings(roots, cwd, plugin_registry(home))
        folders += [
            AgentFolder(
                path=current_folder() / root.path / "agents",
                source=root.source,
                plugin=f"{root.plugin}@{root.marketplace}",
            )
            for root in roots
        ]
    return folders, project_dir, findings


def _plugin_findings(
    roots: Sequence[PluginRoot], cwd: Path, registry: Path
) -> Iterator[Diagnostic]:
    """Tell of plugins whose agents are missing, or count where nobody would expect them."""
    for root in roots:
        name = f"{root.plugin}@{root.marketplace}"
        project = root.project_path
        if not os.path.isdir(current_folder() / root.path):  # noqa: PTH112  (unlike Path, it never raises)
            problem = f"Plugin {name} is registered at {root.path}, and there is no such folder"
        elif project and Path(project) not in (cwd, *cwd.parents):
            problem = (
                f"Plugin {name} was installed for {project}, and its agents count here too: "
                "the project of an installation is not looked at"
            )
        else:
            continue
        yield Diagnostic(code="plugin-registry", message=printable(problem), path=str(registry))


def _nearest(cwd: Path, family: str, stop_at: Path | None) -> Path | None:
    for folder in (cwd, *cwd.parents):
        candidate = folder / family / "agents"
        if os.path.isdir(candidate):  # noqa: PTH112  (unlike Path, it never raises)
            return candidate
        if folder == stop_at:
            return None
    return None


def _is_at_or_above(folder: Path, home: Path) -> bool:
    return folder == home or folder in home.parents


def load_folder(folder: AgentFolder) -> tuple[list[Found], list[Diagnostic], bool]:
    """Read the definitions of one folder.

    Returns:
        Definitions in code-point order of their file names; findings; whether the folder
        could be read. Only files and links named ``*.md`` count, and no folders below.
    """
    try:
        with os.scandir(folder.path) as entries:
            listed = list(entries)
    except OSError:
        return [], [], False
    below = sorted(entry.path for entry in listed if entry.is_dir(follow_symlinks=False))
    names = sorted(
        entry.name for entry in listed if entry.name.endswith(".md") and entry.path not in below
    )
    loaded: list[Found] = []
    findings = _below(folder, below)
    for name in names:
        file = folder.path / name
        try:
            front = parse_front_matter(read_definition(file))
            agent = agent_of_front_matter(front, location=str(file), source=folder.source)
        except (OSError, AgentParsingError) as error:
            findings.append(_skipped(file, error))
            continue
        loaded.append(Found(agent=agent, folder=folder, front=front))
        findings += _fallback_findings(file, front)
    return loaded, findings, True


def _below(folder: AgentFolder, below: list[str]) -> list[Diagnostic]:
    """Tell, once for a folder, that definitions lie deeper than the host looks."""
    found: list[str] = []
    for path in below[:MAX_BELOW]:
        with suppress(OSError), os.scandir(path) as entries:
            found += [entry.path for entry in islice(entries, MAX_BELOW) if _is_page(entry)]
    if not found:
        return []
    first = os.path.relpath(min(found), folder.path)
    count = "a file" if len(found) == 1 else f"{len(found)} files"
    message = (
        f"{count} such as {first} in folders below: only {folder.path.name}/*.md is read, so "
        "they are never seen"
    )
    return [Diagnostic(code="definitions-below", message=message, path=str(folder.path))]


def _is_page(entry: os.DirEntry[str]) -> bool:
    return entry.name.endswith(".md") and not entry.is_dir(follow_symlinks=False)


def read_definition(file: Path) -> str:
    """Read the text of a definition: UTF-8, bad bytes replaced, a byte-order mark kept.

    Raises:
        OSError: not a regular file, too large, or it cannot be read.
    """
    data = read_bytes(file)
    if len(data) > MAX_DEFINITION_BYTES:
        raise OSError(0, f"larger than {MAX_DEFINITION_BYTES} bytes", str(file))
    return data.decode("utf-8", "replace")


def read_bytes(file: Path) -> bytes:
    """Read a regular file, one byte more than the limit at most; raises ``OSError``."""
    return read_regular(file, MAX_DEFINITION_BYTES + 1)


def _skipped(file: Path, error: OSError | AgentParsingError) -> Diagnostic:
    # The path stands beside it already.
    reason = error.cause if isinstance(error, AgentParsingError) else error.strerror or str(error)
    return Diagnostic(
        code="definition-skipped", message=f"Failed to read agent file: {reason}", path=str(file)
    )


def _fallback_findings(file: Path, front: FrontMatter) -> Iterator[Diagnostic]:
    if front.fallback:
        damage = "; ".join(fallback_damage(front)) or "nothing was damaged"
        yield Diagnostic(
            code="definition-fallback",
            message=f"Failed to parse YAML frontmatter ({file}): {front.problem}; it was read "
            f"line by line, each value as plain text ({damage})",
            path=str(file),
            line=front.problem_line,
        )
