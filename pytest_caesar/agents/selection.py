"""From what ``--caesar-agent`` says to something that can be run, or a refusal that helps."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.command_line import agent_of_command_line
from pytest_caesar.agents.errors import SelectionError, near_miss, shown
from pytest_caesar.agents.functions import find_function, looks_like_function
from pytest_caesar.agents.paths import absolute, agent_of_path
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_caesar.agents.catalogue import KnownCli
    from pytest_caesar.agents.config import AgentSpec, Config
    from pytest_caesar.agents.definitions import AgentDefinition
    from pytest_caesar.agents.discovery import Discovery

    Way = Callable[[str, "Place"], "Fit | None"]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a selection is made.

    Attributes:
        project: root of the project under test, absolute; ``[[agent]]`` comes from it.
        start: folder from which paths are meant, absolute.
        path: PATH that commands are looked for on.
        user_config: the user's own layers count too.
        home: the folder meant by ``~``.
        runner: what runs agent definitions, or None.
    """

    project: Path
    start: Path
    path: str
    user_config: bool = False
    home: Path | None = None
    runner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One thing that the text fits.

    Attributes:
        what: the thing, in words that say where it is.
        agent: what it resolves to, or why it cannot be run.
        bundled: a bundled definition, which gives way to anything of the project's.
    """

    what: str
    agent: AgentTarget | SelectionError
    bundled: bool = False


def select(
    text: str,
    *,
    project: Path,
    start: Path,
    user_config: bool = False,
    subprocess: bool = False,
    runner: str | None = None,
    environ: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> AgentTarget:
    """Resolve the name of an agent.

    In this order: an existing path; ``module:function``; the id of an ``[[agent]]``; an
    entry of the catalogue; a discovered definition; a command line. The command line is
    what is left when nothing else fits, so that what happens to be on PATH never
    changes what a name means.

    Args:
        text: what was asked for.
        project: root of the project under test.
        start: folder from which paths and modules are meant.
        user_config: read the user's own configuration and definitions too.
        subprocess: run functions in a process of their own.
        runner: what runs agent definitions: an id of the catalogue, an ``[[agent]]`` id
            or a path.
        environ: the environment whose PATH and HOME count; the process's own when None.
        home: the folder meant by ``~``; from the environment when None.

    Returns:
        What can be run.

    Raises:
        SelectionError: nothing fits (lists what there is), two things fit (names both),
            or the one that fits cannot be run (says what to do).
        ConfigError: the project's configuration cannot be read.
    """
    environ = os.environ if environ is None else environ
    place = Place(
        project=absolute(str(project), Path.cwd()),
        start=absolute(str(start), Path.cwd()),
        path=search_path(environ),
        user_config=user_config,
        home=home or (Path(environ["HOME"]) if environ.get("HOME") else None),
        runner=runner,
    )
    agent = _resolve(text, place, _WAYS)
    if isinstance(agent, SelectionError):
        raise agent
    if isinstance(agent, FunctionAgent):
        return replace(agent, subprocess=subprocess)
    return agent


def select_all(texts: Sequence[str], **place: object) -> tuple[AgentTarget, ...]:
    """Select several agents, as ``select`` does, and make their ids unique.

    The second agent of the same id becomes ``ID-2``, and so on, in order.
    """
    agents = [select(text, **place) for text in texts]  # type: ignore[arg-type]
    taken: set[str] = set()
    unique: list[AgentTarget] = []
    for agent in agents:
        ident, count = agent.id, 1
        while ident in taken:
            count += 1
            ident = f"{agent.id}-{count}"
        taken.add(ident)
        unique.append(replace(agent, id=ident))
    return tuple(unique)


def search_path(environ: Mapping[str, str]) -> str:
    """Return PATH, led by the folder of the running interpreter."""
    folders = [str(Path(sys.executable).parent), environ.get("PATH", os.defpath)]
    return os.pathsep.join(folder for folder in folders if folder)


def safe_id(text: str) -> str:
    """Return text as an id: letters, digits, ``.``, ``_``, ``-``; never empty."""
    return _UNSAFE.sub("-", text).strip("-.") or "agent"


def agent_of_spec(spec: AgentSpec, project: Path) -> ProcessAgent:
    """Turn an ``[[agent]]`` entry into something to run."""
    return ProcessAgent(
        id=spec.id,
        origin="config",
        argv=(spec.bin, *spec.args),
        project=str(project),
        cwd_mode=spec.cwd_mode,
        network_args=spec.network_args,
        native_read_only=spec.native_read_only,
        display_name=spec.display_name,
        where=spec.file,
    )


def agent_of_cli(cli: KnownCli) -> ProcessAgent:
    """Turn an entry of the catalogue into something to run."""
    return ProcessAgent(
        id=cli.id,
        origin="catalogue",
        argv=(cli.program,),
        native_read_only=True,
        dialect=cli.dialect,
        brief_on_stdin=cli.brief_on_stdin,
        cli=cli.id,
        display_name=cli.display_name,
    )


def load_place_config(place: Place) -> Config:
    """Read the configuration that counts at a place."""
    from pytest_caesar.agents.config import load_config  # noqa: PLC0415  (only when needed)

    return load_config(place.project, user_config=place.user_config, home=place.home)


def _as_path(text: str, place: Place) -> Fit | None:
    file = absolute(text, place.start)
    if not os.path.lexists(file):
        return None
    agent: AgentTarget | SelectionError
    if file.suffix == ".md" and file.is_file() and not os.access(file, os.X_OK):
        agent = _definition_file(text, file, place)
    else:
        agent = agent_of_path(text, file, ident=safe_id(file.stem))
    return Fit(what=f"the path {file}", agent=agent)


def _definition_file(text: str, file: Path, place: Place) -> ProcessAgent | SelectionError:
    from pytest_caesar.agents.definitions import (  # noqa: PLC0415  (only when needed)
        AgentParsingError,
        parse_agent,
    )
    from pytest_caesar.agents.discovery import read_definition  # noqa: PLC0415  (as above)

    try:
        definition = parse_agent(read_definition(file), location=str(file))
    except (OSError, AgentParsingError) as error:
        return _refusal(text, f"it is read as an agent definition, but: {error}")
    return _run_definition(text, definition, place)


def _as_function(text: str, place: Place) -> Fit | None:
    if not looks_like_function(text):
        return None
    found = find_function(text, place.start)
    if found.problem:
        return Fit(what=f"the function {text}", agent=_refusal(text, found.problem))
    ident = safe_id(text.rpartition(":")[2])
    return Fit(
        what=f"the function {text}",
        agent=FunctionAgent(id=ident, target=text, import_root=str(place.start)),
    )


def _as_config(text: str, place: Place) -> Fit | None:
    if safe_id(text) != text:
        return None
    for spec in load_place_config(place).agents:
        if spec.id == text:
            line = "" if spec.line is None else f":{spec.line}"
            return Fit(
                what=f"the [[agent]] {shown(text)} of {spec.file}{line}",
                agent=agent_of_spec(spec, place.project),
            )
    return None


def _as_command(text: str, place: Place) -> Fit | None:
    agent = agent_of_command_line(text, start=place.start, path=place.path, make_id=safe_id)
    return None if agent is None else Fit(what=f"the command line {shown(text)}", agent=agent)


def _as_catalogue(text: str, place: Place) -> Fit | None:  # noqa: ARG001  (one way of many)
    from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

    cli = CATALOGUE.get(text)
    if cli is None:
        return None
    return Fit(what=f"the known CLI {cli.display_name}", agent=agent_of_cli(cli))


def _as_definition(text: str, place: Place) -> Fit | None:
    found = discover_at(place).get(text)
    if found is None:
        return None
    where = found.agent.file_path or ""
    if found.folder is None:
        what = f"the bundled agent definition {shown(text)}"
    else:
        what = f"the agent definition {where}"
    agent = _run_definition(text, found.agent, place)
    return Fit(what=what, agent=agent, bundled=found.folder is None)


def _run_definition(
    text: str, definition: AgentDefinition, place: Place
) -> ProcessAgent | SelectionError:
    if place.runner is None:
        from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

        return _refusal(
            text,
            f"it is an agent definition ({definition.file_path}), which says what to do but "
            "not what runs it; name the CLI with --caesar-runner=NAME (known are "
            f"{', '.join(CATALOGUE)}; an [[agent]] id or a program works too)",
        )
    from pytest_caesar.agents.runners import run_definition  # noqa: PLC0415  (only when needed)

    ways = (_as_path, _as_config, _as_catalogue)
    runner = _resolve(place.runner, replace(place, runner=None), ways)
    if isinstance(runner, SelectionError):
        return _refusal(text, f"its runner: {runner.problem}", runner.available)
    if isinstance(runner, FunctionAgent):  # pragma: no cover  (no way above gives one)
        return _refusal(text, "a function cannot run an agent definition")
    return run_definition(definition, runner, ident=safe_id(definition.name))


def discover_at(place: Place) -> Discovery:
    """Find the definitions that count at a place: the project's, the user's when asked for."""
    from pytest_caesar.agents.discovery import discover_agents  # noqa: PLC0415  (only when needed)

    inside = place.project in (place.start, *place.start.parents)
    return discover_agents(
        place.start if inside else place.project,
        place.home if place.user_config else None,
        stop_at=place.project,
    )


_WAYS: tuple[Way, ...] = (_as_path, _as_function, _as_config, _as_catalogue, _as_definition)


def _resolve(text: str, place: Place, ways: Sequence[Way]) -> AgentTarget | SelectionError:
    if not text.strip() or "\0" in text:
        return _refusal(text, "it is blank or holds a NUL character; name a program or an agent")
    fits = [fit for way in ways if (fit := way(text, place)) is not None]
    if len(fits) > 1:
        fits = [fit for fit in fits if not fit.bundled]
    if not fits or _is_path_with_blanks(text, fits):
        command = _as_command(text, place)
        fits += [command] if command is not None else []
    if not fits:
        return _nothing(text, place)
    if len(fits) > 1:
        return SelectionError(
            selected=text,
            problem="it fits more than one thing: "
            + ", and ".join(fit.what for fit in fits)
            + "; rename one of them, or write a file's path with a slash (./NAME)",
            fits=tuple(fit.what for fit in fits),
            available=(),
        )
    return fits[0].agent


def _is_path_with_blanks(text: str, fits: Sequence[Fit]) -> bool:
    """Say whether a path that exists could be meant as a command with arguments."""
    return len(text.split()) > 1 and fits[0].what.startswith("the path ")


def _refusal(text: str, problem: str, available: Sequence[str] = ()) -> SelectionError:
    return SelectionError(selected=text, problem=problem, fits=(), available=tuple(available))


def _nothing(text: str, place: Place) -> SelectionError:
    names = available_names(place)
    word = text.split(maxsplit=1)[0]
    listed = ", ".join(names) if names else "none"
    return _refusal(
        text,
        f"there is no such file in {place.start}, no agent of that name, and no command "
        f"{shown(word)} on PATH{near_miss(text, names) or _near_file(text, place.start)}; "
        f"agents there are: {listed}",
        names,
    )


def available_names(place: Place) -> tuple[str, ...]:
    """Return the names that can be selected at a place, in the order of selection."""
    from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

    configured = (spec.id for spec in load_place_config(place).agents)
    return tuple(dict.fromkeys((*configured, *CATALOGUE, *discover_at(place).names)))


def _near_file(text: str, start: Path) -> str:
    file = start / text
    try:
        names = sorted(entry.name for entry in file.parent.iterdir())[:1000]
    except (OSError, ValueError):
        return ""
    return near_miss(file.name, names)
