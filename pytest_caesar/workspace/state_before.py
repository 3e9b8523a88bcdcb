"""All that the orchestrator remembers of a repository from before the agent."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_caesar.workspace.remembered_files import InsideState

MAX_INDEX_BYTES = 2 << 30
"""Bytes of an index that is read; a million files take some 100 MB."""

MAX_RULE_BYTES = 16 << 20
"""Bytes read of one ``.gitignore`` or ``.gitattributes``; no honest one comes near."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A repository as it stood before the agent; kept in memory, out of its reach.

    Attributes:
        top: top level of the checkout.
        prefix: the workspace relative to ``top``, "" when it is the same folder.
        git_dir: the checkout's own git directory.
        common_dir: the git directory it shares with other checkouts.
        objects: folders that hold the objects of the baseline.
        index: bytes of an index whose entries are the baseline.
        index_time: when that index was written, in ns; entries as young are compared by content.
        tree: id of the baseline's tree.
        ahead: mode and object id that ``tree`` has of each path where ``index`` has another;
            mode ``000000`` where it has none.
        config, excludes, attributes, sparse: files of the observer's git directory.
        base_ref: commit that the work starts from, or None.
        head, head_name: where HEAD pointed.
        room: folder where a git directory may be made to look at the tree again.
        excluded: paths below which nothing is the agent's, relative to ``top``.
        nested: nested repositories that were already there.
        inside: states of these, and of the submodules that were checked out.
        closed: folders that nobody could look into already.
        first_index: bytes of the checkout's own index, as it was found.
        locked: its index was locked already.
        refs: branches, tags and the stash.
        marks: fingerprints of git's own files, by what they are called in a diagnostic.
        ignored: state of single ignored files, by path.
        git_named: fingerprints of what is called ``.git`` below ``top``.
        passed_over: folders that are ignored whole, or not the agent's.
        large: what ``lstat`` said of files that are too large for an index, by path.
        submodules: commit and state of each submodule, by path.
    """

    top: Path
    prefix: str
    git_dir: Path
    common_dir: Path
    objects: tuple[Path, ...]
    index: bytes
    index_time: int
    tree: str
    room: Path
    config: bytes
    excludes: bytes
    attributes: bytes
    sparse: bytes | None = None
    base_ref: str | None = None
    head: str | None = None
    head_name: str | None = None
    ahead: dict[bytes, tuple[str, str]] = field(default_factory=dict)
    excluded: tuple[bytes, ...] = ()
    nested: frozenset[bytes] = frozenset()
    inside: Mapping[bytes, InsideState] = field(default_factory=dict)
    closed: frozenset[bytes] = frozenset()
    first_index: bytes = b""
    locked: bool = False
    refs: dict[str, str] = field(default_factory=dict)
    marks: dict[str, object] = field(default_factory=dict)
    ignored: dict[bytes, tuple[int, ...]] = field(default_factory=dict)
    git_named: Mapping[bytes, bytes] = field(default_factory=dict)
    passed_over: frozenset[bytes] = frozenset()
    large: dict[bytes, tuple[int, ...]] = field(default_factory=dict)
    submodules: dict[bytes, tuple[str, str]] = field(default_factory=dict)


def read_plain_file(path: Path | str | bytes, limit: int = MAX_RULE_BYTES) -> bytes | None:
    """Return the first ``limit`` bytes of a regular file; None for anything else.

    Links are not followed and FIFOs are not waited for.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            # Python sets aside what it is asked for, so it is not asked for the limit.
            return file.read(min(limit, found.st_size))
    except OSError:
        return None
    finally:
        os.close(descriptor)


def is_within(path: bytes, folders: Iterable[bytes]) -> bool:
    """Tell whether ``path`` is one of ``folders`` or lies below one, by whole components."""
    return any(path == folder or path.startswith(folder + b"/") for folder in folders)


_SHAPING = (
    "core.autocrlf",
    "core.eol",
    "core.fileMode",
    "core.symlinks",
    "core.ignoreCase",
    "core.precomposeUnicode",
    "core.bigFileThreshold",
)
"""What the user's checkout looks like is the user's: conversions that follow from these
must give the same files, or every line would count as changed."""

_CHECKOUT_ONLY = (
    "core.protectNTFS",
    "core.protectHFS",
    "checkout.workers",
    "checkout.thresholdForParallelism",
)
"""What else of the user's holds where files are written."""


def observer_config(settings: Mapping[str, str], object_format: str) -> bytes:
    """Return the configuration of the observer's git directory.

    Args:
        settings: the user's effective settings, names in lower case.
        object_format: ``sha1`` or ``sha256``.
    """
    core = {
        # Names that are dangerous elsewhere are shown, not hidden.
        "core.protectNTFS": "false",
        "core.protectHFS": "false",
        "core.looseCompression": "1",
        "core.fsync": "none",
        # The agent's would win over our own pack, and name other trees than ours.
        "core.multiPackIndex": "false",
        "core.sparseCheckout": "true",
    }
    return _config({**_taken(settings, _SHAPING), **core}, object_format)


def checkout_config(
    settings: Mapping[str, str], object_format: str, *, attributes: Path, excludes: Path
) -> bytes:
    """Return a configuration under which git treats the user's files as the user's would.

    It names no driver, so that no program runs, whatever attributes ask for.

    Args:
        settings: the user's effective settings, names in lower case.
        object_format: ``sha1`` or ``sha256``.
        attributes: the user's own file of attribute rules; it need not exist.
        excludes: the same of ignore rules.
    """
    values = {
        **_taken(settings, (*_SHAPING, *_CHECKOUT_ONLY)),
        "core.attributesFile": os.fspath(attributes),
        "core.excludesFile": os.fspath(excludes),
        # An index in two files cannot be remembered as one.
        "core.splitIndex": "false",
    }
    if is_sparse(settings):
        values["core.sparseCheckout"] = "true"
        values.update(_taken(settings, ("core.sparseCheckoutCone",)))
    return _config(values, object_format)


def is_sparse(settings: Mapping[str, str]) -> bool:
    """Tell whether only a part of the files is to be checked out."""
    return is_on(settings.get("core.sparsecheckout", "false"))


def is_on(value: str) -> bool:
    """Tell whether a setting says yes."""
    return value.lower() in ("true", "yes", "on", "1")


def _taken(settings: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: settings[name.lower()] for name in names if name.lower() in settings}


def _config(values: Mapping[str, str], object_format: str) -> bytes:
    fixed = {
        "core.repositoryFormatVersion": str(int(object_format != "sha1")),
        "core.bare": "false",
        "core.safeCrlf": "false",
        "core.trustCtime": "true",
        "core.checkStat": "default",
        "core.untrackedCache": "false",
        "index.sparse": "false",
    }
    if object_format != "sha1":
        fixed["extensions.objectFormat"] = object_format
    lines: list[str] = []
    section = ""
    for name, value in sorted({**values, **fixed}.items()):
        head, _, key = name.partition(".")
        if head != section:
            section = head
            lines.append(f"[{head}]")
        lines.append(f"\t{key} = {_value(value)}")
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def _value(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
