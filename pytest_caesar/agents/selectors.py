"""The ways in which a name can be understood, each on its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_caesar.agents.command_line import agent_of_command_line
from pytest_caesar.agents.config_reader import IDENTIFIER
from pytest_caesar.agents.errors import SelectionError, shown
from pytest_caesar.agents.functions import find_function, looks_like_function, name_of_function
from pytest_caesar.agents.paths import absolute, agent_of_path
from pytest_caesar.agents.selection_context import Place, agent_of_cli, agent_of_spec, safe_id
from pytest_caesar.agents.target import AgentTarget, FunctionAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """One thing that a name fits.

    Attributes:
        what: the thing, in words that say where it is.
        agent: what it resolves to, or why it cannot be run.
        yields: it gives way to anything else of that name: a folder, which nobody can
            run, a function that is not there, and a bundled definition.
        is_path: it was found as a path.
    """

    what: str
    agent: AgentTarget | SelectionError
    yields: bool = False
    is_path: bool = False


Way = Callable[[str, Place], "Fit | None"]


def as_path(text: str, place: Place) -> Fit | None:
    """Understand a name as an existing path."""
    file = absolute(text, place.start)
    if not os.path.lexists(file):
        return None
    agent = agent_of_path(text, file, ident=safe_id(file.stem))
    folder = file.is_dir() and "/" not in text
    return Fit(what=f"the path {file}", agent=agent, yields=folder, is_path=True)


def as_function(text: str, place: Place) -> Fit | None:
    """Understand a name as ``module:function``."""
    if not looks_like_function(text):
        return None
    what = f"the function {text}"
    found = find_function(text, place.start)
    if found.problem:
        # A definition of a plugin may be called "plugin:agent" too.
        return Fit(what=what, agent=refusal(text, found.problem), yields=True)
    ident = safe_id(name_of_function(text))
    return Fit(what=what, agent=FunctionAgent(id=ident, target=text, import_root=str(place.start)))


def as_config(text: str, place: Place) -> Fit | None:
    """Understand a name as the id of an ``[[agent]]``."""
    if not IDENTIFIER.fullmatch(text):
        return None
    for spec in place.config().agents:
        if spec.id == text:
            line = "" if spec.line is None else f":{spec.line}"
            return Fit(
                what=f"the [[agent]] {shown(text)} of {spec.file}{line}",
                agent=agent_of_spec(spec, place.project),
            )
    return None


def as_catalogue(text: str, place: Place) -> Fit | None:  # noqa: ARG001  (one way of many)
    """Understand a name as a known CLI."""
    from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (only when needed)

    cli = CATALOGUE.get(text)
    if cli is None:
        return None
    return Fit(what=f"the known CLI {cli.display_name}", agent=agent_of_cli(cli))


def as_command(text: str, place: Place) -> Fit | None:
    """Understand a text as a command line."""
    agent = agent_of_command_line(text, start=place.start, path=place.path, make_id=safe_id)
    return None if agent is None else Fit(what=f"the command line {shown(text)}", agent=agent)


def refusal(text: str, problem: str, available: Sequence[str] = ()) -> SelectionError:
    """Return the refusal of one name."""
    return SelectionError(selected=text, problem=problem, fits=(), available=tuple(available))
