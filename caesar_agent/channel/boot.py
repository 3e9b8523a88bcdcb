# ruff: noqa: PLC0415 - the order of the imports is what this file is for
"""Start of the return channel, run as a file: ``python -S boot.py TASK_DIR``.

stdout belongs to the protocol from its first byte on. What an installation runs when
Python starts (``.pth`` files, ``sitecustomize``) may print, and so may what that
starts; with ``-S`` it runs here, after stdout was put out of its reach.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    from pathlib import Path

USAGE_ERROR = 2

INSTALL = (
    "caesar-agent channel: the return channel needs the `mcp` package, version 2 or later{found}; "
    "install it with: pip install 'pytest-caesar[mcp]'"
)
"""What is said where the extra is missing."""


def main() -> int:
    """Protect stdout, finish the start of Python, serve."""
    output = os.dup(1)
    os.dup2(2, 1)
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib is not loaded yet
    # Python put the folder of this file first, where our modules would hide others.
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]  # noqa: PTH100
    if sys.flags.no_site:
        import site

        site.main()
    # Last, for a copy of the sources that is not installed.
    sys.path.append(os.path.dirname(os.path.dirname(here)))  # noqa: PTH120

    from pathlib import Path

    if len(sys.argv) != 2:
        print("usage: boot.py TASK_DIR", file=sys.stderr)
        return USAGE_ERROR
    return serve(Path(sys.argv[1]), output)


def serve(task_dir: Path, output: int | None = None) -> int:
    """Serve a task directory.

    Args:
        task_dir: the task directory.
        output: a duplicate of stdout that was made before anything could print.
    """
    # First of all: whatever is imported from here on may print.
    from caesar_agent.channel import transport

    wire = transport.claim(output)
    from caesar_agent.task_directory import TaskDirectory

    directory = task_dir.absolute()
    if not directory.is_dir():
        print(
            f"caesar-agent channel: {str(directory)!r} is not a folder; "
            "expected the directory of a task ($CAESAR_TASK_DIR)",
            file=sys.stderr,
        )
        return USAGE_ERROR
    try:
        from caesar_agent.channel import server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        print(INSTALL.format(found=_found()), file=sys.stderr)
        return USAGE_ERROR
    if os.isatty(wire.input):
        print(
            "caesar-agent channel: this is an MCP server and reads JSON-RPC from a client; "
            "Ctrl-D ends it",
            file=sys.stderr,
        )
    server.serve(TaskDirectory(directory), wire)
    return 0


def _found() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f" (found {version('mcp')})"
    except PackageNotFoundError:
        return ""


if __name__ == "__main__":
    sys.exit(main())
