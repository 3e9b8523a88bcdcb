"""Files that a sparse checkout took out of the work tree: hidden, not deleted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping

from pytest_caesar.workspace.git import Git, GitError
from pytest_caesar.workspace.index_changes import index_contents
from pytest_caesar.workspace.repository_state import PROBE_TIMEOUT
from pytest_caesar.workspace.state_before import MAX_INDEX_BYTES, Snapshot, read_plain_file


def hidden_files(
    snapshot: Snapshot,
    tracked: Mapping[bytes, tuple[str, str]],
    included: Callable[[bytes, list[bytes]], Iterable[bytes]],
) -> set[bytes]:
    """Return tracked files that are missing because the agent made its checkout sparse.

    Such a file is as it was in the next commit. Three things must say so: the bit in the
    agent's index, where the file stands as before; its configuration, whose change is told
    as tampering; and its patterns, which leave the file out.

    Args:
        snapshot: the checkout before the agent.
        tracked: mode and id from before of what is another now.
        included: gets patterns and paths, and returns those of the paths that they match.
    """
    top = os.fsencode(snapshot.top)
    missing = [
        path
        for path in tracked
        if not os.path.lexists(os.path.join(top, path))  # noqa: PTH118 - bytes
    ]
    patterns = read_plain_file(snapshot.git_dir / "info" / "sparse-checkout")
    if not missing or patterns is None or not _is_sparse_now(snapshot):
        return set()
    index = read_plain_file(snapshot.git_dir / "index", MAX_INDEX_BYTES) or b""
    skipped = {
        path: (mode.decode(), oid.hex())
        for path, mode, oid, stage, _, bit, _ in index_contents(snapshot, index)
        if bit == b"1" and stage == b"0"
    }
    left_out = [path for path in missing if skipped.get(path) == tracked[path]]
    return set(left_out).difference(included(patterns, left_out)) if left_out else set()


def _is_sparse_now(snapshot: Snapshot) -> bool:
    """Read one setting of the agent's; nothing of it is followed."""
    try:
        said = Git(snapshot.top, {"GIT_DIR": str(snapshot.git_dir)}).run(
            *("config", "--type=bool", "--get", "core.sparseCheckout"),
            accept=(0, 1),
            timeout=PROBE_TIMEOUT,
        )
    except GitError:
        return False
    return said.stdout == b"true\n"
