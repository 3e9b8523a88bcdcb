"""What a repository looks like from outside: where it lies, how it is set, what could be tampered with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from pytest_caesar.files.walking import walk
from pytest_caesar.workspace.errors import RepositoryError
from pytest_caesar.workspace.fifos import Fifos
from pytest_caesar.workspace.git import Git
from pytest_caesar.workspace.naming import shown
from pytest_caesar.workspace.rules import merge_attribute_rules, merge_ignore_rules
from pytest_caesar.workspace.state_before import read_plain_file

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""Id of the tree without entries, by object format; every git knows it."""

PROBE_TIMEOUT = 30.0
"""Seconds for git to say where a repository lies and how it is set."""

MAX_REFS = 5000
"""Loose refs that are compared; a repository with more packs them."""

MAX_SYMBOLIC = 5
"""Refs that name another ref, one after the other; git itself follows as many."""

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_DEFAULT_RULES = {"core.excludesfile": "ignore", "core.attributesfile": "attributes"}
"""Name in the user's folder for git, where the configuration names no file."""

_SYMBOLIC = "ref: "
_SYMBOLIC_REF = re.compile(r"ref:\s*(refs/[^\0-\x20\x7f]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """One checkout of a repository.

    Attributes:
        top: its top level.
        prefix: the folder that was asked about, relative to ``top``; POSIX, "" for ``top``.
        git_dir, common_dir, objects: where git keeps what.
        object_format: ``sha1`` or ``sha256``.
        head: SHA of the commit it stands on, or None without a commit.
    """

    top: Path
    prefix: str
    git_dir: Path
    common_dir: Path
    objects: Path
    object_format: str
    head: str | None

    @property
    def git(self) -> Git:
        """Git in this checkout, with the user's configuration."""
        return Git(self.top, fifos=Fifos(self.top, (self.common_dir,)))


def locate(folder: Path) -> Checkout | None:
    """Return the checkout that holds ``folder``, or None outside any repository.

    Raises:
        RepositoryError: there is one, and git refuses to work with it.
    """
    result = Git(folder).run(
        "rev-parse",
        "--path-format=absolute",
        "--show-toplevel",
        "--absolute-git-dir",
        "--git-common-dir",
        "--git-path",
        "objects",
        "--show-object-format",
        "--show-prefix",
        "HEAD^{commit}",
        accept=(0, 128),
        timeout=PROBE_TIMEOUT,
    )
    found = result.stdout.split(b"\n")
    if result.exit_code and len(found) < 7:
        said = os.fsdecode(result.stderr).strip().splitlines()
        problem = said[0] if said else "it said nothing"
        if "not a git repository" in problem and not any(
            map(has_git_entry, (folder, *folder.parents))
        ):
            return None
        raise RepositoryError(folder=str(folder), problem=_sentence(problem))
    if len(found) not in (8, 9):
        raise RepositoryError(
            folder=str(folder), problem="its path holds a line break, which git cannot print."
        )
    top, git_dir, common_dir, objects, object_format, prefix, head = map(os.fsdecode, found[:7])
    if not _is_same(Path(top, prefix), folder):
        raise RepositoryError(
            folder=str(folder),
            problem=f"its configuration (core.worktree) says that its files lie in {shown(top)}, "
            "so git looks there and not here.",
        )
    return Checkout(
        top=Path(top),
        prefix=prefix.rstrip("/"),
        git_dir=Path(git_dir),
        common_dir=Path(common_dir),
        objects=Path(objects),
        object_format=object_format,
        head=None if result.exit_code else head,
    )


def resolve_commit(checkout: Checkout, name: str) -> str:
    """Return the full SHA of the commit that ``name`` stands for now; GitError if none."""
    return checkout.git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
    ).lines[0]


def survey(folder: Path) -> tuple[Checkout | None, dict[str, str]]:
    """Return the checkout that holds ``folder``, and its effective configuration.

    Names are in lower case but for subsections; of several values the last one wins.
    Where the file system tells names by case, ``core.ignorecase`` does not say otherwise:
    it would hide one file behind another.

    Raises:
        RepositoryError: there is a repository, and git refuses to work with it.
    """
    # Side by side: neither needs the other.
    listing = Git(folder).start("config", "-z", "--list")
    try:
        checkout = locate(folder)
    except BaseException:
        listing.stop()
        raise
    settings: dict[str, str] = {}
    accept = (0,) if checkout else (0, 1, 128)
    for record in listing.finish(accept=accept, timeout=PROBE_TIMEOUT).records:
        name, _, value = os.fsdecode(record).partition("\n")
        settings[name] = value if "\n" in os.fsdecode(record) else "true"
    if checkout and "core.ignorecase" in settings and not _folds_case(checkout.top):
        settings["core.ignorecase"] = "false"
    return checkout, settings


def _folds_case(top: Path) -> bool:
    """Tell whether the file system takes names that differ in case for the same."""
    try:
        return (top / ".git").samefile(top / ".GIT")
    except OSError:
        return False


def read_rules(
    checkout: Checkout, settings: dict[str, str], names: Iterable[bytes]
) -> tuple[bytes, bytes]:
    """Return the ignore rules and the attribute rules as they stand now.

    Args:
        checkout: whose rules.
        settings: its effective configuration.
        names: every ``.gitignore`` and ``.gitattributes``, relative to the top level.
    """
    ignore: list[tuple[bytes, bytes]] = []
    attributes: list[tuple[bytes, bytes]] = []
    top = os.fsencode(checkout.top)
    for name in names:
        folder, _, base = name.rpartition(b"/")
        text = read_plain_file(os.path.join(top, name))  # noqa: PTH118 - bytes
        if text is not None:
            (ignore if base == b".gitignore" else attributes).append((folder, text))
    info = checkout.common_dir / "info"
    general = (
        read_plain_file(user_rules(settings, "core.excludesfile", checkout.top)),
        read_plain_file(os.path.realpath(info / "exclude")),
    )
    return (
        merge_ignore_rules(ignore, general=general),
        merge_attribute_rules(
            attributes,
            general=read_plain_file(user_rules(settings, "core.attributesfile", checkout.top))
            or b"",
            particular=read_plain_file(os.path.realpath(info / "attributes")) or b"",
        ),
    )


def check_ignored(git: Git, paths: Iterable[bytes], *options: str) -> list[bytes]:
    """Return those of ``paths`` that git ignores; they are relative to where it runs."""
    # The command takes no literal paths; with "./" before it no name looks like magic.
    stdin = b"".join(b"./" + path + b"\0" for path in paths)
    plain = replace(git, variables={**git.variables, "GIT_LITERAL_PATHSPECS": "0"})
    result = plain.run("check-ignore", "-z", *options, "--stdin", stdin=stdin, accept=(0, 1))
    return [record.removeprefix(b"./") for record in result.records]


def take_marks(top: Path, git_dir: Path, common: Path, objects: Path) -> dict[str, object]:
    """Return fingerprints of git's own files, which an agent has no business changing."""
    files = {
        "config": common / "config",
        "config.worktree": git_dir / "config.worktree",
        "info/exclude": common / "info" / "exclude",
        "info/attributes": common / "info" / "attributes",
        "info/sparse-checkout": git_dir / "info" / "sparse-checkout",
        "info/grafts": common / "info" / "grafts",
        "shallow": common / "shallow",
        "objects/info/alternates": objects / "info" / "alternates",
        ".git": top / ".git",
        "commondir": git_dir / "commondir",
        "gitdir": git_dir / "gitdir",
    }
    marks: dict[str, object] = {name: read_plain_file(path) for name, path in files.items()}
    marks["hooks"] = folder_mark(common / "hooks")
    marks["refs/replace"] = folder_mark(common / "refs" / "replace")
    return marks


def read_refs(common_dir: Path) -> dict[str, str]:
    """Return branches, tags and the stash by name, loose and packed, without starting git.

    Values that are neither an id nor the name of another ref are told as "".
    """
    refs: dict[str, str] = {}
    packed = read_plain_file(common_dir / "packed-refs") or b""
    for line in os.fsdecode(packed).splitlines():
        value, _, name = line.partition(" ")
        if name.startswith("refs/") and _ID.fullmatch(value):
            refs[name] = value
    base = os.fspath(common_dir)
    loose = chain([f"{base}/refs/stash"], _walk(f"{base}/refs/heads"), _walk(f"{base}/refs/tags"))
    for name in islice(loose, MAX_REFS):
        content = read_plain_file(name, 200)
        if content is not None:
            refs[name[len(base) + 1 :]] = _ref_value(content)
    return {name: value for name, value in refs.items() if _is_users_ref(name)}


def read_head(git_dir: Path, refs: dict[str, str]) -> tuple[str | None, str | None]:
    """Return SHA and branch that HEAD stands for, as far as plain files tell; (None, None) if not.

    Anybody may have written them, so that only what git would take is told.
    """
    value = _ref_value(read_plain_file(git_dir / "HEAD", 4096) or b"")
    name = value.removeprefix(_SYMBOLIC) if value.startswith(_SYMBOLIC) else None
    for _ in range(MAX_SYMBOLIC):
        if not value.startswith(_SYMBOLIC):
            break
        value = refs.get(value.removeprefix(_SYMBOLIC), "")
    return (value if _ID.fullmatch(value) else None), name


def _ref_value(content: bytes) -> str:
    """Return what a ref's file says: an id, or ``ref: `` and a name; "" for anything else."""
    text = os.fsdecode(content).strip()
    if _ID.fullmatch(text):
        return text
    found = _SYMBOLIC_REF.fullmatch(text)
    return _SYMBOLIC + found[1] if found else ""


def _is_users_ref(name: str) -> bool:
    return name == "refs/stash" or name.startswith(("refs/heads/", "refs/tags/"))


def _walk(start: str) -> Iterable[str]:
    return (entry.path for entry in walk(start) if not entry.is_dir(follow_symlinks=False))


def folder_mark(folder: Path) -> tuple[tuple[str, int, int, int, int], ...] | None:
    """Return a fingerprint of what lies in a folder itself; None where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    except OSError:
        return None
    return tuple(
        sorted((name, s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in found)
    )


def user_rules(settings: Mapping[str, str], key: str, top: Path) -> Path:
    """Return where the user's own rules lie, whether there are any or not.

    Args:
        settings: effective configuration.
        key: ``core.excludesfile`` or ``core.attributesfile``.
        top: what a relative path is relative to.
    """
    named = settings.get(key)
    if named is None:
        base = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        named = f"{base}/git/{_DEFAULT_RULES[key]}"
    # Such files are often links, into a folder of dotfiles say.
    return Path(os.path.realpath(top / os.path.expanduser(named)))  # noqa: PTH111 - "~user" too


def has_git_entry(folder: Path) -> bool:
    """Tell whether the ``.git`` in a folder is meant to be a repository, sound or not.

    Git walks on where it is a folder without anything of a repository, such as an empty one.
    """
    entry = folder / ".git"
    if entry.is_symlink() or not entry.is_dir():
        return os.path.lexists(entry)
    return any(os.path.lexists(entry / name) for name in ("HEAD", "objects", "refs", "commondir"))


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _sentence(text: str) -> str:
    text = text.removeprefix("fatal: ").strip()
    return text if text.endswith((".", "!")) else f"{text}."
