"""Whether the objects that git showed are what their names say.

Git trusts its object store, and the agent can write there. A forged object
changes what a patch shows, not what is in the work tree; so what was shown is
checked against names that the agent could not choose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from pytest_caesar.workspace.observer import Entry, Observer, Scan

_NULL = frozenset("0")


def find_forgery(
    observer: Observer, scan: Scan, extra: Iterable[bytes], entries: Sequence[Entry]
) -> str:
    """Return what is wrong with the objects behind a diff, or "".

    Args:
        observer: whose index was staged.
        scan: what was known before staging, from an index out of the agent's reach.
        extra: further paths that were staged.
        entries: the diff against the baseline.
    """
    return _unexpected(observer, scan, extra, entries) or _misnamed(observer, entries)


def _unexpected(
    observer: Observer, scan: Scan, extra: Iterable[bytes], entries: Sequence[Entry]
) -> str:
    """Compare the diff with the scan; only for an index that holds exactly the baseline."""
    if not observer.snapshot.pristine:
        return ""
    expected = {*scan.paths, *extra}
    shown: set[bytes] = set()
    for entry in entries:
        shown.add(entry.path)
        if entry.status == "R" and entry.old_path is not None:
            shown.add(entry.old_path)
        origin = entry.old_path or entry.path
        known = scan.tracked.get(origin)
        if known is not None and entry.status != "A" and (entry.old_mode, entry.old_id) != known:
            return f"the baseline of {origin!r} is another than before the agent"
    # A folder that became a link takes what was in it along.
    strange = [path for path in shown - expected if not _below(path, expected)]
    if strange:
        return f"the baseline differs at {min(strange)!r}, where the agent changed nothing"
    silent = scan.tracked.keys() - shown
    if silent:
        staged = observer.staged(silent)
        for path in sorted(silent):
            if staged.get(path) != scan.tracked[path]:
                return f"the baseline hides the change of {path!r}"
    return ""


def _below(path: bytes, folders: set[bytes]) -> bool:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        if path in folders:
            return True
    return False


def _misnamed(observer: Observer, entries: Sequence[Entry]) -> str:
    """Hash the content of every blob of the diff anew."""
    wanted: dict[str, None] = {}
    for entry in entries:
        for mode, oid in ((entry.old_mode, entry.old_id), (entry.new_mode, entry.new_id)):
            if mode != "160000" and not set(oid) <= _NULL:
                wanted[oid] = None
    if not wanted:
        return ""
    stdin = "".join(f"{oid}\n" for oid in wanted).encode()
    output = observer.git.run("cat-file", "--batch", stdin=stdin).stdout
    position = 0
    for oid in wanted:
        end = output.index(b"\n", position)
        found = output[position:end].split(b" ")
        if len(found) != 3 or found[1] != b"blob":
            return f"object {oid} is missing or no file content"
        start, size = end + 1, int(found[2])
        algorithm = hashlib.sha1 if len(oid) == 40 else hashlib.sha256
        digest = algorithm(b"blob %d\0" % size, usedforsecurity=False)
        digest.update(memoryview(output)[start : start + size])
        if digest.hexdigest() != oid:
            return f"object {oid} does not hold what its name says"
        position = start + size + 1
    return ""
