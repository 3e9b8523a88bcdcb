"""Odd surroundings for an agent: a small program that makes them and then becomes the agent."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.in_process.function_main import as_process
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.supervision.environment import search_path


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEdit:
    """What is done to ``task.json`` before the agent reads it.

    Attributes:
        set: values by field, added or replaced.
        remove: fields that are taken away.
        escaped: one line, every character beyond ASCII escaped, fields in another order.
        cut: bytes after which the text ends; None leaves it whole.
        absent: the file is taken away.
    """

    set: Mapping[str, Any] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    escaped: bool = False
    cut: int | None = None
    absent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What is odd about where an agent runs.

    Attributes:
        set: variables by name.
        unset: names of variables that are taken away.
        closed_stdin: descriptor 0 is closed, not merely empty.
        open_files: how many files it may have open, or None.
        task: what is done to the task, or None.
    """

    set: Mapping[str, str] = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    closed_stdin: bool = False
    open_files: int | None = None
    task: TaskEdit | None = None


_PROGRAM = '''\
"""Makes odd surroundings, and becomes the agent."""

import json
import os
import sys


def edit(path, how):
    """Change the task as it was asked for."""
    if how["absent"]:
        os.unlink(path)
        return
    with open(path, encoding="utf-8") as file:
        task = json.load(file)
    for name in how["remove"]:
        task.pop(name, None)
    task.update(how["set"])
    if how["escaped"]:
        task = dict(sorted(task.items(), reverse=True))
        text = json.dumps(task, separators=(",", ":"))
    else:
        text = json.dumps(task, indent=2, ensure_ascii=False) + "\\n"
    data = text.encode("utf-8", "backslashreplace")
    with open(path + ".new", "wb") as file:
        file.write(data if how["cut"] is None else data[: how["cut"]])
    os.replace(path + ".new", path)


def main(how):
    """Do what is asked for, in an order in which nothing stands in its own way."""
    if how["task"]:
        edit(os.environ["CAESAR_TASK_FILE"], how["task"])
    for name in how["unset"]:
        os.environ.pop(name, None)
    os.environ.update(how["set"])
    if how["open_files"]:
        import resource

        resource.setrlimit(resource.RLIMIT_NOFILE, (how["open_files"], how["open_files"]))
    if how["closed_stdin"]:
        os.close(0)
    os.execv(sys.argv[1], sys.argv[1:])


'''


def reads_stdin(agent: AgentTarget) -> bool:
    """Tell whether an agent is told its task on stdin, so that it cannot be closed."""
    if isinstance(agent, FunctionAgent):
        return False
    if agent.protocol == "acp":
        return True
    return CATALOGUE[agent.cli].brief_on_stdin if agent.cli else agent.brief_on_stdin


def surround(
    agent: AgentTarget,
    surroundings: Surroundings,
    *,
    folder: Path,
    settings: OrchestratorSettings | None = None,
) -> ProcessAgent:
    """Return the same agent, run in other surroundings; always a process of its own.

    Args:
        agent: who is run.
        surroundings: what is odd.
        folder: where the program is written; new for each call.
        settings: of the orchestrator that will run it, for the search path.

    Raises:
        CommandError: the agent's program cannot be found.
    """
    process = as_process(agent) if isinstance(agent, FunctionAgent) else agent
    settings = settings or OrchestratorSettings()
    real = find_program(process, path=search_path(settings.path_first))
    folder.mkdir(parents=True)
    program = folder / "surroundings.py"
    literal = repr(json.dumps(asdict(surroundings)))
    program.write_text(f"{_PROGRAM}main(json.loads({literal}))\n", encoding="utf-8")
    words = (sys.executable, "-I", "-S", str(program), str(real))
    start = folder / Path(real).name
    # A shell script: an interpreter line cannot hold long paths or more than one argument.
    start.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    start.chmod(0o755)
    return replace(process, argv=(str(start), *process.argv[1:]))
