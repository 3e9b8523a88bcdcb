"""What an agent works on: the files of a repository, as a profile brings them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pytest_caesar.workspace.repository import Repository

MAX_FILES, MAX_BYTES = 2000, 64 * 2**20
"""Files and bytes that the folder of a profile may hold."""

_LEFT_OUT = {".git", ".caesar", "__pycache__"}


class RepositoryFilesError(ValueError):
    """The folder or the table cannot be made into a repository; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFiles:
    """Files of a repository.

    Attributes:
        files: content by path.
        programs: those of the paths that may be executed.
    """

    files: Mapping[str, str | bytes] = field(default_factory=dict)
    programs: frozenset[str] = frozenset()

    def commit_into(self, repository: Repository) -> None:
        """Commit the files; one at least, so that there is something to start from."""
        repository.commit(self.files or {"README.md": "Empty.\n"})
        if self.programs:
            for name in self.programs:
                (repository.path / name).chmod(0o755)
            repository.commit(message="Let programs be executed")

    def write_into(self, folder: Path) -> None:
        """Write the files into a folder that need not be there yet."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            if name in self.programs:
                path.chmod(0o755)


def from_table(files: Mapping[str, str]) -> RepositoryFiles:
    """Take texts by path.

    Raises:
        RepositoryFilesError: a name is no path inside a repository, or a file and a folder at once.
    """
    plain = {str(PurePosixPath(name)) for name in files}
    for name in files:
        path = PurePosixPath(name)
        if not path.parts or path.is_absolute() or {"..", ".git", ".caesar"} & set(path.parts):
            raise RepositoryFilesError(f"names {name!r}: expected a path inside the repository")
        above = next((str(one) for one in path.parents if str(one) in plain), None)
        if above is not None:
            raise RepositoryFilesError(
                f"names {name!r} and {above!r}: one of them cannot be a file"
            )
    return RepositoryFiles(files=dict(files))


def from_folder(folder: Path) -> RepositoryFiles:
    """Take what lies in a folder, without links and without git's own.

    Raises:
        RepositoryFilesError: it is none, holds too much, or cannot be read.
    """
    if not folder.is_dir():
        raise RepositoryFilesError(f"there is no folder {folder}")
    files: dict[str, str | bytes] = {}
    programs = set()
    size = 0
    try:
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if _LEFT_OUT & set(parts) or path.is_symlink() or not path.is_file():
                continue
            name = path.relative_to(folder).as_posix()
            files[name] = data = path.read_bytes()
            size += len(data)
            if path.stat().st_mode & 0o100:
                programs.add(name)
            if len(files) > MAX_FILES or size > MAX_BYTES:
                raise RepositoryFilesError(
                    f"it holds more than {MAX_FILES} files or {MAX_BYTES} bytes: give a smaller "
                    "one, it is copied for every delegation"
                )
    except OSError as error:
        raise RepositoryFilesError(f"it cannot be read: {error}") from error
    return RepositoryFiles(files=files, programs=frozenset(programs))
