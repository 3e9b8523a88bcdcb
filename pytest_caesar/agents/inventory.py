"""All that can be run at a place: where it comes from, what hides it, whether it is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.config import PolicyConfig
from pytest_caesar.agents.definitions import AgentDefinition
from pytest_caesar.agents.discovery import Discovery, Found
from pytest_caesar.agents.errors import CommandError
from pytest_caesar.agents.selection_context import Place, agent_of_cli, agent_of_spec, safe_id
from pytest_caesar.agents.target import ProcessAgent

Kind = Literal["config", "catalogue", "definition"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that can be named.

    Attributes:
        name: what ``--caesar-agent`` takes.
        kind: ``config`` (an ``[[agent]]``), ``catalogue`` or ``definition``.
        where: the file that declares it; for the catalogue, the version it was checked for.
        origin: user, project or bundled; plugin or family where there is one.
        description: one line for people, or "".
        command: the program, found on PATH or not; "" for a definition without a runner.
        problem: why it cannot be run as it stands, or "".
        checked: for the catalogue, the version every flag was tried with; else None.
        shadows: files whose agent of the same name it hides.
        shadowed_by: file that hides it, or "".
        clashes: what else the same name fits, so that selecting it is refused.
    """

    name: str
    kind: Kind
    where: str = ""
    origin: str = ""
    description: str = ""
    command: str = ""
    problem: str = ""
    checked: str | None = None
    shadows: tuple[str, ...] = ()
    shadowed_by: str = ""
    clashes: tuple[str, ...] = ()

    @property
    def runnable(self) -> bool:
        """Say whether selecting it by name would give something that starts."""
        return not (self.problem or self.shadowed_by or self.clashes)

    def as_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "kind": self.kind,
            "runnable": self.runnable,
            "where": self.where,
            "origin": self.origin,
            "description": self.description,
            "command": self.command,
            "problem": self.problem or None,
            "checked": self.checked,
            "shadows": list(self.shadows),
            "shadowed_by": self.shadowed_by or None,
            "clashes": list(self.clashes),
        }


def take_inventory(place: Place) -> tuple[tuple[Entry, ...], tuple[Diagnostic, ...]]:
    """List everything that has a name at a place, in the order of selection.

    Raises:
        ConfigError: the configuration cannot be read.
    """
    discovery = place.discovery()
    entries = [*_configured(place), *_catalogue(place), *_definitions(place, discovery)]
    policy = place.config().policy
    return tuple(_with_policy(_with_clashes(entries), policy)), discovery.diagnostics


def _configured(place: Place) -> Iterator[Entry]:
    config = place.config()
    for spec in config.agents:
        agent = agent_of_spec(spec, place.project)
        command, problem = _command(agent, place)
        hidden = tuple(other.file for other in config.shadowed if other.id == spec.id)
        yield Entry(
            name=spec.id,
            kind="config",
            where=spec.file if spec.line is None else f"{spec.file}:{spec.line}",
            origin="user" if "/.config/caesar/" in spec.file else "project",
            description=spec.display_name,
            command=command,
            problem=problem,
            shadows=hidden,
        )
    for spec in config.shadowed:
        winner = next(other.file for other in config.agents if other.id == spec.id)
        yield Entry(
            name=spec.id, kind="config", where=spec.file, command=spec.bin, shadowed_by=winner
        )


def _catalogue(place: Place) -> Iterator[Entry]:
    for cli in CATALOGUE.values():
        command, problem = _command(agent_of_cli(cli), place)
        yield Entry(
            name=cli.id,
            kind="catalogue",
            where="catalogue",
            origin="known CLI",
            description=cli.display_name,
            command=command,
            problem=problem,
            checked=cli.checked,
        )


def _definitions(place: Place, discovery: Discovery) -> Iterator[Entry]:
    problem = "" if place.runner else "needs --caesar-runner=NAME"
    for found in discovery.agents:
        losers = tuple(
            _file(loser.agent) for loser, winner in discovery.shadowed if winner is found
        )
        yield replace(_entry(found, place), problem=problem, shadows=losers)
    for loser, winner in discovery.shadowed:
        yield replace(_entry(loser, place), shadowed_by=_file(winner.agent))


def _entry(found: Found, place: Place) -> Entry:
    agent, folder = found.agent, found.folder
    more = (folder.plugin or folder.family) if folder else ""
    return Entry(
        name=agent.name,
        kind="definition",
        where=_file(agent),
        origin=f"{agent.source} {more}".strip(),
        description=agent.description,
        command=place.runner or "",
    )


def _with_clashes(entries: list[Entry]) -> Iterator[Entry]:
    """Mark names that fit two ways; a bundled definition gives way and is hidden instead."""
    visible = [entry for entry in entries if not entry.shadowed_by]
    for entry in entries:
        others = [
            other
            for other in visible
            if other.name == entry.name and other.kind != entry.kind and not entry.shadowed_by
        ]
        firm = [other for other in others if other.origin != "bundled"]
        if entry.origin == "bundled" and firm:
            yield replace(entry, shadowed_by=firm[0].where)
        else:
            yield replace(entry, clashes=tuple(f"{o.kind} ({o.where})" for o in firm))


def _with_policy(entries: Iterable[Entry], policy: PolicyConfig) -> Iterator[Entry]:
    """Mark what can be selected and would then be refused."""
    for entry in entries:
        ident = safe_id(entry.name) if entry.kind == "definition" else entry.name
        refusal = ""
        if ident in policy.denied:
            refusal = "[policy] denied names it"
        elif policy.allowed and ident not in policy.allowed:
            refusal = f"[policy] allowed does not name it, only {', '.join(policy.allowed)}"
        yield replace(entry, problem="; ".join(filter(None, (entry.problem, refusal))))


def _command(agent: ProcessAgent, place: Place) -> tuple[str, str]:
    try:
        return str(find_program(agent, path=place.path)), ""
    except CommandError as error:
        return agent.argv[0], error.problem


def _file(agent: AgentDefinition) -> str:
    return agent.file_path or ""
