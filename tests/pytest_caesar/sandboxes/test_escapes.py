"""Every try to get out fails, and nothing outside is another."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import pytest_caesar
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.sandboxes import escapes

SHARED_MEMORY = 0x0CAE5A00 + os.getpid() % 256
IPC_CREAT, IPC_RMID = 0o1000, 0


@dataclass(frozen=True)
class Tried:
    run: Run
    achieved: dict[str, str]
    before: dict[str, tuple[int, bytes]]
    after: dict[str, tuple[int, bytes]]


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return mode and content of every file outside the worktree of the task."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and ".caesar/wt/t_" not in str(path)
        and "worktrees/t_" not in str(path)
        and ".caesar/tasks" not in str(path)
    }


@pytest.fixture(scope="module")
def listening() -> Iterator[dict[str, str]]:
    with (
        socket.create_server(("127.0.0.1", 0)) as ipv4,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as ipv6,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        name = f"caesar-escape-{os.getpid()}"
        abstract.bind("\0" + name)
        abstract.listen()
        yield {
            "port": str(ipv4.getsockname()[1]),
            "port6": str(ipv6.getsockname()[1]),
            "abstract": name,
        }


@pytest.fixture(scope="module")
def tried(
    bubblewrap: str, tmp_path_factory: pytest.TempPathFactory, listening: dict[str, str]
) -> Tried:
    base = tmp_path_factory.mktemp("escapes")
    repository = Repository.create(base / "repo")
    repository.commit({"a.txt": "one\n"})
    repository.git("worktree", "add", "-q", "-b", "other", str(base / "repo" / ".caesar/wt/other"))
    hidden, outside = base / "hidden", base / "outside.txt"
    hidden.mkdir()
    (hidden / "secret").write_text("hidden")
    outside.write_text("outside")
    (base / "repo" / ".caesar" / "config.toml").write_text(
        f'[policy]\nhide = ["{hidden}"]\nsandbox_read = ["{base / "repo"}"]\n'
    )
    libc = ctypes.CDLL(None)
    shared = libc.shmget(SHARED_MEMORY, 4096, 0o600 | IPC_CREAT)
    places = {
        **listening,
        "project": str(repository.path),
        "git": str(repository.path / ".git"),
        "other": str(repository.path / ".caesar/wt/other"),
        "tests": str(Path(escapes.__file__).parent),
        "harness": str(Path(pytest_caesar.__file__).parent),
        "home": str(Path.home()),
        "hidden": str(hidden),
        "tmp": str(outside),
        "socket": str(base / "socket"),
        "pids": f"{os.getpid()} {os.getppid()}",
        "shm": str(SHARED_MEMORY),
    }
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(places["socket"])
        server.listen()
        before = state(repository.path)
        run = Orchestrator(
            f"{sys.executable} {escapes.__file__}", project=repository.path
        ).delegate("get out", sandbox=bubblewrap, network="off", task_fields={"x_places": places})
    libc.shmctl(shared, IPC_RMID, None)
    written = run.task_dir / "achieved.json"
    achieved = json.loads(written.read_text()) if written.exists() else {}
    return Tried(run, achieved, before, state(repository.path))


@pytest.mark.parametrize("name", escapes.TRIES)
def test_a_try_to_get_out_fails(tried: Tried, name: str) -> None:
    assert tried.achieved[name] == "", tried.run.task_dir / "raw.log"


def test_nothing_outside_is_another_after_it(tried: Tried) -> None:
    assert {name: tried.after.get(name) for name in tried.before} == tried.before
    ours = ("refs/caesar/", "refs/heads/caesar/", "logs/refs/heads/caesar/")
    new = [name.removeprefix(".git/") for name in tried.after.keys() - tried.before.keys()]
    assert [name for name in new if not name.startswith(ours)] == [".caesar/wt/.gitignore"]


def test_the_run_says_what_it_was_made_in(tried: Tried) -> None:
    assert tried.run.sandbox is not None
    assert tried.run.sandbox.name == "bubblewrap"
    assert "objects" in tried.run.sandbox.held
    assert tried.run.task.network is False
    assert not {"network-not-guaranteed", "project-changed"} & set(tried.run.codes)


def test_there_are_forty_of_them_and_they_are_real(tmp_path: Path) -> None:
    assert len(escapes.TRIES) >= 40
    # The same functions do what they say where nothing holds them.
    (tmp_path / "a.txt").write_text("one\n")
    escapes.PLACES.update(project=str(tmp_path))
    assert escapes.writes_the_project() == f"wrote {tmp_path}/a.txt"
    assert escapes.creates_in_the_project()
    assert escapes.changes_modes_of_the_project()
    assert escapes.maps_a_file_of_the_project()
