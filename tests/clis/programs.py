"""Where the real CLIs are, which versions were checked, and how they are installed.

``python -m tests.clis.programs`` prints the packages to install, or with ``--versions`` what
is installed beside what was checked.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from pytest_caesar.agents.catalogue import CATALOGUE

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".clis"
BIN = FOLDER / "node_modules" / ".bin"

PACKAGES = {
    "codex": "@openai/codex",
    "opencode": "opencode-ai",
    "gemini": "@google/gemini-cli",
    "copilot": "@github/copilot",
}
"""The npm package of each CLI."""


def find(cli: str) -> str | None:
    """Return the folder that holds the program of a CLI, ours first, or None."""
    found = shutil.which(cli, path=os.pathsep.join((str(BIN), os.environ.get("PATH", ""))))
    return None if found is None else str(Path(found).parent)


def how_to_install(cli: str) -> str:
    """Say which command installs it."""
    package = f"{PACKAGES[cli]}@{CATALOGUE[cli].checked}"
    return f"{cli} is not installed: make clis, or npm install --global {package}"


def main(arguments: list[str]) -> None:
    """Print packages, or versions."""
    for cli, package in PACKAGES.items():
        checked = CATALOGUE[cli].checked
        if "--versions" not in arguments:
            sys.stdout.write(f"{package}@{checked}\n")
            continue
        manifest = FOLDER / "node_modules" / package / "package.json"
        there = json.loads(manifest.read_text("utf-8"))["version"] if manifest.exists() else "none"
        note = "" if there == checked else f" (checked with {checked}: the entry may be behind)"
        sys.stdout.write(f"{cli} {there}{note}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
