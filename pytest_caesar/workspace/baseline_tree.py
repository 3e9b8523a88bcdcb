"""The tree before the agent, as a snapshot that the agent cannot reach."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pytest_caesar.workspace import submodules
from pytest_caesar.workspace.closed_folders import open_up
from pytest_caesar.workspace.file_systems import times_tell
from pytest_caesar.workspace.filtered_files import clean_filtered, used_filters
from pytest_caesar.workspace.git import Git
from pytest_caesar.workspace.git_named import git_named
from pytest_caesar.workspace.index_file import without_bits, without_zero_times
from pytest_caesar.workspace.large_files import large_facts
from pytest_caesar.workspace.observer import Observer, discard, new_folder
from pytest_caesar.workspace.quiet_git import quiet_git
from pytest_caesar.workspace.remembered_files import InsideState
from pytest_caesar.workspace.repositories_inside import Inside
from pytest_caesar.workspace.repository_state import (
    EMPTY_TREES,
    Checkout,
    read_head,
    read_refs,
    read_rules,
    take_marks,
)
from pytest_caesar.workspace.rules import merge_attribute_rules
from pytest_caesar.workspace.state_before import (
    MAX_INDEX_BYTES,
    Snapshot,
    is_within,
    observer_config,
    read_plain_file,
)

FIRST_SECOND = 10**9
"""Time of an index, in ns, than which no file is older: git compares all by content."""

MAX_IGNORED = 1000
"""Single ignored files whose state is remembered; folders that are ignored whole are not entered."""

_RESET_LINES = merge_attribute_rules(()).count(b"\n")
"""Lines of attribute rules that are ours."""

RULE_NAMES = (b".gitignore", b".gitattributes")

_RULE_FILES = re.compile(rb"\.gitignore|\.gitattributes")


def of_commit(
    checkout: Checkout,
    settings: dict[str, str],
    *,
    base: str,
    excluded: Iterable[bytes],
    pristine: bool,
    room: Path,
    kept: Path | None = None,
) -> Snapshot:
    """Return the snapshot for a checkout whose baseline is the commit or tree ``base``.

    Args:
        checkout: a worktree in which nobody has worked yet.
        settings: its effective configuration.
        base: what everything is compared with.
        excluded: paths that are not the agent's, relative to the top level.
        pristine: the index is known to hold exactly ``base``.
        room: where a git directory may be made later.
        kept: a git directory is made there when content of the baseline must be kept;
            without, files that filters changed are not told from edited ones.
    """
    raw, index_time = read_checkout_index(checkout)
    # One that was made a moment ago hides nothing but what a sparse checkout leaves out.
    index = raw if pristine else _visible(checkout, raw)
    snapshot = _snapshot(
        checkout,
        settings,
        first_index=raw,
        index=index,
        index_time=index_time,
        tree=base,
        excluded=tuple(excluded),
        rule_files=rule_files(checkout, index),
        folder=None,
        room=room,
        is_fresh=pristine,
    )
    if pristine:
        return snapshot if times_tell(checkout.top, room) else _hashed(snapshot)
    # Others have used this index: their bits must not hide anything.
    folder = kept if kept is not None else new_folder(room)
    folder.mkdir(mode=0o700, exist_ok=True)
    try:
        observer = Observer(snapshot, folder)
        with quiet_git(checkout, settings) as quiet:
            _normalise_index(quiet, observer, checkout)
        # Now, since later the tree may be another in the agent's object store.
        ahead = {entry.path: (entry.old_mode, entry.old_id) for entry in observer.compare(base)}
        if kept is not None and (filtered := used_filters(snapshot.attributes, settings)):
            clean = clean_filtered(observer, filtered, index_time)
            observer.stage(path for path in clean if path not in ahead)
            objects = (*snapshot.objects, kept / "objects")
            snapshot = replace(snapshot, objects=objects)
        bare = observer.index.read_bytes() if index else b""
        # What others say about when they looked at a file counts for nothing.
        return _hashed(replace(snapshot, index=bare, ahead=ahead))
    finally:
        if kept is None or len(snapshot.objects) == 1:
            discard(folder)


def looks_changed(snapshot: Snapshot, settings: dict[str, str]) -> bool:
    """Tell whether a fresh checkout already differs from its commit in git's eyes.

    Files that were committed against their own line-end rules do, before anybody
    touches them. Only rules can bring that about, so without any nobody looks.
    """
    plain = settings.get("core.autocrlf", "false").lower() in ("false", "no", "off", "0", "")
    if plain and snapshot.attributes.count(b"\n") <= _RESET_LINES:
        return False
    folder = new_folder(snapshot.room)
    try:
        scan = Observer(snapshot, folder).scan()
        return bool(scan.tracked)
    finally:
        discard(folder)


def of_work_tree(
    checkout: Checkout,
    settings: dict[str, str],
    *,
    excluded: Iterable[bytes],
    folder: Path,
    room: Path,
) -> Snapshot:
    """Return the snapshot for a checkout whose baseline is what lies in it now.

    Args:
        checkout: a checkout with work of the user's in it.
        settings: its effective configuration.
        excluded: paths that are not the agent's, relative to the top level.
        folder: a git directory is made there when the baseline's content must be kept.
        room: where a git directory may be made later.
    """
    index, index_time = read_checkout_index(checkout)
    with quiet_git(checkout, settings) as quiet:
        return _of_work_tree(
            quiet,
            checkout,
            settings,
            raw=index,
            index_time=index_time,
            excluded=tuple(excluded),
            folder=folder,
            room=room,
        )


def _of_work_tree(
    quiet: Git,
    checkout: Checkout,
    settings: dict[str, str],
    *,
    raw: bytes,
    index_time: int,
    excluded: tuple[bytes, ...],
    folder: Path,
    room: Path,
) -> Snapshot:
    tells = times_tell(checkout.top, room)
    # Side by side: the one walks the files, the other the index.
    status = quiet.start(
        *("status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all"),
        *("--ignore-submodules=all", "--no-renames"),
    )
    try:
        tags = quiet.run("ls-files", "-z", "-v").records
    except BaseException:
        status.stop()
        raise
    told = status.finish()
    listed = told.records
    ignored = [record[3:] for record in listed if record.startswith(b"!! ")]
    names = {record[2:] for record in tags} | {record[3:] for record in listed}
    snapshot = _snapshot(
        checkout,
        settings,
        first_index=raw,
        index=_visible(checkout, raw),
        index_time=index_time,
        tree=checkout.head or EMPTY_TREES[checkout.object_format],
        excluded=excluded,
        # A folder may be ignored by a file inside it, which then is ignored itself.
        rule_files=[name for name in names if name.rpartition(b"/")[2] in RULE_NAMES],
        folder=folder,
        room=room,
        ignored=ignored,
    )
    if b"could not open directory" in told.stderr:
        closed = open_up(checkout.top, snapshot.excluded, None)
        snapshot = replace(snapshot, closed=frozenset(closed))
    filtered = bool(used_filters(snapshot.attributes, settings))
    dirty = any(
        not record.startswith(b"!! ") and not is_within(record[3:], snapshot.excluded)
        for record in listed
    )
    plain = not snapshot.submodules and not _is_split(checkout)
    if (
        checkout.head
        and plain
        and not dirty
        and not filtered
        and tells
        and all(tag.startswith(b"H") for tag in tags)
    ):
        return snapshot  # the tree is that of the commit, and the index says so
    folder.mkdir(mode=0o700, exist_ok=True)
    if not tells:
        snapshot = _hashed(snapshot)
    observer = Observer(snapshot, folder)
    if filtered and raw:
        # What the index holds was filtered; only content as it lies there can be compared.
        _rebuild(observer, observer.git.run("ls-files", "-z", "--stage").records)
    _normalise_index(quiet, observer, checkout)
    scan = observer.scan()
    large = large_facts(observer, scan.paths)
    observer.stage(path for path in scan.paths if path not in large)
    tree = observer.tree()
    snapshot = replace(
        snapshot,
        index=observer.index.read_bytes() if observer.index.exists() else b"",
        index_time=observer.index.stat().st_mtime_ns if observer.index.exists() else 0,
        tree=tree,
        nested=frozenset(scan.nested),
        large=large,
        inside=_inside(snapshot, scan.nested),
    )
    return snapshot if tells else _hashed(snapshot)


def _inside(snapshot: Snapshot, nested: Iterable[bytes]) -> dict[bytes, InsideState]:
    """Look into repositories that lie in a work tree, and into submodules."""
    looking = Inside(snapshot)
    known = {path for path, (_, told) in snapshot.submodules.items() if told == "checked out"}
    return {
        path: looking.state(snapshot.top / os.fsdecode(path))
        for path in sorted({*nested, *known})
        if not is_within(path, snapshot.excluded)
    }


def _hashed(snapshot: Snapshot) -> Snapshot:
    """Have git compare every file by its content."""
    sha256 = len(snapshot.tree) == 64
    return replace(
        snapshot,
        index=without_zero_times(snapshot.index, sha256=sha256),
        index_time=FIRST_SECOND,
    )


def _visible(checkout: Checkout, index: bytes) -> bytes:
    """Return an index that hides nothing but what a sparse checkout has left out."""
    top = os.fsencode(checkout.top)
    return without_bits(
        index,
        lambda path: not os.path.lexists(os.path.join(top, path)),  # noqa: PTH118 - bytes
        sha256=checkout.object_format == "sha256",
    )


def _snapshot(  # noqa: PLR0913 - each names one fact of the snapshot
    checkout: Checkout,
    settings: dict[str, str],
    *,
    first_index: bytes,
    index: bytes,
    index_time: int,
    tree: str,
    excluded: tuple[bytes, ...],
    rule_files: list[bytes],
    folder: Path | None,
    room: Path,
    ignored: Iterable[bytes] = (),
    is_fresh: bool = False,
) -> Snapshot:
    excludes, attributes = read_rules(checkout, settings, rule_files)
    files: list[bytes] = []
    passed_over = set(excluded)
    for path in ignored:
        if path.endswith(b"/"):
            passed_over.add(path[:-1])
            # Whatever rule it was that matched: the folder stays ignored.
            excludes += _literal(path)
        elif not is_within(path, excluded):
            files.append(path)
    refs = read_refs(checkout.common_dir)
    for path in excluded:
        excludes += _literal(path)
    head, head_name = read_head(checkout.git_dir, refs)
    top = os.fsencode(checkout.top)
    config = observer_config(settings, checkout.object_format)
    return Snapshot(
        top=checkout.top,
        prefix=checkout.prefix,
        git_dir=checkout.git_dir,
        common_dir=checkout.common_dir,
        objects=(checkout.objects, *([folder / "objects"] if folder is not None else [])),
        index=index,
        index_time=index_time,
        tree=tree,
        room=room,
        config=config,
        excludes=excludes,
        attributes=attributes,
        sparse=_sparse_patterns(checkout, settings),
        base_ref=checkout.head,
        head=head,
        head_name=head_name,
        excluded=excluded,
        first_index=first_index,
        locked=(checkout.git_dir / "index.lock").exists(),
        refs=refs,
        marks=take_marks(checkout.top, checkout.git_dir, checkout.common_dir, checkout.objects),
        ignored=file_states(top, files[:MAX_IGNORED]),
        passed_over=frozenset(passed_over),
        git_named={} if is_fresh else git_named(checkout.top, passed_over),
        submodules=submodules.states(checkout, index, config),
    )


def _literal(path: bytes) -> bytes:
    """Return a path as a line of rules that matches it alone; "" where a line cannot say it."""
    if b"\n" in path:
        return b""
    escaped = re.sub(rb"([\\*?\[])", rb"\\\1", path)
    return b"/" + (escaped[:-1] + b"\\ " if escaped.endswith(b" ") else escaped) + b"\n"


def file_states(top: bytes, paths: Iterable[bytes]) -> dict[bytes, tuple[int, ...]]:
    """Return what ``lstat`` says of each path; a missing one has no state."""
    states: dict[bytes, tuple[int, ...]] = {}
    for path in paths:
        try:
            found = os.lstat(os.path.join(top, path))  # noqa: PTH118 - bytes
        except OSError:
            continue
        states[path] = (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return states


def read_checkout_index(checkout: Checkout) -> tuple[bytes, int]:
    """Return the bytes of a checkout's index, and when it was written, in ns."""
    path = checkout.git_dir / "index"
    data = read_plain_file(path, MAX_INDEX_BYTES)
    return (data, path.stat().st_mtime_ns) if data is not None else (b"", 0)


def rule_files(checkout: Checkout, index: bytes) -> list[bytes]:
    """List the ``.gitignore`` and ``.gitattributes`` files that count now."""
    compressed = index[4:8] == b"\0\0\0\4"
    if not compressed and not _RULE_FILES.search(index):
        return []  # saves a process for the many repositories without rules
    git = Git(checkout.top, {"GIT_LITERAL_PATHSPECS": "0"})
    patterns = [f":(glob)**/{name}" for name in map(os.fsdecode, RULE_NAMES)]
    records = git.run("ls-files", "-z", "--cached", "--", *patterns).records
    return sorted(set(records))


def _sparse_patterns(checkout: Checkout, settings: dict[str, str]) -> bytes | None:
    if settings.get("core.sparsecheckout", "false").lower() not in ("true", "yes", "on", "1"):
        return None
    return read_plain_file(checkout.git_dir / "info" / "sparse-checkout")


def _is_split(checkout: Checkout) -> bool:
    """Tell whether a part of the index lies in a file of its own."""
    return any(checkout.git_dir.glob("sharedindex.*"))


def _normalise_index(quiet: Git, observer: Observer, checkout: Checkout) -> None:
    """Take bits, conflicts and shared parts out of the copy of the user's index."""
    if not observer.index.exists():
        return
    if _is_split(checkout):
        records = quiet.run("ls-files", "-z", "--stage").records
        _rebuild(observer, records)
        return
    tags = observer.git.run("ls-files", "-z", "-v").records
    if any(record[:1] == b"M" for record in tags):
        _rebuild(observer, observer.git.run("ls-files", "-z", "--stage").records)
        return
    assumed = [record[2:] for record in tags if record[:1].islower()]
    if assumed:
        observer.git.run(
            "update-index",
            "-z",
            "--no-assume-unchanged",
            "--stdin",
            stdin=b"".join(path + b"\0" for path in assumed),
        )


def _rebuild(observer: Observer, records: Iterable[bytes]) -> None:
    """Write a plain index from ``ls-files --stage``; of a conflict, our side."""
    chosen: dict[bytes, bytes] = {}
    for record in records:
        head, path = record.split(b"\t", 1)
        mode, oid, stage = head.split(b" ")
        if stage in (b"0", b"2") or path not in chosen:
            chosen[path] = mode + b" " + oid + b"\t" + path
    observer.index.unlink()
    observer.git.run(
        "update-index",
        "-z",
        "--index-info",
        stdin=b"".join(line + b"\0" for line in chosen.values()),
    )
