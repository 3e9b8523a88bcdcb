"""Copilot CLI. Tried offline and against a scripted model."""

from __future__ import annotations

from pytest_caesar.agents.cli_settings import MODEL, CliSettings, CliTask
from pytest_caesar.agents.known_cli import KnownCli


def configure(task: CliTask) -> CliSettings:
    """Name a scripted model as its provider, which needs no login at GitHub."""
    if task.model_url is None:
        return CliSettings()
    return CliSettings(
        environment={
            "COPILOT_PROVIDER_BASE_URL": f"{task.model_url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": task.model or MODEL,
            "COPILOT_OFFLINE": "true",
        }
    )


CLI = KnownCli(
    id="copilot",
    display_name="Copilot CLI",
    program="copilot",
    checked="1.0.102",
    args=(
        "--output-format",
        "json",
        "--no-color",
        "--log-level",
        "none",
        "--add-dir",
        "{{taskDir}}",
    ),
    write_args=("--allow-all-tools",),
    read_only_args=("--deny-tool=write", "--deny-tool=shell"),
    model_args=("--model", "{{model}}"),
    channel_args=("--additional-mcp-config", "@{{channelConfig}}"),
    # One argument, so that a brief that starts with a dash is not taken for a flag.
    prompt_args=("--prompt={{prompt}}",),
    injection="file",
    dialect="copilot",
    # Its flags for URLs hold for its own tools: a shell reaches the network all the same.
    network="open",
    logins=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_*", "HOME"),
    login_files=(".config/gh/hosts.yml",),
    login_missing=("No authentication information found",),
    configure=configure,
    repeatable=("--add-dir", "--deny-tool", "--additional-mcp-config"),
)
