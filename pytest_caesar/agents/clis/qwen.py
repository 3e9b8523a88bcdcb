"""Qwen Code. Tried against a scripted model; no real login was tried."""

from __future__ import annotations

from pytest_caesar.agents.cli_settings import CliSettings, CliTask, general_variables
from pytest_caesar.agents.known_cli import KnownCli


def configure(task: CliTask) -> CliSettings:
    """Have it log in with a key of OpenAI's form, where one is given or a scripted model is."""
    by_key = ("--auth-type", "openai")
    if task.model_url is not None:
        return CliSettings(
            environment=general_variables(task.model_url, task.model), arguments=by_key
        )
    return CliSettings(arguments=by_key if task.environ.get("OPENAI_API_KEY") else ())


CLI = KnownCli(
    id="qwen",
    display_name="Qwen Code",
    program="qwen",
    checked="0.15.10",
    args=("-o", "stream-json", "--include-directories", "{{taskDir}}"),
    write_args=("--approval-mode", "yolo"),
    read_only_args=("--approval-mode", "plan"),
    model_args=("-m", "{{model}}"),
    channel_args=("--mcp-config", "{{channelConfig}}"),
    brief_on_stdin=True,
    injection="file",
    dialect="qwen",
    network="open",
    logins=("OPENAI_API_KEY", "DASHSCOPE_API_KEY", "HOME"),
    login_files=(".qwen/oauth_creds.json",),
    configure=configure,
    repeatable=("--include-directories",),
)
