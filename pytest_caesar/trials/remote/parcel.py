"""What goes out for one trial: plain values that mean the same on another machine."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from pytest_caesar.agents.config import load_config
from pytest_caesar.agents.target import AgentTarget, FunctionAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.trials.remote.errors import CannotBeSentError
from pytest_caesar.workspace.repository import Repository

MAX_SHIPPED: Final = 256 * 2**20
"""Bytes of all files that are shipped beside the repository."""

LOCAL_FIELDS: Final = ("workspace", "base_ref", "placed", "gates")
"""Fields of a delegation that name something of this machine, or are functions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """One trial as it is sent.

    Attributes:
        number: of the trial.
        task_id: of its delegation.
        version: of this package, which must be the node's.
        bundle: the repository as ``git bundle`` makes it; b"" where it has no commit.
        head: the branch that is checked out, or "" for a detached HEAD.
        agent: who works; a text is selected on the node.
        files: shipped files, by their path on this machine.
        python: the interpreter here, which stands for the node's own.
        objective, fields: as ``delegate`` takes them.
        answers: scripted answers as data, or None without a return channel.
        pass_env: names of variables that the node must have, and the agent sees.
        sandbox: in what the agent runs there, as ``OrchestratorSettings`` has it.
    """

    number: int
    task_id: str
    version: str
    bundle: bytes = field(repr=False)
    head: str
    agent: AgentTarget | str
    files: Mapping[str, bytes] = field(repr=False)
    python: str
    objective: str
    fields: Mapping[str, Any]
    answers: tuple[Mapping[str, Any], ...] | None
    pass_env: tuple[str, ...] = ()
    sandbox: str | None = None


def own_version() -> str:
    """Return the version of this package, and of the Python that pickles."""
    return f"{version('pytest-caesar')}, Python {sys.version_info.major}.{sys.version_info.minor}"


def bundle_of(repository: Repository) -> tuple[bytes, str]:
    """Return a repository as a bundle, and its branch.

    Raises:
        CannotBeSentError: it holds uncommitted work or submodules, or files that are placed.
    """
    if repository.head is None:
        raise CannotBeSentError(
            problem="the repository has no commit", remedy="commit something first"
        )
    if repository.status():
        raise CannotBeSentError(
            problem="the repository holds uncommitted work",
            remedy="commit it: a bundle holds commits alone",
        )
    if "160000 " in repository.git("ls-files", "--stage"):
        raise CannotBeSentError(
            problem="the repository has submodules", remedy="run these trials here"
        )
    placed = load_config(repository.path, user_config=False).worktree
    if placed.copy or placed.link:
        raise CannotBeSentError(
            problem="[worktree] copy or link places files that no commit holds",
            remedy="run these trials here, or commit what is placed",
        )
    with tempfile.TemporaryDirectory(prefix="caesar-bundle-") as folder:
        path = Path(folder) / "repository.bundle"
        repository.git("bundle", "create", "--quiet", os.fspath(path), "--all", "HEAD")
        branch = repository.git("branch", "--show-current").strip()
        return path.read_bytes(), branch


def shipped(agent: AgentTarget | str, ship: Iterable[Path | str]) -> dict[str, bytes]:
    """Return the files that an agent needs on a node, by their absolute paths here.

    Raises:
        CannotBeSentError: the agent is a function of this process, or a file cannot be read.
    """
    if isinstance(agent, FunctionAgent):
        raise CannotBeSentError(
            problem=f"{agent.target} is a Python function",
            remedy="give a program: a script, or python -m of something that the nodes have",
        )
    paths = [os.path.abspath(path) for path in ship]  # noqa: PTH100 - links stay as they are named
    if not isinstance(agent, str) and agent.origin == "path":
        paths += [part for part in agent.argv if _is_own_script(part)]
    found: dict[str, bytes] = {}
    for path in dict.fromkeys(paths):
        try:
            found[path] = Path(path).read_bytes()
        except OSError as error:  # noqa: PERF203 - the first one is told
            raise CannotBeSentError(
                problem=f"ship: {path}: {error.strerror}", remedy="name files, not folders"
            ) from error
    size = sum(map(len, found.values()))
    if size > MAX_SHIPPED:
        raise CannotBeSentError(
            problem=f"the files to ship take {size} bytes, at most {MAX_SHIPPED} are sent",
            remedy="install them on the nodes",
        )
    return found


def _is_own_script(part: str) -> bool:
    system = ("/usr/", "/bin/", "/opt/", sys.prefix, sys.base_prefix, sys.executable)
    return part.startswith("/") and not part.startswith(system) and os.path.isfile(part)  # noqa: PTH113


def answers_as_data(answers: ScriptedAnswers | None) -> tuple[Mapping[str, Any], ...] | None:
    """Return a script of answers as plain values.

    Raises:
        CannotBeSentError: a question or an answer is a function.
    """
    if answers is None:
        return None
    found = []
    for script in answers.scripts:
        if callable(script.match) or callable(script.say):
            raise CannotBeSentError(
                problem=f"the scripted answer {script} is a function",
                remedy="give a text or a pattern",
            )
        found.append(
            {
                "kind": script.kind,
                "match": script.match,
                "say": script.say,
                "after": script.after,
                "times": script.times,
            }
        )
    return tuple(found)


def check_fields(fields: Mapping[str, Any]) -> None:
    """Refuse what only this machine can do.

    Raises:
        CannotBeSentError: with the field by its name.
    """
    if fields.get("isolation") == "inplace":
        raise CannotBeSentError(
            problem="isolation='inplace' works in a folder of this machine",
            remedy="leave it out, or ask for 'worktree'",
        )
    for name in LOCAL_FIELDS:
        if fields.get(name):
            raise CannotBeSentError(
                problem=f"{name}= means something of this machine",
                remedy="leave it out, or run these trials here",
            )


def missing_here(names: Sequence[str]) -> list[str]:
    """Return the variables that are not set in this process."""
    return [name for name in names if name not in os.environ]


def git_is_there() -> bool:
    """Tell whether this machine has git."""
    return shutil.which("git") is not None
