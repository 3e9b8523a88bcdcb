# ruff: noqa: PLC0415 - the order of the imports is what this file is for
"""Start of the return channel, run as a file: ``python -S boot.py TASK_DIR``.

stdout belongs to the protocol from its first byte on. What an installation runs when
Python starts (``.pth`` files, ``sitecustomize``) may print, and so may what that
starts; with ``-S`` it runs here, after stdout was put out of its reach.
"""

import os
import sys


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

    from caesar_agent.commands.channel import USAGE_ERROR, serve

    if len(sys.argv) != 2:
        print("usage: boot.py TASK_DIR", file=sys.stderr)
        return USAGE_ERROR
    return serve(Path(sys.argv[1]), output)


if __name__ == "__main__":
    sys.exit(main())
