"""Which git is run: found once, before the first agent, and the same one ever after."""

from __future__ import annotations

import functools
import os
import shutil
from dataclasses import dataclass


class GitProgramError(Exception):
    """No git was found, or another one took its place; the text says which."""


@dataclass(frozen=True, slots=True)
class GitProgram:
    """The git that was found.

    Attributes:
        path: absolute.
        mark: fingerprint of the file that it leads to.
    """

    path: str
    mark: tuple[int, ...]


@functools.cache
def find_git() -> GitProgram:
    """Look for git on PATH; what is found the first time is the answer for this process.

    An agent may be able to write into a folder that comes earlier on PATH (``~/.local/bin``,
    the ``bin`` of a virtual environment), and would then decide what is observed.

    Raises:
        GitProgramError: there is none; the next call looks again.
    """
    # Git runs in other folders than this one, where a relative entry of PATH means another.
    found = shutil.which("git")
    if found is None:
        raise GitProgramError(
            "no program called git is on PATH: install git, or put it on PATH, and try again"
        )
    path = os.path.abspath(found)  # noqa: PTH100 - a wrapper may look at its own name
    return GitProgram(path, _mark(path))


def checked_git() -> str:
    """Return the path of the git that was found first.

    Raises:
        GitProgramError: there is none, or its file is another one now.
    """
    git = find_git()
    if _mark(git.path) != git.mark:
        raise GitProgramError(
            f"{git.path} is another file than when it was found; "
            "if it was updated, start this program again"
        )
    return git.path


def _mark(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 - a string
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
