"""Commands that can be pasted to run a test again as it ran now."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest

VALUED = (
    "--caesar-agent",
    "--caesar-trials",
    "--caesar-runner",
    "--caesar-pass-env",
    "--caesar-record",
)
"""Options with a value that decide what a test runs, and what it is called."""

FLAGS = ("--caesar-subprocess", "--caesar-user-config", "--caesar-hostile")
"""Such options without a value."""


def repeated_options(arguments: Iterable[object]) -> tuple[str, ...]:
    """Return what must be said again of a command line for its tests to mean the same.

    Args:
        arguments: as pytest was called; what the ini file or the environment adds is
            there again by itself.
    """
    kept = []
    waiting = iter(map(str, arguments))
    for argument in waiting:
        name, equals, _ = argument.partition("=")
        if argument in FLAGS or (equals and name in VALUED):
            kept.append(argument)
        elif name in VALUED:
            kept += [f"{name}={value}" for value in [next(waiting, None)] if value is not None]
    return tuple(kept)


def run_again(item: pytest.Item, repeated: Sequence[str], *options: str) -> str:
    """Return the command that runs one test as it ran now, quoted for a shell.

    Args:
        item: the test.
        repeated: options of the command line, as ``repeated_options`` gives them.
        options: more options, put at the end.
    """
    path, colons, rest = item.nodeid.partition("::")
    start = item.config.invocation_params.dir
    if start != item.config.rootpath:
        path = os.path.relpath(item.path, start)
    return shlex.join(["pytest", *repeated, f"{path}{colons}{rest}", *options])
