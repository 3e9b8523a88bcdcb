"""What others may add: the hook specifications of pytest-caesar.

A plugin of pytest, a ``conftest.py`` or, for ``pytest-caesar run`` and ``recover``, an entry
point of the group ``pytest_caesar`` implements any of them. A package that wants both names
the same module under both groups:

    [project.entry-points.pytest11]
    acme = "acme_caesar"

    [project.entry-points.pytest_caesar]
    acme = "acme_caesar"

Mark an implementation in a ``conftest.py`` with ``pytest.hookimpl(optionalhook=True)``, and it
stays harmless where pytest-caesar is not installed.

**When they are read.** ``pytest_caesar_dialects``, ``pytest_caesar_catalogue``,
``pytest_caesar_agent``, ``pytest_caesar_sandboxes`` and ``pytest_caesar_gate`` are taken up once,
when the session first needs an agent; that is before collection where ``--caesar-agent`` is
given. A ``conftest.py`` below the root of the tests is loaded later, so one that implements
them there is refused by name: move it to the root, or make it a plugin.

**Threads.** Trials and delegations that were started side by side call
``pytest_caesar_task``, ``pytest_caesar_event``, ``pytest_caesar_run_finished`` and
``pytest_caesar_prices`` from threads of their own, several at once.

**Errors.** A hook that raises is named together with its plugin: as the finding
``hook-failed`` of the run where it belongs to one, among the problems at the end of the session
otherwise. It stops nothing else. What a hook returns is checked; a value of the wrong kind is
an error that names plugin and value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from caesar_agent.diagnostics import Diagnostic
    from caesar_agent.documents.event import Event
    from caesar_agent.documents.task import Task
    from pytest_caesar.agents.config import Config
    from pytest_caesar.agents.known_cli import KnownCli
    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.gates.gates import Gate
    from pytest_caesar.recovery.streams.base import LineReader
    from pytest_caesar.runs.extensions import RunningTask
    from pytest_caesar.runs.run import Run
    from pytest_caesar.sandboxes.sandbox import Sandbox

hookspec = pluggy.HookspecMarker("pytest")
hookimpl = pluggy.HookimplMarker("pytest")
"""Marks implementations; the same as ``pytest.hookimpl``, for plugins that do not import pytest."""


@hookspec
def pytest_caesar_dialects() -> Iterable[type[LineReader]]:
    """Return readers of native streams: subclasses of ``LineReader``, each with its own ``name``.

    A reader turns the lines that a CLI prints into events, the agent's own words, tool calls
    and usage; see ``pytest_caesar.recovery.streams.base``. An entry of the catalogue names it
    as its ``dialect``; ``recover --dialect`` takes it too.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_catalogue() -> Iterable[KnownCli]:
    """Return known CLIs: entries with an ``id`` that no other has.

    Their ids can be given to ``--caesar-agent``, to ``[[agent]] cli =`` and to ``team``; see
    ``pytest_caesar.agents.known_cli.KnownCli`` for what an entry says.
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def pytest_caesar_agent(name: str, config: Config) -> AgentTarget | str | None:
    """Return the agent that a name of a scheme of your own stands for, or None.

    Asked for every name with a colon that is no path, ``acme:reviewer`` for one. The first
    answer that is not None counts. ``acp:`` is ours.

    Args:
        name: as the user wrote it.
        config: the configuration of the project: agents, roles, policy.

    Returns:
        Something that can be run, or a command line, which is resolved as one that a user gives.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_sandboxes() -> Iterable[Sandbox]:
    """Return sandboxes of your own: instances of ``Sandbox``, each with its own ``name``.

    Their names can be given to ``--caesar-sandbox``, to ``[policy] sandbox`` and to
    ``delegate(sandbox=...)``. Each is proved before it is first used, as ours is; see
    ``pytest_caesar.sandboxes.sandbox``. ``auto`` takes the one of which most holds.
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def pytest_caesar_gate(text: str) -> Gate | None:
    """Return the gate that a text of your own stands for, or None.

    Asked for every gate that is given as one string, before it is read as a command line. The
    first answer that is not None counts.

    Args:
        text: one of ``delegate(gates=[...])``.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_task(task: Task) -> Mapping[str, Any] | None:
    """Return what is to be added to a task before ``task.json`` is written, or None.

    Args:
        task: as it would be written, frozen.

    Returns:
        Fields by name: ``context`` is put behind the task's own, ``constraints`` and
        ``acceptance_criteria`` are appended; other fields of the contract are refused, and any
        further name becomes a field of its own, with a JSON value.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_event(run: RunningTask, event: Event) -> None:
    """Take note of an event while the agent works.

    Args:
        run: whose event it is: task, agent, task directory and workspace. There is no ``Run``
            yet.
        event: as it was read from the log, in the order of the log.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_run_finished(run: Run) -> Iterable[Diagnostic] | None:
    """Return findings of your own about a run, or None.

    Args:
        run: complete, but for the findings of these hooks.

    Returns:
        Diagnostics with a code of the form ``prefix/name``, such as ``acme/no-changelog``. A
        test that is strict fails on them; ``allow`` lets them pass.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_secrets(text: str) -> Iterable[str] | None:
    """Return the parts of a text that are secrets, to be hidden in recordings; or None.

    Args:
        text: what an agent printed or wrote, undecodable bytes as surrogates.

    Returns:
        Substrings of the text, at least four characters long each. What raises, or returns
        something else, keeps the recording from being written.
    """
    raise NotImplementedError


@hookspec(firstresult=True)
def pytest_caesar_prices(model: str) -> Mapping[str, float] | None:
    """Return what a model's tokens cost, or None where it is not known.

    Args:
        model: its name, as the stream or the command line has it.

    Returns:
        US dollars for one token, by the keys of LiteLLM: ``input_cost_per_token`` and
        ``output_cost_per_token``, and where they differ ``cache_read_input_token_cost`` and
        ``cache_creation_input_token_cost``. ``--caesar-prices`` goes first.
    """
    raise NotImplementedError


@hookspec
def pytest_caesar_export(document: Mapping[str, Any], folder: Path) -> None:
    """Write the results of a session in a format of your own.

    Called at the end of a session with ``--caesar-export=DIR``, in the process that has all
    results (never in a worker of pytest-xdist).

    Args:
        document: what ``--caesar-json`` holds; see "JSON" in ``docs/plugin.md``.
        folder: DIR, which is there.
    """
    raise NotImplementedError
