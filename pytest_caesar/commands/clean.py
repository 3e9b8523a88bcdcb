"""``pytest-caesar clean``: remove what finished delegations left in a repository."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caesar_agent.console import one_line, printable
from caesar_agent.errors import CaesarError
from pytest_caesar.files.removal import remove_tree
from pytest_caesar.orchestrator.project_root import caesar_root
from pytest_caesar.orchestrator.request import check_task_id
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.record import Record, RecordError, read_record
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.leftovers import Leftover, Leftovers

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers


OF_A_RUN = ("task.json", "run.json", "raw.log")
"""Files that an orchestrator puts into every task directory; one of them is enough."""

NOBODYS = (
    "no run made this folder: it holds neither " + ", ".join(OF_A_RUN[:-1]) + f" nor {OF_A_RUN[-1]}"
)
"""Why a folder beside the task directories is kept, also by force."""


class LinkError(CaesarError):
    """A link is in the place of a folder of ours.

    Attributes:
        folder: where it is.
    """

    folder: Path

    def message(self) -> str:
        """Say what was found, and what to do."""
        return (
            f"{self.folder} is a link, and nothing behind it is removed; put the folder back, "
            "or clean up without --tasks"
        )


class NoTaskError(CaesarError):
    """A path that was given is not the folder of a task.

    Attributes:
        path: as it was given.
        problem: what is wrong with it.
    """

    path: Path
    problem: str

    def message(self) -> str:
        """Say what was found, where, and what was expected."""
        return f"{self.path}: {self.problem}; expected a folder such as .caesar/tasks/t_0001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What became of one task.

    Attributes:
        task_id: whose.
        removed: in words, or nothing.
        kept: why all of it was kept, or "".
    """

    task_id: str
    removed: tuple[str, ...] = ()
    kept: str = ""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "clean",
        help="remove the worktrees and branches of finished delegations",
        description="Remove worktree, branch and refs of delegations that have ended and whose "
        "patch is saved. What is recorded nowhere is kept, and said. "
        "Exit code: 0 when nothing was kept, 1 when something was, 2 for usage.",
    )
    parser.add_argument(
        "task_dir", metavar="TASK_DIR", type=Path, nargs="*",
        help="the tasks to clean up after (default: all of the repository)",
    )  # fmt: skip
    parser.add_argument(
        "--repo", type=Path, metavar="DIR",
        help="the repository (default: the one around the current folder)",
    )  # fmt: skip
    parser.add_argument(
        "--tasks", action="store_true",
        help="remove the task directories too, with reports, logs and patches",
    )  # fmt: skip
    parser.add_argument(
        "--force", action="store_true",
        help="remove work that is recorded nowhere too; let no agent be running",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Clean up, and tell what was removed and what was kept."""
    here: Path = (args.repo or _named_root(args.task_dir) or Path.cwd()).absolute()
    if not here.is_dir():
        raise DelegationError(problem=f"{here} is not a folder")
    root = caesar_root(here)
    tasks = root / ".caesar" / "tasks"
    if args.tasks:
        _refuse_links(tasks)
    cleaning = _Cleaning(tasks, force=args.force, tasks_too=args.tasks)
    ids = [_task_id(path, tasks) for path in args.task_dir] or cleaning.task_ids()
    cleaned = [one for ident in dict.fromkeys(ids) if (one := cleaning.clean(ident))]
    if args.json:
        sys.stdout.write(json.dumps({"tasks": [_as_json(one) for one in cleaned]}, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _as_lines(cleaned)))
    return 1 if any(one.kept for one in cleaned) else 0


class _Cleaning:
    """Cleans up after tasks of one folder, whichever checkouts they were delegated on."""

    def __init__(self, tasks: Path, *, force: bool, tasks_too: bool) -> None:
        self._tasks = tasks
        self._root = tasks.parent.parent
        self._force = force
        self._tasks_too = tasks_too
        self._found: dict[Path, Leftovers] = {self._root: Leftovers(self._root)}

    def task_ids(self) -> list[str]:
        """Return every task that has a folder, a worktree or a ref."""
        ids = set(self._found[self._root].task_ids())
        with contextlib.suppress(OSError):
            ids |= {entry.name for entry in self._tasks.iterdir() if entry.name != ".gitignore"}
        return sorted(ident for ident in ids if _is_safe(ident))

    def clean(self, task_id: str) -> Cleaned | None:
        """Clean up after one task; None when there is nothing of it."""
        folder = self._tasks / task_id
        record, problem = self._record(folder)
        leftovers = self._leftovers(record)
        saved = record.saved if record else None
        leftover = leftovers.of(task_id, saved.branch if saved else None)
        with_folder = self._tasks_too and folder.is_dir()
        if with_folder and not _made_by_a_run(folder):
            with_folder = False
            if not leftover:
                return Cleaned(task_id=task_id, kept=NOBODYS)
        if not leftover and not with_folder:
            return None
        if not self._force:
            kept = problem or self._unsaved(leftovers, leftover, record)
            if kept:
                return Cleaned(task_id=task_id, kept=kept)
        kept = leftovers.locked(leftover, force=self._force)
        if kept:
            return Cleaned(task_id=task_id, kept=kept)
        try:
            removed = leftovers.clear(leftover)
        except GitError as error:
            return Cleaned(task_id=task_id, kept=one_line(str(error), limit=300))
        if with_folder:
            if not remove_tree(folder):
                why = f"{folder} could not be removed, or not all of it"
                return Cleaned(task_id=task_id, removed=removed, kept=why)
            removed += ("task directory",)
        return Cleaned(task_id=task_id, removed=removed)

    def _record(self, folder: Path) -> tuple[Record | None, str]:
        if folder.is_symlink():
            return None, "a link is in the place of its task directory"
        try:
            record = read_record(folder)
        except RecordError as error:
            return None, error.problem
        if record.task_id != folder.name:
            return None, f"its record is that of task {record.task_id}"
        return record, ""

    def _leftovers(self, record: Record | None) -> Leftovers:
        """Return those of the checkout that the worktree was made from, if it is still ours."""
        main = self._found[self._root]
        if record is None or record.repository is None or not record.repository.is_dir():
            return main
        top = record.repository
        if top not in self._found:
            try:
                self._found[top] = Leftovers(top)
            except CaesarError:  # what was a checkout once need not be one now
                self._found[top] = main
        found = self._found[top]
        return found if found.common_dir == main.common_dir else main

    @staticmethod
    def _unsaved(leftovers: Leftovers, leftover: Leftover, record: Record | None) -> str:
        if not leftover or record is None:
            return ""
        if not record.verified:
            return "git could not verify what it changed, so no patch is saved"
        if record.saved is None:
            return "its record does not say what was made for it"
        return leftovers.unsaved(leftover, record.saved)


def _refuse_links(tasks: Path) -> None:
    """Refuse to look for task directories behind a link: whose folders those are is unknown.

    Raises:
        LinkError: ``.caesar`` or the folder of the tasks is one.
    """
    for folder in (tasks.parent, tasks):
        if folder.is_symlink():
            raise LinkError(folder=folder)


def _made_by_a_run(folder: Path) -> bool:
    """Tell whether an orchestrator made a folder: one of its files is there."""
    return not folder.is_symlink() and any(
        (folder / name).is_file() and not (folder / name).is_symlink() for name in OF_A_RUN
    )


def _named_root(paths: list[Path]) -> Path | None:
    """Return the folder that holds the ``.caesar`` of the tasks that were named."""
    return paths[0].absolute().parent.parent.parent if paths else None


def _task_id(path: Path, tasks: Path) -> str:
    folder = path.absolute()
    if not folder.is_dir():
        raise NoTaskError(path=path, problem="there is no such folder")
    if folder.parent.resolve() != tasks.resolve() or not _is_safe(folder.name):
        raise NoTaskError(path=path, problem=f"it is not the folder of a task in {tasks}")
    return folder.name


def _is_safe(ident: str) -> bool:
    try:
        return bool(check_task_id(ident))
    except DelegationError:
        return False


def _as_json(one: Cleaned) -> dict[str, Any]:
    return {"task_id": one.task_id, "removed": list(one.removed), "kept": one.kept or None}


def _as_lines(cleaned: list[Cleaned]) -> list[str]:
    lines = []
    for one in cleaned:
        lines.append(f"{'kept' if one.kept else 'removed':<8} {printable(one.task_id)}")
        lines += [f"  {one_line(text, limit=400)}" for text in (*one.removed, one.kept) if text]
    if any(one.kept and one.kept != NOBODYS for one in cleaned):
        lines.append("What was kept can be looked at where it is, or removed with --force.")
    return lines or ["There is nothing to clean up."]
