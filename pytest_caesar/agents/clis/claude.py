"""Claude Code. Put together from its documentation; not tried."""

from __future__ import annotations

from types import MappingProxyType

from pytest_caesar.agents.known_cli import KnownCli

CLI = KnownCli(
    id="claude",
    display_name="Claude Code",
    program="claude",
    args=("--print", "--output-format", "stream-json", "--verbose", "--add-dir", "{{taskDir}}"),
    write_args=("--permission-mode", "acceptEdits"),
    read_only_args=("--permission-mode", "plan"),
    model_args=("--model", "{{model}}"),
    channel_args=("--mcp-config={{channelConfig}}", "--allowedTools=mcp__caesar"),
    tools_args=("--tools={{tools}}",),
    brief_on_stdin=True,
    injection="file",
    dialect="claude",
    repeatable=("--add-dir",),
    logins=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "HOME"),
    login_files=(".claude/.credentials.json",),
    login_missing=("Please run /login",),
    tool_names=MappingProxyType(
        {
            "read": "Read",
            "grep": "Grep",
            "find": "Glob",
            "glob": "Glob",
            "bash": "Bash",
            "edit": "Edit",
            "write": "Write",
            "task": "Task",
            "fetch": "WebFetch",
            "webfetch": "WebFetch",
            "web_search": "WebSearch",
            "websearch": "WebSearch",
            "todowrite": "TodoWrite",
            "notebookedit": "NotebookEdit",
        }
    ),
)
