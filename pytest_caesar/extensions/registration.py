"""Takes up what is added once: dialects, known CLIs, schemes of names, gates, prices, secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pytest_caesar.agents import schemes
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.config_reader import IDENTIFIER
from pytest_caesar.agents.known_cli import KnownCli
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.extensions.calls import call_each, is_implemented
from pytest_caesar.extensions.errors import HookError
from pytest_caesar.gates.gates import READERS, CommandGate, Gate, GateError, ModelGate
from pytest_caesar.recordings import placeholders
from pytest_caesar.recovery.streams.base import LineReader
from pytest_caesar.recovery.streams.dialects import DIALECTS
from pytest_caesar.sandboxes.choice import AUTO, NONE, SANDBOXES
from pytest_caesar.sandboxes.sandbox import Sandbox

if TYPE_CHECKING:
    import pluggy

    from pytest_caesar.agents.config import Config
    from pytest_caesar.agents.target import AgentTarget

Added = TypeVar("Added")


def install(manager: pluggy.PluginManager, tell: Callable[[HookError], None]) -> Callable[[], None]:
    """Take up what all plugins add.

    Args:
        manager: whose plugins.
        tell: is told of hooks that raise.

    Returns:
        What takes it all back.

    Raises:
        HookError: a plugin returned what cannot be used.
    """
    before = dict(DIALECTS), dict(CATALOGUE), dict(SANDBOXES)
    lists: tuple[list[Any], ...] = (schemes.RESOLVERS, READERS, placeholders.FINDERS)
    kept = [list(one) for one in lists]

    def undo() -> None:
        _replace(DIALECTS, before[0])
        _replace(CATALOGUE, before[1])
        _replace(SANDBOXES, before[2])
        for one, old in zip(lists, kept, strict=True):
            one[:] = old

    try:
        _replace(DIALECTS, _dialects(manager, tell))
        _replace(CATALOGUE, _clis(manager, tell))
        _replace(SANDBOXES, _sandboxes(manager, tell))
        if is_implemented(manager, "pytest_caesar_agent"):
            schemes.RESOLVERS.append(lambda name, config: _agent(manager, name, config))
        if is_implemented(manager, "pytest_caesar_gate"):
            READERS.append(lambda text: _gate(manager, text))
        if is_implemented(manager, "pytest_caesar_secrets"):
            placeholders.FINDERS.append(lambda text: _secrets(manager, text))
    except BaseException:
        undo()
        raise
    return undo


def _replace(registry: dict[str, Added], entries: dict[str, Added]) -> None:
    registry.clear()
    registry.update(entries)


def _added(
    manager: pluggy.PluginManager, hook: str, tell: Callable[[HookError], None]
) -> Iterable[tuple[str, Any]]:
    """Give each thing that a hook returns, with the plugin that it comes from; ours first."""
    for plugin, given in reversed(list(call_each(manager, hook))):
        if isinstance(given, HookError):
            tell(given)
        elif given is not None:
            if isinstance(given, str) or not isinstance(given, Iterable):
                problem = f"returned {given!r}: expected a list"
                raise HookError(plugin=plugin, hook=hook, problem=problem)
            yield from ((plugin, one) for one in given)


def _dialects(
    manager: pluggy.PluginManager, tell: Callable[[HookError], None]
) -> dict[str, type[LineReader]]:
    hook = "pytest_caesar_dialects"
    found: dict[str, type[LineReader]] = {}
    for plugin, reader in _added(manager, hook, tell):
        if not isinstance(reader, type) or not issubclass(reader, LineReader):
            problem = f"returned {reader!r}: expected subclasses of LineReader"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        name = getattr(reader, "name", None)
        if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
            problem = f"returned {reader.__name__}, whose name is {name!r}: expected a word"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        if found.setdefault(name, reader) is not reader:
            problem = f"returned a dialect {name!r}, which there is already: take another name"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
    return found


def _clis(manager: pluggy.PluginManager, tell: Callable[[HookError], None]) -> dict[str, KnownCli]:
    hook = "pytest_caesar_catalogue"
    found: dict[str, KnownCli] = {}
    for plugin, cli in _added(manager, hook, tell):
        if not isinstance(cli, KnownCli):
            problem = f"returned {cli!r}: expected entries of the type KnownCli"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        if not isinstance(cli.id, str) or not IDENTIFIER.fullmatch(cli.id):
            problem = f"returned an entry with the id {cli.id!r}: expected a word"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        if found.setdefault(cli.id, cli) is not cli:
            problem = f"returned an entry {cli.id!r}, which there is already: take another id"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        if cli.dialect is not None and cli.dialect not in DIALECTS:
            problem = (
                f"returned the entry {cli.id!r} with the dialect {cli.dialect!r}, which there is "
                f"not: return it from pytest_caesar_dialects, or take one of {', '.join(DIALECTS)}"
            )
            raise HookError(plugin=plugin, hook=hook, problem=problem)
    return found


def _sandboxes(
    manager: pluggy.PluginManager, tell: Callable[[HookError], None]
) -> dict[str, Sandbox]:
    hook = "pytest_caesar_sandboxes"
    found: dict[str, Sandbox] = {}
    for plugin, sandbox in _added(manager, hook, tell):
        if not isinstance(sandbox, Sandbox):
            problem = f"returned {sandbox!r}: expected instances of Sandbox"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        name = getattr(sandbox, "name", None)
        if not isinstance(name, str) or not IDENTIFIER.fullmatch(name) or name in (NONE, AUTO):
            problem = f"returned {sandbox!r}, whose name is {name!r}: expected a word of its own"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        if found.setdefault(name, sandbox) is not sandbox:
            problem = f"returned a sandbox {name!r}, which there is already: take another name"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
    return found


def _agent(
    manager: pluggy.PluginManager, name: str, config: Config
) -> tuple[str, AgentTarget | str] | None:
    hook = "pytest_caesar_agent"
    for plugin, given in call_each(manager, hook, name=name, config=config):
        if isinstance(given, HookError):
            raise given
        if given is None:
            continue
        if not isinstance(given, str | ProcessAgent | FunctionAgent):
            problem = (
                f"returned {given!r} for {name!r}: expected a ProcessAgent, a FunctionAgent, a "
                "command line, or None"
            )
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        return f"the plugin {plugin}", given
    return None


def _gate(manager: pluggy.PluginManager, text: str) -> Gate | None:
    hook = "pytest_caesar_gate"
    for plugin, given in call_each(manager, hook, text=text):
        if isinstance(given, HookError):
            raise GateError(gate=text, problem=str(given))
        if given is None:
            continue
        if not isinstance(given, CommandGate | ModelGate):
            problem = f"returned {given!r}: expected a CommandGate, a ModelGate, or None"
            error = HookError(plugin=plugin, hook=hook, problem=problem)
            raise GateError(gate=text, problem=str(error))
        return given
    return None


def _secrets(manager: pluggy.PluginManager, text: str) -> list[str]:
    hook = "pytest_caesar_secrets"
    found: list[str] = []
    for plugin, given in call_each(manager, hook, text=text):
        if isinstance(given, HookError):
            raise given
        if given is None:
            continue
        listed = [] if isinstance(given, str) else list(given)
        if isinstance(given, str) or not all(isinstance(one, str) for one in listed):
            problem = f"returned {type(given).__name__}: expected a list of strings"
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        short = [one for one in listed if len(one) < placeholders.SHORTEST_FOUND]
        if short:
            problem = (
                f"returned a part of {len(short[0])} characters: expected at least "
                f"{placeholders.SHORTEST_FOUND}, since shorter ones stand everywhere"
            )
            raise HookError(plugin=plugin, hook=hook, problem=problem)
        found += cast("list[str]", listed)
    return found
