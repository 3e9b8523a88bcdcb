"""Antigravity. Put together from its documentation; not tried."""

from __future__ import annotations

from pytest_caesar.agents.known_cli import KnownCli

CLI = KnownCli(
    id="antigravity",
    display_name="Antigravity",
    program="agy",
    args=(
        "--output-format",
        "stream-json",
        "--print-timeout",
        "{{seconds}}s",
        "--add-dir",
        "{{taskDir}}",
    ),
    write_args=("--mode", "accept-edits", "--dangerously-skip-permissions"),
    read_only_args=("--mode", "plan"),
    model_args=("--model", "{{model}}"),
    schema_args=("--json-schema", "{{schemaPath}}"),
    prompt_args=("--print={{prompt}}",),
    repeatable=("--add-dir",),
    dialect="antigravity",
    network="open",
)
