"""What a configuration holds: plain values, merged from its layers by ``config``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Mode = Literal["read-only", "write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One ``[[agent]]`` entry.

    Attributes:
        id: letters, digits, ``.``, ``_``, ``-``; starts with a letter or a digit.
        bin: the program: absolute, from the project's root, or looked for on PATH; "" with
            ``cli`` for the CLI's own.
        args: arguments with tokens; one holds ``{{prompt}}``.
        display_name: for people, or "".
        cwd_mode: ``process`` or ``flag``, see ``ProcessAgent``.
        native_read_only: it has a read-only mode of its own.
        network_args: added when the task has the network.
        cli: a known CLI that is run instead of a command line of its own, or "".
        protocol: what it speaks on stdin and stdout: the contract alone, or ACP.
        acp_read, auth_method: with ACP, see ``ProcessAgent``.
        extra_args: with ``cli``: put behind the arguments that the CLI is run with.
        file: the layer that declares it.
        line: 1-based line of its table there, or None.
    """

    id: str
    bin: str
    args: tuple[str, ...] = ()
    display_name: str = ""
    cwd_mode: Literal["process", "flag"] = "process"
    native_read_only: bool = False
    network_args: tuple[str, ...] = ()
    cli: str = ""
    extra_args: tuple[str, ...] = ()
    protocol: Literal["oacp", "acp"] = "oacp"
    acp_read: bool = False
    auth_method: str = ""
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorktreeConfig:
    """``[worktree]``: what is put into a worktree; relative POSIX paths and shell commands."""

    copy: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """``[policy]``: who may be delegated to, and what a task is when it does not say.

    Attributes:
        allowed: ids; empty allows every agent.
        denied: ids that are refused, whatever ``allowed`` says.
        max_parallel: agents that run at once.
        default_timeout_ms: deadline of a task that names none.
        allow_recursion: the main agent's own CLI may be delegated to.
        allow_inplace_write: writing in place needs no further word.
        max_depth: a task of this depth or more is refused.
        depth_is_given: a file says ``max_depth``; otherwise a team implies what it needs.
        sandbox: in which agents run: ``none``, ``auto``, or the name of one.
        sandbox_read, sandbox_write, hide: paths shown, writable or hidden in it.
        max_memory: bytes that all processes of a task may use together; None for no bound.
        max_processes: how many of them there may be; None for no bound.
    """

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    max_parallel: int = 4
    default_isolation: Literal["auto", "inplace", "worktree"] = "auto"
    default_mode: Mode = "write"
    default_network: Literal["auto", "on", "off"] = "auto"
    default_timeout_ms: int = 600_000
    allow_recursion: bool = False
    allow_inplace_write: bool = False
    max_depth: int = 2
    depth_is_given: bool = False
    sandbox: str = "none"
    sandbox_read: tuple[str, ...] = ()
    sandbox_write: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    max_memory: int | None = None
    max_processes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One ``[[role]]``: a profile that elects the first agent of a list that can run.

    Attributes:
        system_prompt_file: path below ``.caesar/`` of the text put before the context.
        model: the model for whichever agent is elected, or None.
    """

    name: str
    agents: tuple[str, ...]
    mode: Mode
    purpose: str = ""
    isolation: Literal["auto", "inplace", "worktree"] = "auto"
    network: Literal["auto", "on", "off"] = "auto"
    timeout_ms: int = 600_000
    system_prompt_file: str | None = None
    model: str | None = None
    file: str = ""
    line: int | None = None

    @property
    def builtin(self) -> bool:
        """No file declares it."""
        return not self.file


BUILTIN_ROLES = (
    Role(
        name="reviewer",
        purpose="Reads changes and says what is wrong with them.",
        agents=("codex", "antigravity"),
        mode="read-only",
        isolation="inplace",
        system_prompt_file="roles/reviewer.md",
    ),
    Role(
        name="implementer",
        purpose="Makes a change and verifies it.",
        agents=("codex", "antigravity", "opencode"),
        mode="write",
        isolation="worktree",
        system_prompt_file="roles/implementer.md",
    ),
    Role(
        name="investigator",
        purpose="Finds out how something works, without changing it.",
        agents=("antigravity", "codex", "opencode"),
        mode="read-only",
        system_prompt_file="roles/investigator.md",
    ),
)
"""The roles every project has; a ``[[role]]`` of the same name replaces one whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All layers together.

    Attributes:
        agents: by first appearance; a later layer's entry of the same id replaces it whole.
        models: agent id to model.
        roles: built-in ones first.
        files: the layers that were read, in order.
        shadowed: ``[[agent]]`` entries that a later layer replaced.
    """

    agents: tuple[AgentSpec, ...] = ()
    worktree: WorktreeConfig = field(default_factory=WorktreeConfig)
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    models: Mapping[str, str] = field(default_factory=dict)
    roles: tuple[Role, ...] = BUILTIN_ROLES
    files: tuple[str, ...] = ()
    shadowed: tuple[AgentSpec, ...] = ()
