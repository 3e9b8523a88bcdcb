"""What ``[worktree]`` puts into a fresh worktree: copies, links, and what setup makes."""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from subprocess import Popen
from typing import Literal

from caesar_agent.clock import monotonic, pause
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.task_directory import TaskDirectory, write_atomic
from pytest_caesar.workspace.copying import copy_file
from pytest_caesar.workspace.errors import PlacingError, SetupFailedError
from pytest_caesar.workspace.git_environment import scrubbed_environment
from pytest_caesar.workspace.repository_state import Checkout, check_ignored
from pytest_caesar.workspace.state_before import read_plain_file
from pytest_caesar.workspace.values import WorkspaceRequest

Key = Literal["copy", "link"]

OUTPUT_TAIL = 4000
"""Bytes of the output of a failed setup command that are told."""

KILL_TIMEOUT = 2.0
"""Seconds between SIGTERM and SIGKILL for a setup command that took too long."""


def check(request: WorkspaceRequest) -> None:
    """Refuse paths that must not be placed; PlacingError names the first."""
    for key, path in _wanted(request):
        parts = PurePosixPath(path).parts
        problem = (
            "is empty"
            if not path.strip() or not parts
            else "is absolute"
            if path.startswith("/")
            else "leads out of the project"
            if ".." in parts
            else "belongs to git or to the orchestrator"
            if parts[0].lower() in (".git", ".caesar")
            else "holds a control character"
            if not path.isprintable() and any(ord(char) < 32 for char in path)
            else ""
        )
        if problem:
            raise PlacingError(key=key, path=path, problem=problem)


def place(
    request: WorkspaceRequest, checkout: Checkout, folder: Path
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Copy and link the configured paths from the project into ``folder``.

    Args:
        request: what is configured.
        checkout: of the project.
        folder: the workspace in the fresh worktree.

    Returns:
        The paths that were placed, and one diagnostic for each that was not.
    """
    wanted = [(key, posixpath.normpath(path)) for key, path in _wanted(request)]
    if not wanted:
        return (), ()
    tracked, ignored = _known_to_git(checkout, [path for _, path in wanted])
    source = checkout.top / checkout.prefix
    placed: list[str] = []
    remarks: list[Diagnostic] = []
    for key, path in wanted:
        problem = (
            "it does not exist in the project"
            if not os.path.lexists(source / path)
            else "git tracks it, so it is in the worktree already"
            if path in tracked
            else "git does not ignore it, so it would count as the agent's work"
            if path not in ignored
            else _obstacle(folder, path)
        )
        if problem:
            remarks.append(_skipped(key, path, problem))
            continue
        try:
            remarks += _put(key, source / path, folder / path, path)
        except (OSError, shutil.Error) as error:
            remarks.append(_skipped(key, path, f"it could not be placed ({error})"))
        if os.path.lexists(folder / path):
            placed.append(path)
    return tuple(placed), tuple(remarks)


def run_setup(request: WorkspaceRequest, folder: Path) -> None:
    """Run the setup commands one after the other, all within ``request.setup_timeout``.

    Raises:
        SetupFailedError: one failed or there was no time left; nothing of it runs on.
    """
    end = monotonic() + request.setup_timeout
    for command in request.setup:
        with tempfile.TemporaryFile() as output:
            process = Popen(
                ["/bin/sh", "-c", command],
                cwd=folder,
                env=_setup_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                exit_code = _wait(process, end, request.cancelled)
            finally:
                _end_group(process)
            if exit_code == 0:
                continue
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - OUTPUT_TAIL))
            raise SetupFailedError(
                command=command,
                exit_code=exit_code,
                timeout=request.setup_timeout,
                cancelled=request.cancelled(),
                output=output.read().decode("utf-8", "replace"),
            )


def record(request: WorkspaceRequest, folder: Path, placed: tuple[str, ...]) -> None:
    """Write ``placed.json``, so that a later diff or apply leaves these paths out too."""
    document = {"task_id": request.task_id, "workspace": str(folder), "placed": list(placed)}
    text = json.dumps(document, indent=2) + "\n"
    write_atomic(TaskDirectory(request.task_directory).placed_file, text.encode(), durable=False)


def read_placed(task_directory: TaskDirectory) -> tuple[str, ...]:
    """Return what ``placed.json`` lists; nothing when there is none or it cannot be read."""
    try:
        found = json.loads(read_plain_file(task_directory.placed_file) or b"{}")
        return tuple(str(path) for path in found.get("placed", ()))
    except (ValueError, AttributeError, TypeError):
        return ()


def _wanted(request: WorkspaceRequest) -> list[tuple[Key, str]]:
    copies: list[tuple[Key, str]] = [("copy", path) for path in request.copy]
    links: list[tuple[Key, str]] = [("link", path) for path in request.link]
    return copies + links


def _known_to_git(checkout: Checkout, paths: list[str]) -> tuple[set[str], set[str]]:
    full = {posixpath.join(checkout.prefix, path): path for path in paths}
    records = checkout.git.run("ls-files", "-z", "--", *full).records
    listed = [os.fsdecode(record) for record in records]
    tracked = {
        path
        for name, path in full.items()
        if any(entry == name or entry.startswith(f"{name}/") for entry in listed)
    }
    ignored = check_ignored(checkout.git, [os.fsencode(name) for name in full])
    return tracked, {full[os.fsdecode(name)] for name in ignored}


def _obstacle(folder: Path, path: str) -> str:
    """Tell what stands where ``path`` should go."""
    parents = list(PurePosixPath(path).parents)[:-1]
    for parent in reversed(parents):
        place = folder / parent
        if place.is_symlink():
            return f"{parent} is a symbolic link in the worktree"
        if os.path.lexists(place) and not place.is_dir():
            return f"{parent} is not a folder in the worktree"
    if os.path.lexists(folder / path):
        return "something is there already"
    return ""


def _put(key: Key, source: Path, target: Path, path: str) -> list[Diagnostic]:
    target.parent.mkdir(parents=True, exist_ok=True)
    if key == "link":
        target.symlink_to(source)
        return [
            Diagnostic(
                code="path-shared",
                message=f"[worktree] link: {path} is shared with the project; what the agent "
                "writes there is written in both.",
                path=path,
            )
        ]
    mode = source.lstat().st_mode
    if stat.S_ISDIR(mode):
        shutil.copytree(source, target, symlinks=True, copy_function=copy_file)
    elif stat.S_ISREG(mode) or stat.S_ISLNK(mode):
        copy_file(os.fspath(source), os.fspath(target))
    else:
        return [_skipped(key, path, "it is neither a file nor a folder")]
    return []


def _skipped(key: Key, path: str, problem: str) -> Diagnostic:
    return Diagnostic(
        code="path-not-placed",
        message=f"[worktree] {key}: {path} was not placed: {problem}.",
        path=path,
    )


def _setup_environment() -> dict[str, str]:
    """Return the user's environment: setup is the user's, but no GIT_* of ours may redirect it."""
    environment = scrubbed_environment()
    for name in list(environment):
        if name in os.environ:
            environment[name] = os.environ[name]
        elif name.startswith("GIT_") or name == "LC_ALL":
            del environment[name]
    return environment


def _wait(
    process: subprocess.Popen[bytes], end: float, cancelled: Callable[[], bool] = lambda: False
) -> int | None:
    """Return the exit code, or None when the time is over, or nobody wants it any more."""
    wait = 0.001
    while (exit_code := process.poll()) is None:
        if monotonic() >= end or cancelled():
            return None
        pause(wait)
        wait = min(wait * 2, 0.05)
    return exit_code


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End whatever a setup command left, so that nothing writes beside the agent."""
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        _wait(process, monotonic() + KILL_TIMEOUT)
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    end = monotonic() + KILL_TIMEOUT
    _wait(process, end)
    while _runs(process.pid) and monotonic() < end:
        pause(0.002)


def _runs(group: int) -> bool:
    """Tell whether something of a process group still runs; the dead may wait to be reaped."""
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    import psutil  # noqa: PLC0415 - only where setup left something

    for pid in psutil.pids():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(pid) == group and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return True
    return False
