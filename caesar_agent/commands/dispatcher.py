"""A command line made of modules: ``caesar-agent`` and ``pytest-caesar`` are two of them."""

from __future__ import annotations

import argparse
import errno
import importlib
import importlib.util
import io
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caesar_agent.console import occupy_standard_descriptors, printable, settle, silence, tell
from caesar_agent.errors import CaesarError

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TypeAlias

    # argparse has no public name for what add_subparsers returns.
    Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

USAGE_ERROR = 2
"""Exit code of a command line that cannot be understood, and of a file that cannot be read."""

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells count it."""

HELD_BACK = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a command which answers them itself may have blocked before it is imported."""

OWN_PACKAGES = ("caesar_agent", "pytest_caesar")
"""What is never missing because something was not installed."""

_LAYOUT = "\n\t"
"""What stays as it is in a message of several lines."""

_OF_STREAMS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """Runs one of several commands, each a module of its own.

    A module has ``add_parser(subparsers)``, which sets the default ``run``, and
    ``run(args) -> int``. Only the one that is asked for is imported.

    Attributes:
        name: of the program.
        description: for its help.
        package: where the modules are.
        commands: their names, in the order of the help.
    """

    name: str
    description: str
    package: str
    commands: tuple[str, ...]

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Run one command.

        Args:
            argv: arguments without the program name; None for those of this process.

        Returns:
            The exit code: 0 for yes, 1 for no, 2 for a usage error or an unreadable
            file, 130 after an interruption.
        """
        arguments = list(sys.argv[1:] if argv is None else argv)
        closed = sys.stdout is None
        occupy_standard_descriptors()
        if sys.stderr is None:  # closed by the caller: what would be told there is lost
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        if closed:
            return self._refuse("standard output is closed; send it to a file or to /dev/null")
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal that cannot show a character shows its escape, and nothing fails.
                stream.reconfigure(errors="backslashreplace")
        code = 0
        try:
            code = self._run(arguments)
            sys.stdout.flush()
        except KeyboardInterrupt:
            return INTERRUPTED
        except BrokenPipeError:
            # The reader has gone (``caesar-agent events … | head``): nothing is left to
            # say, and the interpreter must not say it again when it flushes at exit. What
            # the command found out before stays true.
            silence(sys.stdout)
        except (CaesarError, ModuleNotFoundError, OSError) as error:
            problem = _sentence(error)
            if not problem:
                raise
            refused = self._refuse(problem)
            return code or refused
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, HELD_BACK)
            settle(sys.stderr)
        return code

    def _run(self, arguments: list[str]) -> int:
        parser = self._parser(arguments)
        args = parser.parse_args(arguments)
        if args.version:
            print(self._version())
            return 0
        if args.run is None:
            parser.print_help(sys.stderr)
            return USAGE_ERROR
        code: int = args.run(args)
        return code

    def _refuse(self, problem: str) -> int:
        # It may quote what an agent wrote, or the name of a folder that one made.
        tell(f"{self.name}: {printable(problem, keep=_LAYOUT)}\n")
        return USAGE_ERROR

    def _parser(self, arguments: Sequence[str]) -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser(prog=self.name, description=self.description)
        parser.add_argument("--version", action="store_true", help="print the version and exit")
        parser.set_defaults(run=None)
        subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
        # Only the module that is asked for is imported; help and mistakes need them all.
        named = next((word for word in arguments if not word.startswith("-")), None)
        wanted = (named,) if named in self.commands else self.commands
        for name in wanted:
            module = self._command(name)
            if module is not None:
                module.add_parser(subparsers)
        return parser

    def _command(self, name: str) -> ModuleType | None:
        """Return the module of a command, or None when this installation has none."""
        full = f"{self.package}.{name.replace('-', '_')}"
        if importlib.util.find_spec(full) is None:
            return None
        return importlib.import_module(full)

    def _version(self) -> str:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked for

        return f"{self.name} {version('pytest-caesar')}"


def _sentence(error: Exception) -> str:
    """Say what the world denies the program; "" where the program itself is wrong."""
    if isinstance(error, ModuleNotFoundError):
        top = (error.name or "").partition(".")[0]
        if top in ("", *OWN_PACKAGES):
            return ""
        return (
            f"it needs the package {top}, which is not installed; pip install pytest-caesar "
            "installs all that it needs"
        )
    if isinstance(error, OSError):
        if error.filename is not None:
            return f"{error.filename}: {error.strerror}"
        if error.errno not in _OF_STREAMS:
            return ""
        silence(sys.stdout)
        return f"the output cannot be written: {error.strerror}"
    return str(error)
