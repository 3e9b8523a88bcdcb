"""Walks through the runs of a session's JSON document, whatever stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_UNSAFE = re.compile(r"[^A-Za-z0-9._@+-]+")


def runs_of(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every run, those that agents delegated behind their parent, with its own name.

    The name is safe as a file name, and no two runs have the same.
    """
    taken: set[str] = set()
    for top in document.get("runs", ()):
        for path, run in _tree(top, ()):
            numbers = [str(top.get("number", 1)), *path]
            again = top.get("execution", 1)
            more = f"+{again}" if again != 1 else ""
            name = f"{top.get('test', 'run')}{more}-{run.get('task_id', '')}"
            name = _UNSAFE.sub("-", name).strip("-.")[-150:] or "run"
            if name in taken:
                name = f"{name}-{'.'.join(numbers)}"
            taken.add(name)
            yield name, run


def _tree(
    run: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    yield path, run
    for number, child in enumerate(run.get("children", ()), 1):
        yield from _tree(child, (*path, str(number)))
