"""Whether the objects behind a patch are what their names say.

Git trusts its object store, and the agent can write there: a forged object
changes what a patch shows, not what is in the work tree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pytest_caesar.workspace.observer import Entry, Observer

_NULL = frozenset("0")


def find_forgery(observer: Observer, entries: Sequence[Entry]) -> str:
    """Hash the content of every blob of a diff anew; say what is wrong, or ""."""
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
