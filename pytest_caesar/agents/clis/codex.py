"""Codex. Tried offline and against a scripted model."""

from __future__ import annotations

import json
from types import MappingProxyType

from pytest_caesar.agents.cli_settings import CliSettings, CliTask
from pytest_caesar.agents.known_cli import KnownCli


def configure(task: CliTask) -> CliSettings:
    """Name a scripted model as its provider; all else is on its command line."""
    if task.model_url is None:
        return CliSettings()
    # A name that codex knows: only then does it offer apply_patch. A retry would hide a fault.
    config = f"""\
model = {json.dumps(task.model or "gpt-5.5")}
model_provider = "caesar"

[analytics]
enabled = false

[model_providers.caesar]
name = "caesar"
base_url = {json.dumps(f"{task.model_url}/v1")}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
    return CliSettings(home_files={".codex/config.toml": config})


CLI = KnownCli(
    id="codex",
    display_name="Codex",
    program="codex",
    checked="0.171.0",
    args=(
        "exec",
        "--json",
        "--skip-git-repo-check",
        # A login shell resets PATH, and the project's own programs are not found.
        "-c",
        "allow_login_shell=false",
        "-C",
        "{{workspace}}",
    ),
    # In the read-only sandbox an added folder is not writable, so it is not even added.
    write_args=("-s", "workspace-write", "--add-dir", "{{taskDir}}"),
    read_only_args=("-s", "read-only"),
    # Landlock and a user namespace of its own: as root, neither works inside another sandbox.
    enclosed_args=("-s", "danger-full-access"),
    network_args=("-c", "sandbox_workspace_write.network_access=true"),
    model_args=("-m", "{{model}}"),
    schema_args=("--output-schema", "{{schemaPath}}"),
    final_message_args=("-o", "{{finalMessage}}"),
    channel_args=(
        "-c",
        "mcp_servers.caesar.command={{channelCommand}}",
        "-c",
        "mcp_servers.caesar.args={{channelArgs}}",
        # Without it each call is refused, because nobody is there to approve it.
        "-c",
        'mcp_servers.caesar.default_tools_approval_mode="approve"',
        # It does not wait for its servers: a first call would find no tool on a busy machine.
        "-c",
        "mcp_servers.caesar.required=true",
    ),
    prompt_args=("-",),
    brief_on_stdin=True,
    injection="arguments",
    dialect="codex",
    network="write-only",
    logins=("CODEX_API_KEY", "OPENAI_API_KEY", "CODEX_HOME", "HOME"),
    login_files=(".codex/auth.json",),
    login_missing=("Not logged in",),
    configure=configure,
    repeatable=("-c", "--add-dir"),
    channel_failure="required MCP servers failed to initialize",
    exit_codes=MappingProxyType(
        {
            1: "the turn failed, or a file it was given is missing",
            2: "it was called in a way it does not know",
        }
    ),
)
