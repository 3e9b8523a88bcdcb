"""What a node does: the whole delegation, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pytest_caesar.agents.errors import CommandNotFoundError
from pytest_caesar.agents.target import AgentTarget, FunctionAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision.start_errors import AgentStartError
from pytest_caesar.trials.remote.errors import NodeError
from pytest_caesar.trials.remote.parcel import Parcel, git_is_there, missing_here, own_version
from pytest_caesar.workspace.repository import Repository

PREFIX: Final = "caesar-trial-"
"""Begins the name of a trial's folder; the worker's process id follows."""

LOOK: Final = 1.0
"""Seconds between two looks at whether the trial was cancelled, which ask a scheduler far away;
an end is noticed at once."""

MAX_RETURNED: Final = 512 * 2**20
"""Bytes of a task directory that come back; what is beyond is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """What comes back of one trial; never committed.

    Attributes:
        number: of the trial.
        node: where it ran.
        run: everything about it; its paths are the node's until it is unpacked.
        root: the folder on the node that all its paths are below.
        files: of the task directories, by their path below ``root``.
        left_out: files that were too large, or none: links, pipes.
    """

    number: int
    node: str
    run: Run
    root: str
    files: dict[str, bytes] = field(repr=False)
    left_out: tuple[str, ...] = ()


def carry_out(parcel: Parcel, cancelled: Callable[[], bool] = lambda: False) -> Transfer:
    """Carry out one trial on this machine; nothing of it stays here.

    Args:
        parcel: what was sent.
        cancelled: tells whether nobody waits for it any more; looked at once a second.

    Raises:
        CaesarError: this node lacks something, or the delegation was refused.
    """
    node = platform.node() or "unnamed"
    _check(parcel, node)
    _sweep()
    root = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-")).resolve()
    try:
        orchestrator = Orchestrator(
            _agent(parcel, root),
            project=_unpack(parcel, root / "repo").path,
            settings=OrchestratorSettings(pass_env=parcel.pass_env, sandbox=parcel.sandbox),
            new_id=_ids(parcel.task_id),
            answers=_answers(parcel),
        )
        try:
            pending = orchestrator.start(parcel.objective, **parcel.fields)
            done = threading.Event()
            pending.when_done(done.set)
            while not done.wait(LOOK):
                if cancelled():
                    pending.cancel()
            run = pending.wait()
        except (AgentStartError, CommandNotFoundError) as error:
            raise NodeError(node=node, problem=str(error), remedy="install it there") from error
        files, left_out = _files(run, root)
        return Transfer(
            number=parcel.number,
            node=node,
            run=run,
            root=str(root),
            files=files,
            left_out=left_out,
        )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _sweep() -> None:
    """Remove the folders of workers that were killed in the midst of a trial."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        number = path.name.removeprefix(PREFIX).partition("-")[0]
        try:
            if not number.isascii() or not number.isdigit() or path.lstat().st_uid != os.getuid():
                continue
            os.kill(int(number), 0)
        except (ProcessLookupError, OverflowError):
            shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue


def _check(parcel: Parcel, node: str) -> None:
    if parcel.version != own_version():
        raise NodeError(
            node=node,
            problem=f"pytest-caesar {own_version()} runs there, and {parcel.version} here",
            remedy="install the same versions on both",
        )
    if not git_is_there():
        raise NodeError(node=node, problem="git is missing there", remedy="install it there")
    missing = missing_here(parcel.pass_env)
    if missing:
        raise NodeError(
            node=node,
            problem=f"{', '.join(missing)} is not set there",
            remedy="set it where the workers are started: values are never sent",
        )


def _unpack(parcel: Parcel, target: Path) -> Repository:
    bundle = target.with_suffix(".bundle")
    bundle.write_bytes(parcel.bundle)
    repository = Repository.create(target)
    repository.git("bundle", "unbundle", str(bundle))
    heads = repository.git("bundle", "list-heads", str(bundle)).splitlines()
    head = ""
    for line in heads:
        commit, _, name = line.partition(" ")
        if name.startswith("refs/"):
            repository.git("update-ref", name, commit)
        elif name == "HEAD":
            head = commit
    if parcel.head:
        repository.git("symbolic-ref", "HEAD", f"refs/heads/{parcel.head}")
        repository.git("reset", "--hard", "--quiet")
    else:
        repository.git("checkout", "--quiet", "--detach", head)
    bundle.unlink()
    return repository


def _agent(parcel: Parcel, root: Path) -> AgentTarget | str:
    """Write the shipped files, and have the agent's command name them."""
    places: dict[str, str] = {parcel.python: sys.executable}
    for number, (path, data) in enumerate(parcel.files.items()):
        place = root / "shipped" / str(number) / Path(path).name
        place.parent.mkdir(parents=True)
        place.write_bytes(data)
        place.chmod(0o755)
        places[path] = str(place)
    agent = parcel.agent
    if isinstance(agent, str):
        return places.get(agent, agent)
    if isinstance(agent, FunctionAgent):
        return agent  # refused before it was sent
    argv = tuple(places.get(part, part) for part in agent.argv)
    return replace(agent, argv=argv, project=str(root))


def _answers(parcel: Parcel) -> ScriptedAnswers | None:
    if parcel.answers is None:
        return None
    answers = ScriptedAnswers()
    for script in parcel.answers:
        kind, match, say = script["kind"], script["match"], script["say"]
        if kind == "answer":
            answers.on(match, say, after=script["after"], times=script["times"])
        elif kind == "reject":
            answers.reject(match, reason=say, after=script["after"], times=script["times"])
        else:
            answers.silence(match, after=script["after"], times=script["times"])
    return answers


def _ids(first: str) -> Callable[[], str]:
    found = [first]

    def new_id() -> str:
        found.append(f"{first}_{len(found) + 1}")
        return found[-2]

    return new_id


def _files(run: Run, root: Path) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Read the regular files of all task directories of a run."""
    found: dict[str, bytes] = {}
    left_out: list[str] = []
    size = 0
    for one in run.tree:
        for path in sorted(one.task_dir.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                continue
            name = path.relative_to(root).as_posix()
            status = path.lstat()
            size += status.st_size
            if path.is_symlink() or not path.is_file() or size > MAX_RETURNED:
                left_out.append(name)
                continue
            found[name] = path.read_bytes()
    return found, tuple(left_out)
