"""The coding CLIs that are known: what each takes on its command line.

Entries are data. ``checked`` says for which version every flag was tried; an entry without
it was put together from documentation and is labelled so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pytest_caesar.agents.capabilities import Capabilities
from pytest_caesar.agents.target import FunctionAgent
from pytest_caesar.agents.tokens import tokens_in

if TYPE_CHECKING:
    from pytest_caesar.agents.network import Control
    from pytest_caesar.agents.target import AgentTarget

Injection = Literal["none", "arguments", "environment", "file", "home"]
Args = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCli:
    """One CLI.

    Arguments may hold the tokens of a configuration, and ``{{schemaPath}}``,
    ``{{finalMessage}}``, ``{{channelConfig}}``, ``{{channelCommand}}``, ``{{channelArgs}}``
    (both as TOML), ``{{seconds}}`` (until the deadline) and ``{{tools}}``.

    Attributes:
        id: name in the catalogue, and of its agent.
        display_name: as its makers write it.
        program: looked for on PATH.
        checked: version that every flag was tried with, or None.
        args: always given.
        write_args: for tasks that may write.
        read_only_args: for tasks that may not.
        network_args: when the task has the network.
        model_args: when there is a model.
        schema_args: when its last message is held to a schema; empty when it cannot be.
        final_message_args: make it write its last message to a file; empty when it cannot.
        channel_args: when the return channel is open.
        tools_args: when only some tools may be used; empty when it has no such flag.
        prompt_args: the brief, last on the command line; empty when stdin alone carries it.
        brief_on_stdin: the brief is written to stdin.
        injection: how the return channel reaches it.
        dialect: name of its stream on stdout.
        network: what can be done about its network.
        reports_by_file_read_only: its read-only mode still lets it write the report file.
        needs_result_line: exit code 0 alone is no success without a closing line.
        environment: variables that are always set.
        exit_codes: what its exit codes mean, for messages.
        tool_names: its own name of each common tool, where ``tools_args`` takes names.
    """

    id: str
    display_name: str
    program: str
    checked: str | None = None
    args: Args = ()
    write_args: Args = ()
    read_only_args: Args = ()
    network_args: Args = ()
    model_args: Args = ()
    schema_args: Args = ()
    final_message_args: Args = ()
    channel_args: Args = ()
    tools_args: Args = ()
    prompt_args: Args = ()
    brief_on_stdin: bool = False
    injection: Injection = "none"
    dialect: str
    network: Control = "unknown"
    reports_by_file_read_only: bool = False
    needs_result_line: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    exit_codes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    tool_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def capabilities(self) -> Capabilities:
        """Return what the orchestrator may count on."""
        return Capabilities(
            json_events=True,
            output_schema=bool(self.schema_args),
            final_message_file=bool(self.final_message_args),
            native_read_only=True,
            add_dir=any("{{taskDir}}" in arg for arg in (*self.args, *self.write_args)),
            mcp_injection=self.injection,
            model=bool(self.model_args),
            network=self.network,
        )


_CODEX = KnownCli(
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
    exit_codes=MappingProxyType(
        {
            1: "the turn failed, or a file it was given is missing",
            2: "it was called in a way it does not know",
        }
    ),
)

_OPENCODE = KnownCli(
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
    exit_codes=MappingProxyType({1: "the model or the start failed"}),
)

_GEMINI = KnownCli(
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
    needs_result_line=True,
    # The relaunched child would outlive a signal to its parent.
    environment=MappingProxyType({"GEMINI_CLI_NO_RELAUNCH": "true"}),
    exit_codes=MappingProxyType(
        {
            41: "no API key",
            55: "the folder is not trusted",
            144: "HTTP 400 from the model",
            145: "HTTP 401 from the model",
            173: "HTTP 429 from the model",
            244: "HTTP 500 from the model",
        }
    ),
)

_CLAUDE = KnownCli(
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

_COPILOT = KnownCli(
    id="copilot",
    display_name="Copilot CLI",
    program="copilot",
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
    network_args=("--allow-all-urls",),
    model_args=("--model", "{{model}}"),
    channel_args=("--additional-mcp-config", "@{{channelConfig}}"),
    # One argument, so that a brief that starts with a dash is not taken for a flag.
    prompt_args=("--prompt={{prompt}}",),
    injection="file",
    dialect="copilot",
    network="toggle",
)

_ANTIGRAVITY = KnownCli(
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
    dialect="antigravity",
    network="open",
)

CATALOGUE: Mapping[str, KnownCli] = MappingProxyType(
    {cli.id: cli for cli in (_CODEX, _OPENCODE, _GEMINI, _CLAUDE, _COPILOT, _ANTIGRAVITY)}
)
"""Every known CLI by its id, those that were checked first."""


def explain_exit(cli: str | None, exit_code: int | None) -> str:
    """Return what an exit code of a known CLI means, or ""."""
    if cli is None or exit_code is None or cli not in CATALOGUE:
        return ""
    return CATALOGUE[cli].exit_codes.get(exit_code, "")


def capabilities_of(agent: AgentTarget) -> Capabilities:
    """Return what can be counted on for an agent.

    A program's own command line says nothing about streams, schemas or channels, so
    those are false for it; a function of this process has nothing to take flags.
    """
    if isinstance(agent, FunctionAgent):
        return Capabilities()
    if agent.cli is not None:
        return CATALOGUE[agent.cli].capabilities()
    return Capabilities(
        native_read_only=agent.native_read_only,
        model=any("model" in tokens_in(argument) for argument in agent.argv[1:]),
        network="toggle" if agent.network_args else "unknown",
    )
