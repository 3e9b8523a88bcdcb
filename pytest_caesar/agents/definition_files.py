"""Read definition files from folders, for the checks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.together import check_files
from pytest_caesar.agents.discovery import FAMILIES, MAX_DEFINITION_BYTES, read_bytes

_SUFFIX = ".md"


def definition_folders(project: Path) -> tuple[Path, ...]:
    """Return the folders of a project that hold definitions, highest family first."""
    folders = (project / family / "agents" for family in FAMILIES)
    return tuple(folder for folder in folders if folder.is_dir())


def read_definition_files(paths: Iterable[Path]) -> dict[Path, bytes]:
    """Read the markdown files of folders, and files that are named themselves.

    Args:
        paths: folders (looked through with all folders below, links not followed) and
            files, in order of precedence.

    Returns:
        File to bytes, cut after 4 MiB; what is no regular file or cannot be read is left out.
    """
    found: dict[Path, bytes] = {}
    for path in paths:
        files = [path] if not path.is_dir() else _markdown_below(path)
        for file in files:
            with suppress(OSError):
                found[file] = read_bytes(file)[:MAX_DEFINITION_BYTES]
    return found


def check_paths(
    paths: Iterable[Path], *, relative_to: Path | None = None, entry: str = "*"
) -> dict[Path, tuple[Complaint, ...]]:
    """Check the definitions of folders and files, one by one and together.

    Args:
        paths: as for ``read_definition_files``.
        relative_to: paths in complaints are shown from this folder where they lie in it.
        entry: whom the main session may start, as ``spawns`` says it.

    Returns:
        Every file that was read, with its complaints; none for a sound one.
    """
    files = read_definition_files(paths)
    names = {_shown(file, relative_to): file for file in files}
    found = check_files({name: files[file] for name, file in names.items()}, entry=entry)
    return {names[name]: complaints for name, complaints in found.items()}


def _shown(file: Path, folder: Path | None) -> str:
    if folder is not None and file.is_relative_to(folder):
        return file.relative_to(folder).as_posix()
    return str(file)


def _markdown_below(folder: Path) -> list[Path]:
    files: list[Path] = []
    for name, folders, names in os.walk(folder):
        folders.sort()
        files += [Path(name) / file for file in sorted(names) if file.endswith(_SUFFIX)]
    return files
