"""pi. Tried against a scripted model; it has no MCP, so no return channel."""

from __future__ import annotations

from pytest_caesar.agents.cli_settings import MODEL, CliSettings, CliTask, json_text
from pytest_caesar.agents.known_cli import KnownCli


def configure(task: CliTask) -> CliSettings:
    """Name a scripted model as a provider of its own."""
    if task.model_url is None:
        return CliSettings()
    name = task.model or MODEL
    provider = {
        "baseUrl": f"{task.model_url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": name}],
    }
    return CliSettings(
        home_files={".pi/agent/models.json": json_text({"providers": {"caesar": provider}})},
        arguments=("--provider", "caesar", "--offline"),
        model=name,
    )


CLI = KnownCli(
    id="pi",
    display_name="pi",
    program="pi",
    checked="0.73.1",
    args=("--mode", "json", "--no-session"),
    read_only_args=("--tools", "read,grep,find,ls"),
    model_args=("--model", "{{model}}"),
    prompt_args=("-p", "{{prompt}}"),
    dialect="pi",
    network="open",
    logins=("*_API_KEY", "HOME"),
    login_files=(".pi/agent/auth.json",),
    configure=configure,
)
