"""``.caesar/config.toml`` in its three layers: what a project says about its agents."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_caesar.agents.config_reader import Table
from pytest_caesar.agents.config_values import (
    BUILTIN_ROLES,
    AgentSpec,
    Config,
    PolicyConfig,
    Role,
    WorktreeConfig,
)
from pytest_caesar.agents.durations import parse_duration
from pytest_caesar.agents.errors import ConfigError, shown
from pytest_caesar.agents.tokens import TOKENS, tokens_in, unknown_tokens
from pytest_caesar.agents.toml_bounds import TomlBoundError, check_bounds
from pytest_caesar.agents.toml_lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

__all__ = [
    "BUILTIN_ROLES",
    "AgentSpec",
    "Config",
    "PolicyConfig",
    "Role",
    "WorktreeConfig",
    "load_config",
    "merge_config",
    "parse_duration",
]

MAX_CONFIG_BYTES = 1 << 20
"""A configuration is written by hand; what is larger is another file by mistake."""


def project_files(project: Path) -> list[Path]:
    """Return the files that configure a project, whether they are there or not; later ones win."""
    return [project / ".caesar" / name for name in ("config.toml", "config.local.toml")]


def load_config(project: Path, *, user_config: bool = False, home: Path | None = None) -> Config:
    """Read the layers of a project: user's (when asked for), project's, local.

    Args:
        project: root of the project; its files are ``.caesar/config.toml`` and
            ``.caesar/config.local.toml``.
        user_config: read ``~/.config/caesar/config.toml`` first.
        home: the folder meant by ``~``; the user's own when None.

    Returns:
        The merged configuration; defaults where no file says anything.

    Raises:
        ConfigError: the first thing that is wrong, with file, key and line.
    """
    files = project_files(project)
    if user_config:
        files.insert(0, (home or Path.home()) / ".config" / "caesar" / "config.toml")
    config = Config()
    for file in files:
        text = _read(file)
        if text is not None:
            config = merge_config(config, text, file=str(file))
    return config


def merge_config(base: Config, text: str, *, file: str) -> Config:
    """Lay one layer over the layers before it; pure. Errors as for ``load_config``."""
    try:
        check_bounds(text)
        data: dict[str, Any] = tomllib.loads(text)
    except TomlBoundError as error:
        raise ConfigError(file=file, line=error.line, key="", problem=error.problem) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            file=file, line=_line_in(str(error)), key="", problem=f"not valid TOML: {error}"
        ) from error
    root = Table(data, file=file, lines=Lines(text))
    root.only(("agent", "worktree", "policy", "models", "role"))
    agents = _unique([_agent(table) for table in root.tables("agent")], root, "agent", "id")
    roles = _unique([_role(table) for table in root.tables("role")], root, "role", "name")
    replaced = {spec.id for spec in agents}
    return Config(
        agents=_overlay(base.agents, agents, "id"),
        worktree=_worktree(base.worktree, root.table("worktree")),
        policy=_policy(base.policy, root.table("policy")),
        models={**base.models, **root.table("models").all_strings()},
        roles=_overlay(base.roles, roles, "name"),
        files=(*base.files, file),
        shadowed=(*base.shadowed, *(spec for spec in base.agents if spec.id in replaced)),
    )


def _read(file: Path) -> str | None:
    try:
        if not file.exists():
            return None
        if not file.is_file():
            raise ConfigError(file=str(file), line=None, key="", problem="not a regular file")
        with file.open("rb") as stream:
            data = stream.read(MAX_CONFIG_BYTES + 1)
        if len(data) > MAX_CONFIG_BYTES:
            raise ConfigError(
                file=str(file),
                line=None,
                key="",
                problem=f"larger than {MAX_CONFIG_BYTES} bytes, which no configuration is",
            )
        # Windows editors write a mark in front, which TOML does not allow.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(
            file=str(file), line=line, key="", problem="not UTF-8, as TOML must be"
        ) from error
    except OSError as error:
        raise ConfigError(
            file=str(file), line=None, key="", problem=f"cannot be read: {error.strerror}"
        ) from error


def _agent(table: Table) -> AgentSpec:
    if "cli" in table:
        return _known_agent(table)
    table.only(
        (
            *("id", "bin", "args", "display_name", "cwd_mode", "native_read_only", "network_args"),
            *("protocol", "acp_read", "auth_method"),
        )
    )
    protocol = table.choice("protocol", ("oacp", "acp"), default="oacp")
    for key in ("acp_read", "auth_method"):
        if table.has(key) and protocol != "acp":
            raise table.error(key, 'it is for agents with protocol = "acp" alone')
    ident = table.identifier("id")
    program = table.string("bin", required=True)
    if not program.strip():
        raise table.error("bin", "it is blank; expected the program to start")
    args, network_args = table.strings("args"), table.strings("network_args")
    for key, arguments in (("args", args), ("network_args", network_args)):
        if unknown := unknown_tokens(arguments):
            raise table.error(
                key, f"unknown token {{{{{unknown[0]}}}}}; {_known_tokens()}", unknown[0], TOKENS
            )
    if protocol == "oacp" and not any("prompt" in tokens_in(argument) for argument in args):
        raise table.error(
            "args",
            "no argument holds {{prompt}}, so the agent would never see its task; add one, "
            'such as args = ["{{prompt}}"]',
        )
    return AgentSpec(
        id=ident,
        bin=program,
        args=args,
        display_name=table.string("display_name"),
        cwd_mode=table.choice("cwd_mode", ("process", "flag"), default="process"),
        native_read_only=table.boolean("native_read_only", default=False),
        network_args=network_args,
        protocol="acp" if protocol == "acp" else "oacp",
        acp_read=table.boolean("acp_read", default=False),
        auth_method=table.string("auth_method"),
        file=table.file,
        line=table.line(),
    )


def _known_agent(table: Table) -> AgentSpec:
    """Read an entry that runs a known CLI with flags of the project's own."""
    from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (seldom needed)

    table.only(("id", "cli", "bin", "extra_args", "display_name"))
    ident = table.identifier("id")
    cli = table.choice("cli", tuple(CATALOGUE), required=True)
    extra_args = table.strings("extra_args")
    taken = CATALOGUE[cli].taken(extra_args)
    if taken is not None:
        raise table.error(
            "extra_args",
            f"{shown(taken)} is what {cli} is run with here, and cannot be given again; "
            "mode, network, model and channel come from the task",
        )
    return AgentSpec(
        id=ident,
        bin=table.filled("bin") or "",
        cli=cli,
        extra_args=extra_args,
        display_name=table.string("display_name"),
        file=table.file,
        line=table.line(),
    )


def _known_tokens() -> str:
    return "known are " + ", ".join(f"{{{{{name}}}}}" for name in TOKENS)


def _role(table: Table) -> Role:
    table.only(
        (
            "name",
            "purpose",
            "agents",
            "mode",
            "isolation",
            "network",
            "timeout",
            "system_prompt_file",
            "model",
        )
    )
    return Role(
        name=table.identifier("name"),
        purpose=table.string("purpose"),
        agents=table.strings("agents", required=True),
        mode=table.choice("mode", ("read-only", "write"), required=True),
        isolation=table.choice("isolation", ("auto", "inplace", "worktree"), default="auto"),
        network=table.choice("network", ("auto", "on", "off"), default="auto"),
        timeout_ms=table.duration("timeout", default=600_000),
        system_prompt_file=table.relative_path("system_prompt_file") or None,
        model=table.filled("model"),
        file=table.file,
        line=table.line(),
    )


def _worktree(base: WorktreeConfig, table: Table) -> WorktreeConfig:
    table.only(("copy", "link", "setup"))
    return replace(
        base,
        **{key: table.relative_paths(key) for key in ("copy", "link") if table.has(key)},
        **({"setup": table.strings("setup")} if table.has("setup") else {}),
    )


def _policy(base: PolicyConfig, table: Table) -> PolicyConfig:
    isolation = ("auto", "inplace", "worktree")
    readers: dict[str, Callable[[str], object]] = {
        "allowed": table.strings,
        "denied": table.strings,
        "max_parallel": lambda key: table.integer(key, at_least=1),
        "default_isolation": lambda key: table.choice(key, isolation),
        "default_mode": lambda key: table.choice(key, ("read-only", "write")),
        "default_network": lambda key: table.choice(key, ("auto", "on", "off")),
        "default_timeout": lambda key: table.duration(key, default=0),
        "allow_recursion": lambda key: table.boolean(key, default=False),
        "allow_inplace_write": lambda key: table.boolean(key, default=False),
        "max_depth": lambda key: table.integer(key, at_least=0),
        "sandbox": table.string,
        "sandbox_read": table.strings,
        "sandbox_write": table.strings,
        "hide": table.strings,
        "max_memory": table.size,
        "max_processes": lambda key: table.integer(key, at_least=1),
    }
    table.only(tuple(readers))
    fields = {"default_timeout": "default_timeout_ms"}
    said: dict[str, Any] = {
        fields.get(key, key): reader(key) for key, reader in readers.items() if table.has(key)
    }
    if "max_depth" in said:
        said["depth_is_given"] = True
    return replace(base, **said)


def _unique(entries: list[Any], root: Table, table: str, key: str) -> tuple[Any, ...]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        name = getattr(entry, key)
        if name in seen:
            first = root.line_at((table, seen[name]))
            raise ConfigError(
                file=root.file,
                line=root.line_at((table, index, key)),
                key=f"{table}[{index}].{key}",
                problem=f"{shown(name)} is declared twice in this file (first on line {first})",
            )
        seen[name] = index
    return tuple(entries)


def _overlay(base: tuple[Any, ...], later: tuple[Any, ...], key: str) -> tuple[Any, ...]:
    by_name = {getattr(entry, key): entry for entry in base}
    by_name.update({getattr(entry, key): entry for entry in later})
    return tuple(by_name.values())


def _line_in(message: str) -> int | None:
    head, _, tail = message.rpartition("line ")
    digits = tail.split(",")[0].strip(" )")
    return int(digits) if head and digits.isdecimal() else None
