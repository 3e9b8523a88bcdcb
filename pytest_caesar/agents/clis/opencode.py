"""opencode. Tried offline and against a scripted model."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

from pytest_caesar.agents.cli_settings import MODEL, CliSettings, CliTask, json_object, merge
from pytest_caesar.agents.known_cli import KnownCli

_CONTENT = "OPENCODE_CONFIG_CONTENT"


def configure(task: CliTask) -> CliSettings:
    """Merge permissions, channel and model into the settings that it is given as a variable."""
    settings: dict[str, Any] = {"share": "disabled", "autoupdate": False}
    if task.read_only:
        # It has no sandbox: what is denied is not offered to the model.
        settings["permission"] = {"edit": "deny", "bash": "deny"}
    if task.channel:
        command, args = task.channel
        settings["mcp"] = {
            "caesar": {"type": "local", "command": [command, *args], "enabled": True}
        }
    if task.model_url is None:
        merged = merge(json_object(task.environ.get(_CONTENT, "")), settings)
        return CliSettings(environment={_CONTENT: json.dumps(merged)})
    provider, _, name = (task.model or "").rpartition("/")
    provider, name = provider or "caesar", name or MODEL
    settings |= _provider(task.model_url, provider, name)
    environment = {
        _CONTENT: json.dumps(settings),
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        # It would install a package of its own in the background.
        "npm_config_registry": "http://127.0.0.1:9/",
        "npm_config_offline": "true",
    }
    return CliSettings(environment=environment, model=f"{provider}/{name}")


def _provider(url: str, provider: str, name: str) -> dict[str, Any]:
    limit = {"context": 200_000, "output": 16_000}
    return {
        "provider": {
            provider: {
                "npm": "@ai-sdk/openai-compatible",
                "name": provider,
                "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                "models": {name: {"name": name, "tool_call": True, "limit": limit}},
            }
        },
        "model": f"{provider}/{name}",
        "small_model": f"{provider}/{name}",
        "enabled_providers": [provider],
    }


CLI = KnownCli(
    id="opencode",
    display_name="opencode",
    program="opencode",
    checked="1.18.33",
    # A title saves the side request to the model that would make one up.
    args=("run", "--format", "json", "--dir", "{{workspace}}", "--title", "caesar", "--auto"),
    model_args=("--model", "{{model}}"),
    brief_on_stdin=True,
    injection="environment",
    dialect="opencode",
    network="open",
    logins=("*_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "HOME"),
    login_files=(".local/share/opencode/auth.json",),
    configure=configure,
    exit_codes=MappingProxyType({1: "the model or the start failed"}),
)
