"""Variables that carry logins: which known CLI takes which, and what never meets a scripted model."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_caesar.agents.known_cli import KnownCli

GENERAL = ("*_API_KEY", "*_TOKEN", "*_SECRET", "*_SECRET_KEY", "*_PASSWORD", "*_CREDENTIALS")
"""Names that say what they hold."""

FOLDERS = (
    "HOME",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
"""Folders in which CLIs keep logins and settings of the user."""

SETTINGS = (
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_CONTENT",
    "OPENCODE_CONFIG_DIR",
    "COPILOT_PROVIDER_*",
    "GOOGLE_GENAI_USE_*",
    "GOOGLE_VERTEX_BASE_URL",
    "GOOGLE_CLOUD_PROJECT",
    "*_BASE_URL",
    "*_API_BASE",
)
"""Variables that say which model is talked to."""


def is_login(name: str) -> bool:
    """Tell whether a variable carries a login, or decides which model is talked to."""
    return any(fnmatchcase(name, pattern) for pattern in (*GENERAL, *FOLDERS, *SETTINGS))


def kept_logins(cli: KnownCli, home: Path) -> list[str]:
    """Return the files of a CLI's login that are there, relative to HOME; none is opened."""
    return [name for name in cli.login_files if (home / name).is_file()]


def refused_beside_model(pass_env: Sequence[str]) -> str | None:
    """Return why variables cannot be passed to an agent that talks to a scripted model, or None."""
    refused = [name for name in pass_env if not name.endswith("*") and is_login(name)]
    if not refused:
        return None
    return (
        f"--caesar-pass-env (or caesar_pass_env) passes {', '.join(refused)} to an agent that talks "
        "to caesar_model: a scripted model needs no login, and none of yours goes with it; remove "
        "it, or leave caesar_model out"
    )
