"""Why a workspace could not be made."""

from __future__ import annotations

from caesar_agent.console import printable
from caesar_agent.errors import CaesarError


class IsolationError(CaesarError):
    """A workspace could not be prepared; nothing was left behind.

    Subclasses name the cause and what to do about it.
    """

    __module__ = "pytest_caesar"


class MissingFolderError(IsolationError):
    """The folder to work on does not exist or is not a folder.

    Attributes:
        folder: as it was given.
        problem: what is there instead.
    """

    folder: str
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return f"the workspace {self.folder} {self.problem}. Give a folder that exists."


class RepositoryError(IsolationError):
    """Git cannot work with the repository that was found.

    Attributes:
        folder: where it was looked for.
        problem: a sentence on what is wrong.
    """

    folder: str
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"the git repository at {self.folder} cannot be used: {self.problem} "
            "Repair it (git status must work there) and try again."
        )


class WorktreeImpossibleError(IsolationError):
    """A worktree was asked for by name where none can be made.

    Attributes:
        folder: the project.
        problem: why not.
        remedy: what to do.
    """

    folder: str
    problem: str
    remedy: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return f"isolation 'worktree' is impossible in {self.folder}: {self.problem}. {self.remedy}"


class BaseRefError(IsolationError):
    """The commit that the work should start from is unknown.

    Attributes:
        folder: the workspace.
        name: as it was given.
    """

    folder: str
    name: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"base_ref {self.name!r} is not a commit of the repository at {self.folder}. "
            'Give a full SHA, or "" for a repository without a commit.'
        )


class OccupiedError(IsolationError):
    """What a worktree needs is already taken.

    Attributes:
        what: the path or ref that is in the way.
        remedy: what to do.
    """

    what: str
    remedy: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return f"{self.what} is in the way of the worktree. {self.remedy}"


class StorageError(IsolationError):
    """The file system refused what a workspace needs: it is full, or read-only, say.

    Attributes:
        folder: the project.
        problem: what the system said.
    """

    folder: str
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"no workspace could be made for {self.folder}: {self.problem}. "
            "Make room or give write access, then try again."
        )


class BusyError(IsolationError):
    """Another task writes in the same tree.

    Attributes:
        folder: the tree.
        task_id: who wants to write.
        holder: who writes, as far as known.
    """

    folder: str
    task_id: str
    holder: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"task {self.task_id} cannot write in {self.folder}: {self.holder} works there. "
            "Wait until it has ended, or ask for isolation 'worktree'."
        )


class PlacingError(IsolationError):
    """A path of ``[worktree] copy`` or ``link`` is not one that may be placed.

    Attributes:
        key: ``copy`` or ``link``.
        path: as configured.
        problem: what is wrong with it.
    """

    key: str
    path: str
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"[worktree] {self.key} holds {self.path!r}, which {self.problem}. "
            "Give a path inside the project, relative to it."
        )


class SetupFailedError(IsolationError):
    """A command of ``[worktree] setup`` failed or took too long.

    Attributes:
        command: as configured.
        exit_code: negative for a signal; None when it took too long.
        timeout: seconds allowed for all of ``setup``.
        cancelled: the delegation was cancelled meanwhile.
        output: the end of what it printed.
    """

    command: str
    exit_code: int | None
    timeout: float
    cancelled: bool = False
    output: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        how = (
            "was stopped: the delegation was cancelled"
            if self.cancelled and self.exit_code is None
            else f"ended with exit code {self.exit_code}"
            if self.exit_code is not None
            else f"did not end within {self.timeout:g} s, the bound for all of setup"
        )
        output = printable(self.output.rstrip(), keep="\n\t")
        said = f" It printed:\n{output}" if output.strip() else ""
        return f"[worktree] setup command {self.command!r} {how}.{said}"


class UnrecordedWorkError(IsolationError):
    """A worktree holds work that is recorded nowhere, so it was kept.

    Attributes:
        folder: the worktree.
        problem: what would be lost.
    """

    folder: str
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return f"the worktree {self.folder} was kept: {self.problem}."


class SandboxedGitError(IsolationError):
    """A repository cannot be shown to a sandbox in parts.

    Attributes:
        repository: its top level.
    """

    repository: str

    def message(self) -> str:
        """Say what was found, where, and what to do."""
        return (
            f"the repository at {printable(self.repository)} keeps its refs in the reftable "
            "format, of which a sandbox cannot show a part. Run with sandbox 'none', or in a "
            "clone whose refs are files (git clone --ref-format=files)."
        )
