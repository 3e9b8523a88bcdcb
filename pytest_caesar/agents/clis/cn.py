"""Continue's ``cn``. Tried against a scripted model; it prints its last message alone."""

from __future__ import annotations

import json

from pytest_caesar.agents.cli_settings import MODEL, CliSettings, CliTask
from pytest_caesar.agents.known_cli import KnownCli

_CONFIG = "cn.yaml"


def configure(task: CliTask) -> CliSettings:
    """Name a scripted model in a configuration of its own; JSON is YAML too."""
    if task.model_url is None:
        return CliSettings()
    name = task.model or MODEL
    model = {
        "name": name,
        "provider": "openai",
        "model": name,
        "apiBase": f"{task.model_url}/v1/",
        "apiKey": "none",
        "roles": ["chat"],
        "capabilities": ["tool_use"],
    }
    config = {"name": "caesar", "version": "1.0.0", "schema": "v1", "models": [model]}
    return CliSettings(
        files={_CONFIG: json.dumps(config, indent=2) + "\n"},
        arguments=("--config", "{{taskDir}}/" + _CONFIG),
    )


CLI = KnownCli(
    id="cn",
    display_name="Continue",
    program="cn",
    checked="1.5.47",
    write_args=("--auto",),
    read_only_args=("--readonly",),
    prompt_args=("-p", "{{prompt}}"),
    dialect=None,
    network="open",
    logins=("CONTINUE_API_KEY", "ANTHROPIC_API_KEY", "HOME"),
    login_files=(".continue/auth.json",),
    configure=configure,
)
