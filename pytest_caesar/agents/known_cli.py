"""What is known of a coding CLI: its command line, its settings, what it can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from pytest_caesar.agents.capabilities import Capabilities
from pytest_caesar.agents.cli_settings import Configure, no_settings

if TYPE_CHECKING:
    from pytest_caesar.agents.network import Control

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
        enclosed_args: instead of both, inside a sandbox of ours in which its own cannot work;
            empty where it has none.
        network_args: when the task has the network.
        model_args: when there is a model.
        schema_args: when its last message is held to a schema; empty when it cannot be.
        final_message_args: make it write its last message to a file; empty when it cannot.
        channel_args: when the return channel is open.
        tools_args: when only some tools may be used; empty when it has no such flag.
        prompt_args: the brief, last on the command line; empty when stdin alone carries it.
        brief_on_stdin: the brief is written to stdin.
        injection: how the return channel reaches it.
        dialect: name of its stream on stdout, or None for plain output.
        network: what can be done about its network.
        reports_by_file_read_only: its read-only mode still lets it write the report file.
        needs_result_line: exit code 0 alone is no success without a closing line.
        repeatable: flags of the entry that may be given again with other values.
        channel_failure: how it says on stderr that it could not start the channel, or "".
        environment: variables that are always set.
        logins: variables that carry its login, or the folder with it; one of them lets it
            talk to a model.
        login_files: files below HOME in which it keeps its login, as POSIX paths.
        login_missing: what it prints where it has no login; parts of a line.
        configure: its settings for one task: the channel, permissions, a scripted model.
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
    enclosed_args: Args = ()
    network_args: Args = ()
    model_args: Args = ()
    schema_args: Args = ()
    final_message_args: Args = ()
    channel_args: Args = ()
    tools_args: Args = ()
    prompt_args: Args = ()
    brief_on_stdin: bool = False
    injection: Injection = "none"
    dialect: str | None
    network: Control = "unknown"
    reports_by_file_read_only: bool = False
    needs_result_line: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    logins: Args = ()
    login_files: Args = ()
    login_missing: Args = ()
    repeatable: Args = ()
    channel_failure: str = ""
    configure: Configure = no_settings
    exit_codes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    tool_names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def taken(self, arguments: Args) -> str | None:
        """Return the first of some arguments that sets what the entry sets itself, or None.

        A flag that may be repeated (``repeatable``) is taken with a key of the entry alone.
        """
        own = tuple(
            argument
            for name in (
                *("args", "write_args", "read_only_args", "enclosed_args"),
                *("network_args", "model_args"),
                *("schema_args", "final_message_args", "channel_args", "tools_args"),
                "prompt_args",
            )
            for argument in getattr(self, name)
        )
        flags = {_flag(argument) for argument in own if argument.startswith("-")}
        keys = {argument.partition("=")[0] for argument in own if not argument.startswith("-")}
        for before, argument in zip(("", *arguments), arguments, strict=False):
            flag = _flag(argument)
            if argument.startswith("-") and flag in flags and flag not in self.repeatable:
                return argument
            if before in self.repeatable and "=" in argument:
                key = argument.partition("=")[0].strip()
                if key in keys or key.startswith("mcp_servers.caesar"):
                    return argument
        return None

    def capabilities(self) -> Capabilities:
        """Return what the orchestrator may count on."""
        return Capabilities(
            json_events=self.dialect is not None,
            output_schema=bool(self.schema_args),
            final_message_file=bool(self.final_message_args),
            native_read_only=True,
            add_dir=any("{{taskDir}}" in arg for arg in (*self.args, *self.write_args)),
            mcp_injection=self.injection,
            model=bool(self.model_args),
            network=self.network,
        )


def _flag(argument: str) -> str:
    return argument.partition("=")[0]
