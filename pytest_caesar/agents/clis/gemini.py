"""Gemini CLI. Tried offline and against a scripted model."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import Any

from pytest_caesar.agents.cli_settings import CliSettings, CliTask, json_text, mcp_servers
from pytest_caesar.agents.known_cli import KnownCli

MAX_ATTEMPTS = 3
"""Requests for one turn of a scripted model; ten, its own number, take four minutes."""


def configure(task: CliTask) -> CliSettings:
    """Write its settings into its home: channel, model, and how it logs in with a key."""
    settings: dict[str, Any] = mcp_servers(task, trust=True)
    environment: dict[str, str] = {}
    if task.model_url is not None:
        environment = {
            "GOOGLE_GENAI_USE_VERTEXAI": "true",
            "GOOGLE_API_KEY": "none",
            "GOOGLE_VERTEX_BASE_URL": task.model_url,
            # Without a name it asks the model which model to ask.
            "GEMINI_MODEL": task.model or "gemini-2.5-pro",
        }
        settings["privacy"] = {"usageStatisticsEnabled": False}
        settings["telemetry"] = {"enabled": False}
        settings["general"] = {"enableAutoUpdate": False, "maxAttempts": MAX_ATTEMPTS}
    elif task.environ.get("GEMINI_API_KEY"):
        # With GOOGLE_GEMINI_BASE_URL beside it, it would choose a way that it then refuses.
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    if not settings:
        return CliSettings(environment=environment)
    folder = _folder(task)
    if folder is None:
        moved = task.environ.get("GEMINI_CLI_HOME")
        unreached = f"it reads its settings in {moved} (GEMINI_CLI_HOME), which is yours"
        return CliSettings(environment=environment, unreached=unreached)
    files = {f"{folder}/settings.json": json_text(settings)}
    return CliSettings(environment=environment, home_files=files)


def _folder(task: CliTask) -> str | None:
    """Return where it reads its settings, from HOME; None where that is not inside HOME."""
    moved, home = task.environ.get("GEMINI_CLI_HOME"), task.environ.get("HOME")
    if not moved:
        return ".gemini"
    below = os.path.relpath(os.path.join(moved, ".gemini"), home or "/")  # noqa: PTH118 - of names
    return None if not home or below.startswith("..") else below


CLI = KnownCli(
    id="gemini",
    display_name="Gemini CLI",
    program="gemini",
    checked="0.61.0",
    # Without trust it ends with 55 and prints nothing.
    args=("--output-format", "stream-json", "--skip-trust", "--include-directories", "{{taskDir}}"),
    write_args=("--approval-mode", "yolo"),
    read_only_args=("--approval-mode", "plan"),
    model_args=("-m", "{{model}}"),
    brief_on_stdin=True,
    injection="home",
    dialect="gemini",
    network="open",
    logins=(
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GEMINI_CLI_HOME",
        "HOME",
    ),
    login_files=(".gemini/oauth_creds.json",),
    login_missing=("Please set an Auth method",),
    configure=configure,
    repeatable=("--include-directories",),
    needs_result_line=True,
    # The relaunched child would outlive a signal to its parent.
    environment=MappingProxyType({"GEMINI_CLI_NO_RELAUNCH": "true"}),
    exit_codes=MappingProxyType(
        {
            41: "not authenticated: no key, or a way to log in that it refuses",
            55: "the folder is not trusted",
            144: "HTTP 400 from the model",
            145: "HTTP 401 from the model",
            173: "HTTP 429 from the model",
            244: "HTTP 500 from the model",
        }
    ),
)
