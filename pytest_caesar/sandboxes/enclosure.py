"""The sandbox of one task: what it shows to the agent, and to the gates after it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.sandboxes.invariants import OF_NETWORK, SandboxUse
from pytest_caesar.sandboxes.needed_paths import hidden_paths, needed_paths
from pytest_caesar.sandboxes.probe import Proof
from pytest_caesar.sandboxes.sandbox import SandboxError, View
from pytest_caesar.supervision.sandboxing import Sandboxing
from pytest_caesar.supervision.supervisor import ProcessSpec
from pytest_caesar.workspace.own_git import REAL_OBJECTS, OwnGit, own_git
from pytest_caesar.workspace.values import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class PathRules:
    """What ``[policy]`` says of paths in a sandbox; relative ones begin at the project.

    Attributes:
        read: shown also where they are hidden.
        write: may be written.
        hide: look empty.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()

    def by_setting(self) -> dict[str, tuple[str, ...]]:
        """Return them by the names of their settings."""
        return {"sandbox_read": self.read, "sandbox_write": self.write, "hide": self.hide}


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """What all programs that work on one task run in.

    Attributes:
        proof: of the sandbox.
        folder: of its own, on the host; removed with the task.
        workspace: real path of where the agent works.
        task_dir: of the task.
        shown: what else of the project is needed to read.
        git: what is shown of the repository.
        read, write, hide: what the project says.
        closed: what of the workspace may only be read.
        workspace_writable: the agent may write its workspace.
        network: the task has it.
    """

    proof: Proof
    folder: Path
    workspace: Path
    task_dir: Path
    shown: tuple[Path, ...] = ()
    git: OwnGit = field(default_factory=OwnGit)
    read: tuple[Path, ...] = ()
    write: tuple[Path, ...] = ()
    hide: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()
    workspace_writable: bool = True
    network: bool = False

    @property
    def name(self) -> str:
        """Name of the sandbox."""
        return self.proof.sandbox.name

    @property
    def closes_project(self) -> bool:
        """Whether nothing of the project but the workspace can be written."""
        return {"project", "hooks", "objects"} <= set(self.proof.held) and not self.write

    @property
    def use(self) -> SandboxUse:
        """What a run says of it."""
        held = self.proof.held
        if self.network:
            held = tuple(name for name in held if name not in OF_NETWORK)
        return SandboxUse(name=self.name, version=self.proof.version, held=held)

    def around(
        self,
        spec: ProcessSpec,
        *,
        writable: Iterable[Path] = (),
        more: Iterable[Path | str | None] = (),
        listen: Mapping[int, Callable[[socket.socket], None]] | None = None,
        tree_only: bool = False,
    ) -> ProcessSpec:
        """Return what runs a program in the sandbox.

        Args:
            spec: what runs it without.
            writable: folders of this program alone, such as its ``HOME``.
            more: what else it needs to read.
            listen: ports of the loopback that are to be served from outside, and who takes the
                listening sockets.
            tree_only: the workspace is all of the task that it sees; for gates.
        """
        sandbox = self.proof.sandbox
        command = tuple(sandbox.command(self._view(spec, writable, more, tree_only=tree_only)))
        if not sandbox.monitor_inside:
            return replace(spec, argv=(*command, *spec.argv))
        served = {} if self.network else dict(listen or {})
        return replace(spec, sandbox=Sandboxing(sandbox.name, command, served))

    def _view(
        self,
        spec: ProcessSpec,
        writable: Iterable[Path],
        more: Iterable[Path | str | None],
        *,
        tree_only: bool,
    ) -> View:
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        mine = [Path(os.path.realpath(path)) for path in writable]
        mine += [] if tree_only else [self.task_dir]
        tree = [self.workspace]
        own = [*self.git.writable, *self.write]
        closed = [*self.git.read_only, *self.closed]
        if not self.workspace_writable:
            closed, tree = [*tree, *closed], []
        needed = needed_paths(
            spec.argv,
            spec.env,
            (*self.shown, *self.git.readable, *self.read, self.task_dir, *more),
        )
        ours = {*tree, *mine, *own}

        def covered(path: Path) -> bool:
            """Tell whether a path is shown already, as one that may be written."""
            return path in ours or not ours.isdisjoint(path.parents)

        home = Path(os.environ.get("HOME") or Path.home())
        hidden = [path for path in (*hidden_paths(home), *self.hide) if path not in mine]
        return View(
            temporary=temporary,
            writable=tuple(path for path in dict.fromkeys((*tree, *mine, *own)) if path.exists()),
            read_only=tuple(path for path in closed if path.exists()),
            readable=tuple(path for path in needed if path.exists() and not covered(path)),
            hidden=tuple(dict.fromkeys(Path(os.path.realpath(path)) for path in hidden)),
            overlays=self.git.overlays,
            shown=((self.git.objects, REAL_OBJECTS),) if self.git.objects else (),
            network=self.network,
        )

    def take_over(self) -> list[Diagnostic]:
        """Bring what was committed inside into the repository; see ``OwnGit.take_over``."""
        return self.git.take_over()


def enclose(  # noqa: PLR0913 - each is said of one task
    proof: Proof,
    workspace: Workspace,
    *,
    task_dir: Path,
    folder: Path,
    project: Path,
    shown: Iterable[Path | None] = (),
    rules: PathRules,
    read_only: bool = False,
    network: bool = False,
) -> Enclosure:
    """Make ready what a sandbox shows for one task.

    Args:
        proof: of the sandbox.
        workspace: as it was prepared.
        task_dir: of the task.
        folder: empty, on the host, until the gates are through.
        project: what is delegated on.
        shown: what else of the project is needed to read.
        rules: what the project says of paths.
        read_only: the task is; a workspace that is the user's own cannot be written then.
        network: the task has it.

    Raises:
        SandboxError: a path does not exist.
        IsolationError: the repository cannot be shown in parts.
    """
    (folder / "git").mkdir()
    before = workspace.snapshot
    git = (before.common_dir, before.git_dir) if before is not None else ()
    around = (project, workspace.project_repository, workspace.repository, *git, *shown)
    paths = {
        setting: tuple(_existing(text, project, setting, proof.sandbox.name) for text in texts)
        for setting, texts in rules.by_setting().items()
    }
    own = Path(os.path.realpath(workspace.path / ".caesar"))
    return Enclosure(
        proof=proof,
        folder=folder,
        workspace=Path(os.path.realpath(workspace.path)),
        task_dir=task_dir,
        shown=tuple(path for path in around if path is not None),
        git=own_git(workspace, folder / "git"),
        read=paths["sandbox_read"],
        write=paths["sandbox_write"],
        hide=paths["hide"],
        closed=(own,) if workspace.isolation == "inplace" else (),
        workspace_writable=not (read_only and workspace.isolation == "inplace"),
        network=network,
    )


def _existing(text: str, project: Path, setting: str, name: str) -> Path:
    path = Path(os.path.realpath(project / Path(text).expanduser()))
    if not path.exists():
        raise SandboxError(
            name=name,
            problem=f"[policy] {setting} names {text!r}, and {path} does not exist",
            remedy="correct the path in .caesar/config.toml, or make it",
        )
    return path
