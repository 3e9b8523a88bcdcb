"""Patches: the bytes that carry what an agent changed."""

from __future__ import annotations


class Patch(bytes):
    """A binary-safe patch against ``base_ref``; ``git apply --binary`` takes it.

    A type of its own, so that a snapshot of it is a ``.diff`` file.
    """

    __slots__ = ()


def applicable(patch: bytes) -> bytes:
    """Return the part of a patch that git can apply: without the lines that name the rest."""
    while patch.startswith(b"# "):
        patch = patch.partition(b"\n")[2]
    return patch
