"""What a name on the command line resolves to: something that can be run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pytest_caesar.agents.definitions import AgentDefinition

Origin = Literal["path", "function", "config", "catalogue", "definition", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessAgent:
    """An agent that is a program.

    Attributes:
        id: names the agent in test ids, events and branches; never a path.
        origin: how it was found.
        argv: program and arguments; the arguments may hold tokens such as
            ``{{prompt}}``; the program is absolute, or a bare name to be looked for
            on the child's PATH.
        project: folder that a relative program was resolved from, absolute POSIX.
        cwd_mode: ``process`` (the workspace is the working folder) or ``flag``
            (the task directory is; the workspace is given in an argument).
        network_args: added when the task has the network.
        native_read_only: it has a read-only mode of its own.
        dialect: its native stream on stdout, or None for plain output.
        brief_on_stdin: the brief is written to stdin, which is then closed.
        system_prompt: put in front of the context, from a definition or a role.
        structured: without ``cli``: it puts a structured final message into ``final-message.txt``.
        cli: id of the catalogue entry that makes its command line, or None.
        extra_args: with ``cli``: put behind the arguments of the entry, as they are.
        model: the model it wants when the task names none, or None.
        tools: the only tools it may use (lower case), or None for no restriction.
        display_name: how it calls itself, or "".
        where: the file that declares it, or "".
        import_root: folder that leads its ``PYTHONPATH``, or "": a Python that is told to
            run a module works in another folder than the one the module was named in.
        definition: the definition it was made from, or None.
        protocol: what it speaks on stdin and stdout: the contract alone, or ACP.
        acp_read: with ACP: the client offers to read files for it.
        auth_method: with ACP: the login that is used, or None.
        settings_of: with ACP: id of the known CLI whose variables and files it is given, or None.
    """

    id: str
    origin: Origin
    argv: tuple[str, ...]
    project: str = ""
    cwd_mode: Literal["process", "flag"] = "process"
    network_args: tuple[str, ...] = ()
    native_read_only: bool = False
    dialect: str | None = None
    brief_on_stdin: bool = False
    system_prompt: str = ""
    cli: str | None = None
    structured: bool = False
    extra_args: tuple[str, ...] = ()
    model: str | None = None
    tools: tuple[str, ...] | None = None
    display_name: str = ""
    where: str = ""
    import_root: str = ""
    definition: AgentDefinition | None = field(default=None, compare=False, repr=False)
    protocol: Literal["oacp", "acp"] = "oacp"
    acp_read: bool = False
    auth_method: str | None = None
    settings_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionAgent:
    """An agent that is a Python function ``main(agent) -> Report``, run in this process.

    Attributes:
        id: names the agent in test ids, events and branches.
        origin: how it was found.
        target: ``module:function``.
        import_root: folder put at the head of ``sys.path``.
        subprocess: run it as ``python -m caesar_agent TARGET`` instead.
    """

    id: str
    origin: Origin = "function"
    target: str
    import_root: str = ""
    subprocess: bool = False


AgentTarget = ProcessAgent | FunctionAgent
