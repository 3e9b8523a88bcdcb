"""From what ``--caesar-agent`` says to something that can be run, or a refusal that helps."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_caesar.agents.errors import SelectionError, near_miss, shown
from pytest_caesar.agents.functions import meant_function
from pytest_caesar.agents.paths import absolute, current_folder
from pytest_caesar.agents.schemes import as_scheme
from pytest_caesar.agents.selection_context import Place, safe_id, search_path
from pytest_caesar.agents.selectors import (
    Fit,
    Way,
    as_catalogue,
    as_command,
    as_config,
    as_function,
    as_path,
    refusal,
)
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_caesar.agents.definitions import AgentDefinition


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

    In this order: an existing path; a name of a scheme that a plugin knows;
    ``module:function``; the id of an ``[[agent]]``; an entry of the catalogue; a discovered definition; a command line. The command line is
    what is left when nothing else fits, so that what happens to be on PATH never
    changes what a name means.

    Args:
        text: what was asked for.
        project: root of the project under test.
        start: folder from which paths and modules are meant.
        user_config: read the user's own configuration and definitions too.
        subprocess: run functions in a process of their own.
        runner: what runs agent definitions: an id of the catalogue, an ``[[agent]]`` id,
            a path or a command line.
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
        project=absolute(str(project), current_folder()),
        start=absolute(str(start), current_folder()),
        path=search_path(environ),
        user_config=user_config,
        home=home or (Path(environ["HOME"]) if environ.get("HOME") else None),
        runner=runner,
        config_dir=environ.get("PI_CONFIG_DIR"),
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


def _resolve(text: str, place: Place, ways: Sequence[Way]) -> AgentTarget | SelectionError:
    if not text.strip() or "\0" in text:
        return refusal(text, "it is blank or holds a NUL character; name a program or an agent")
    fits = [fit for way in ways if (fit := way(text, place)) is not None]
    firm = [fit for fit in fits if not fit.yields]
    # Of two that yield, the later knows more: a bundled definition can at least be run.
    fits = firm or fits[-1:]
    if not fits or fits[0].is_path:
        fits = _beside_command(text, place, fits)
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


def _as_path(text: str, place: Place) -> Fit | None:
    """Understand a path; a markdown file that is no program is an agent definition."""
    file = absolute(text, place.start)
    if file.suffix == ".md" and file.is_file() and not os.access(file, os.X_OK):
        agent = _definition_file(text, file, place)
        return Fit(what=f"the path {file}", agent=agent, is_path=True)
    return as_path(text, place)


def _as_definition(text: str, place: Place) -> Fit | None:
    if "/" in text and os.path.lexists(absolute(text, place.start)):
        return None  # a path with a slash is only ever a path
    found = place.discovery().get(text)
    if found is None:
        return None
    bundled = found.folder is None
    what = f"the {'bundled ' if bundled else ''}agent definition {found.agent.file_path}"
    agent = _run_definition(text, found.agent, place)
    return Fit(what=what, agent=agent, yields=bundled)


def _definition_file(text: str, file: Path, place: Place) -> ProcessAgent | SelectionError:
    from pytest_caesar.agents.definitions import (  # noqa: PLC0415  (only when needed)
        AgentParsingError,
        parse_agent,
    )
    from pytest_caesar.agents.discovery import read_definition  # noqa: PLC0415  (as above)

    try:
        definition = parse_agent(read_definition(file), location=str(file))
    except OSError as error:
        return refusal(text, f"it is read as an agent definition, but: {error}")
    except AgentParsingError as error:
        return refusal(text, f"it is read as an agent definition, but {error.cause}")
    return _run_definition(text, definition, place)


def _run_definition(
    text: str, definition: AgentDefinition, place: Place
) -> ProcessAgent | SelectionError:
    if place.runner is None:
        from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

        return refusal(
            text,
            f"it is an agent definition ({definition.file_path}), which says what to do but "
            "not what runs it; name the CLI with --caesar-runner=NAME (known are "
            f"{', '.join(CATALOGUE)}; an [[agent]] id or a program works too)",
        )
    from pytest_caesar.agents.runners import run_definition  # noqa: PLC0415  (only when needed)

    runner = _resolve(place.runner, replace(place, runner=None), _RUNNER_WAYS)
    if isinstance(runner, SelectionError):
        return refusal(
            text, f"its runner {shown(place.runner)}: {runner.problem}", runner.available
        )
    if isinstance(runner, FunctionAgent):  # pragma: no cover  (no way above gives one)
        return refusal(text, "a function cannot run an agent definition")
    return run_definition(definition, runner, ident=safe_id(definition.name))


_WAYS: tuple[Way, ...] = (
    _as_path,
    as_scheme,
    as_function,
    as_config,
    as_catalogue,
    _as_definition,
)
_RUNNER_WAYS: tuple[Way, ...] = (as_path, as_scheme, as_config, as_catalogue)


def _beside_command(text: str, place: Place, fits: list[Fit]) -> list[Fit]:
    """Look for a command line where nothing else fits, or where a path might be one too.

    A single word that is a file is that file. A folder gives way to a command of its name,
    and a path with blanks could be meant as a command with arguments.
    """
    if fits and not fits[0].yields and len(text.split()) == 1:
        return fits
    command = as_command(text, place)
    if command is None:
        return fits
    return [command] if not fits or fits[0].yields else [*fits, command]


def _nothing(text: str, place: Place) -> SelectionError:
    names = place.names()
    word = text.split(maxsplit=1)[0]
    listed = ", ".join(names) if names else "none"
    hint = (
        meant_function(text, place.start) or near_miss(text, names) or _near_file(text, place.start)
    )
    return refusal(
        text,
        f"there is no such file in {place.start}, no agent of that name, and no command "
        f"{shown(word)} on PATH{hint or '.'} Agents there are: {listed}",
        names,
    )


def _near_file(text: str, start: Path) -> str:
    file = start / text
    try:
        names = sorted(entry.name for entry in file.parent.iterdir())[:1000]
    except (OSError, ValueError):
        return ""
    return near_miss(file.name, names)
