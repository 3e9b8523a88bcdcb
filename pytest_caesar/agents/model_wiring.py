"""How an agent is pointed at a model on another address, without a login.

Everything is written into the agent's own temporary home and environment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

MODEL = "scripted"
"""What the model is called where nobody asks for another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What points one program at a model.

    Attributes:
        environment: variables to set.
        home_files: path relative to HOME, to text.
        settings: merged into the settings that the program gets for other reasons.
        model: the name for the command line, where it has to differ from what was asked for.
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    model: str | None = None


def general_wiring(url: str, model: str | None) -> dict[str, str]:
    """Return the variables that most programs and libraries read. ``url`` has no slash at its end."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": model or MODEL,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "none",
    }


def _codex(url: str, model: str | None) -> Wiring:
    # A name that codex knows: only then does it offer apply_patch.
    config = f"""\
model = {json.dumps(model or "gpt-5.5")}
model_provider = "caesar"

[analytics]
enabled = false

[model_providers.caesar]
name = "caesar"
base_url = {json.dumps(f"{url}/v1")}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
    return Wiring(home_files={".codex/config.toml": config})


def _opencode(url: str, model: str | None) -> Wiring:
    provider, _, name = (model or "").rpartition("/")
    provider, name = provider or "caesar", name or MODEL
    settings = {
        "provider": {
            provider: {
                "npm": "@ai-sdk/openai-compatible",
                "name": provider,
                "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
                "models": {
                    name: {
                        "name": name,
                        "tool_call": True,
                        "limit": {"context": 200_000, "output": 16_000},
                    }
                },
            }
        },
        "model": f"{provider}/{name}",
        "small_model": f"{provider}/{name}",
        "enabled_providers": [provider],
    }
    environment = {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        # It would install a package of its own in the background.
        "npm_config_registry": "http://127.0.0.1:9/",
        "npm_config_offline": "true",
    }
    return Wiring(environment=environment, settings=settings, model=f"{provider}/{name}")


def _gemini(url: str, model: str | None) -> Wiring:
    environment = {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_API_KEY": "none",
        "GOOGLE_VERTEX_BASE_URL": url,
        # Without a name it asks the model which model to ask.
        "GEMINI_MODEL": model or "gemini-2.5-pro",
    }
    settings = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False},
    }
    return Wiring(environment=environment, settings=settings)


def _copilot(url: str, model: str | None) -> Wiring:
    return Wiring(
        environment={
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": model or MODEL,
            "COPILOT_OFFLINE": "true",
        }
    )


_WIRINGS: Mapping[str, Callable[[str, str | None], Wiring]] = MappingProxyType(
    {"codex": _codex, "opencode": _opencode, "gemini": _gemini, "copilot": _copilot}
)


def wire(cli: str | None, url: str, model: str | None) -> Wiring:
    """Return what points a program at a model.

    Args:
        cli: id of a known CLI; None, or one without a way of its own, gets the general variables.
        url: address of the model, without a slash at its end.
        model: the name that was asked for, or None.
    """
    known = _WIRINGS.get(cli or "")
    return Wiring(environment=general_wiring(url, model)) if known is None else known(url, model)
