"""The words of command lines; pure. What cannot be read as a shell would is left as it is."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_COMMAND = 16 * 1024
"""Characters of a command line that are looked into; of longer ones only the text is compared."""

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh"})
"""Programs that run a command line given with ``-c``."""

_SPECIAL = re.compile(r"[|&;<>()$`*?\[\]{}~!#\n\\]")
"""What quoting makes a difference to, besides blanks."""

_QUOTING = re.compile(r"['\"\\]")
"""Without these the words are what stands between blanks."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=.*", re.DOTALL)
_PYTHON = re.compile(r"python(?:\d+(?:\.\d+)*)?")
_MAX_DEPTH = 8

_PREFIXES: dict[str, frozenset[str]] = {
    # Programs that run the rest of their words -> those of their options that take a word.
    "env": frozenset({"-u", "-C", "-S", "--unset", "--chdir"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "nohup": frozenset(),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "command": frozenset(),
    "exec": frozenset({"-a"}),
    "sudo": frozenset({"-u", "-g"}),
    "xvfb-run": frozenset({"-n", "-s"}),
    "npx": frozenset({"-p", "--package"}),
}
_RUNNERS = frozenset(
    {
        ("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"),
        ("rye", "run"), ("pixi", "run"), ("conda", "run"), ("bundle", "exec"), ("pnpm", "exec"),
        ("npm", "exec"), ("yarn", "exec"), ("coverage", "run"),
    }
)  # fmt: skip
"""Programs that run the rest of their words after this one."""

_RUNNER_OPTIONS = frozenset({"--with", "--extra", "--group", "--package", "-n", "-p"})
"""Options of theirs that take a word."""

_KEYWORDS = frozenset({"", "!", "if", "then", "else", "elif", "do", "while", "until"})

_OPAQUE = frozenset(
    [
        "make",
        "gmake",
        "tox",
        "nox",
        "just",
        "task",
        "invoke",
        "inv",
        "npm",
        "yarn",
        "pnpm",
        "bun",
        "npx",
        "hatch",
        "pdm",
        "poetry",
        "uv",
        "pipenv",
        "rye",
        "pixi",
        "conda",
        "gradle",
        "gradlew",
        "mvn",
        "ant",
        "bazel",
        "rake",
        "bundle",
        "composer",
        "docker",
        "podman",
        "pre-commit",
        "act",
        "doit",
        "ninja",
        "eval",
        "source",
        ".",
        "codex",
        "claude",
        "gemini",
        "opencode",
        "copilot",
    ]
)
"""Programs that run others which their command line does not name."""

_INSTALLING = frozenset(
    [
        "install",
        "add",
        "remove",
        "sync",
        "lock",
        "ci",
        "i",
        "init",
        "update",
        "upgrade",
        "pull",
        "build",
        "images",
        "ps",
    ]
)
"""What these programs do without running what is in the project."""

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One program with its words, as it stands in a command line.

    Attributes:
        argv: its words, wrappers taken off.
        own_status: the exit code of the whole command line is that of this program, or the
            line would have failed with it.
    """

    argv: tuple[str, ...]
    own_status: bool


def words(command: str) -> tuple[str, ...]:
    """Return what makes two command lines the same.

    The words, as a shell splits them; where quoting may make a difference beyond that, the
    text itself.
    """
    text = command.strip()
    if len(text) > MAX_COMMAND or _SPECIAL.search(text):
        return (text,)
    return split(text) or (text,)


def split(text: str) -> tuple[str, ...]:
    """Return the words of a command line; () when a shell would not take it either."""
    if len(text) > MAX_COMMAND:
        return ()
    if not _QUOTING.search(text):
        return tuple(text.split())
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return ()


def unwrapped(command: str) -> str:
    """Take one ``bash -lc '…'`` off; what has none is returned as it is."""
    argv = split(command) if len(command) <= MAX_COMMAND else ()
    inner = shell_text(argv)
    return command if inner is None else inner


def shell_text(argv: Sequence[str]) -> str | None:
    """Return the command line that a shell is given with ``-c`` as its last word, else None."""
    if len(argv) < 3 or _name(argv[0]) not in SHELLS:
        return None
    options = argv[1:-1]
    flags = [word for word in options if re.fullmatch(r"-[a-z]+", word)]
    takes = len(flags) == len(options) and flags[-1].endswith("c")
    return argv[-1] if takes else None


def simple_commands(command: str) -> tuple[SimpleCommand, ...]:
    """Return every program that a command line names, in order, its wrappers taken off.

    Taken off are shells with ``-c``, assignments, ``cd d &&``, programs such as ``env`` and
    ``timeout`` that run what follows, and the interpreter of ``python -m``.
    """
    return tuple(_commands(command, own=True, depth=0))


def names(command: str) -> frozenset[str]:
    """Return the names of all programs in a command line, wrappers included."""
    found = {_name(word) for word in split(command)[:1]}
    found |= {_name(item.argv[0]) for item in simple_commands(command)}
    return frozenset(name for name in found if name != "cd" and re.fullmatch(r"[\w.+-]+", name))


def may_hide(command: str, wanted: frozenset[str]) -> bool:
    """Tell whether a command line may run one of the wanted programs.

    It names one of them anywhere, runs a script, or a program that runs others.
    """
    if len(command) > MAX_COMMAND:
        return True
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", command) for name in wanted):
        return True
    return any(_runs_others(item.argv) for item in simple_commands(command))


def _runs_others(argv: tuple[str, ...]) -> bool:
    name = _name(argv[0])
    if name in _OPAQUE:
        return len(argv) < 2 or argv[1] not in _INSTALLING
    if "/" in argv[0] and not _is_system(argv[0]):
        return True
    if name in SHELLS or _PYTHON.fullmatch(name) or name in {"node", "perl", "ruby", "deno"}:
        # What stands after -c or -e can be read; a script cannot.
        return not any(word in {"-c", "-e", "--version", "-V"} for word in argv[1:])
    return False


def _is_system(program: str) -> bool:
    return program.startswith(("/bin/", "/usr/bin/", "/usr/local/bin/"))


def _commands(command: str, *, own: bool, depth: int) -> Iterator[SimpleCommand]:
    if depth > _MAX_DEPTH or len(command) > MAX_COMMAND:
        return
    parts = _parts(command)
    for index, (text, _) in enumerate(parts):
        rest = [joined for _, joined in parts[index:]]
        # Only `&&` leads on, and leaves the line failed when this one failed.
        mine = own and all(joined in {"&&", ""} for joined in rest) and _not_negated(text)
        before = parts[index - 1][1] if index else ""
        mine = mine and before != "||"
        argv = list(_without_redirections(split(_bare(text))))
        yield from _unwrap(argv, own=mine, depth=depth)


def _not_negated(text: str) -> bool:
    return not text.lstrip().startswith(("! ", "if ", "while ", "until ", "for "))


def _unwrap(argv: list[str], *, own: bool, depth: int) -> Iterator[SimpleCommand]:
    while (rest := _without_prefix(argv)) is not None:
        if len(argv) > 1 and (_name(argv[0]), argv[1]) in _RUNNERS:
            yield SimpleCommand(tuple(argv), own)
        argv = rest
    if not argv or argv[0] == "cd":
        return
    text = shell_text(argv)
    if text is not None:
        yield from _commands(text, own=own, depth=depth + 1)
        return
    yield SimpleCommand(tuple(argv), own)
    module = _module(argv) if _PYTHON.fullmatch(_name(argv[0])) else []
    if module:
        yield SimpleCommand(tuple(module), own)


def _without_prefix(argv: list[str]) -> list[str] | None:
    """Take one wrapper off the front, or return None where there is none."""
    if not argv:
        return None
    first, name = argv[0], _name(argv[0])
    if first in _KEYWORDS or _ASSIGNMENT.fullmatch(first):
        return argv[1:]
    if first[0:1] in {"(", "{"}:
        return [first[1:], *argv[1:]] if first[1:] else argv[1:]
    if name in _PREFIXES and len(argv) > 1:
        rest = _after_options(argv[1:], _PREFIXES[name])
        return rest[1:] if name == "timeout" else rest
    if len(argv) > 2 and (name, argv[1]) in _RUNNERS:
        if name == "coverage":
            return argv[3:] if argv[2] == "-m" else None
        return _after_options(argv[2:], _RUNNER_OPTIONS)
    return None


def _module(argv: list[str]) -> list[str]:
    """Return the words after ``python -m``, or [] where there is none."""
    for index, word in enumerate(argv[1:], 1):
        if word == "-m":
            return argv[index + 1 :]
        if not word.startswith("-") or word == "-c":
            break
    return []


def _after_options(argv: list[str], takes: frozenset[str]) -> list[str]:
    while argv and argv[0].startswith("-"):
        argv = argv[2:] if argv[0] in takes else argv[1:]
    return argv


def _parts(command: str) -> list[tuple[str, str]]:
    """Split at ``&&``, ``||``, ``|``, ``;``, ``&`` and line breaks outside of quotes."""
    command = _without_heredocs(command)
    parts: list[tuple[str, str]] = []
    start = index = 0
    quote = ""
    while index < len(command):
        char = command[index]
        if char == "\\" and quote != "'":
            index += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "&" and _redirects(command, index):
            pass
        elif char in "|&;\n":
            double = command[index : index + 2]
            operator = double if double in {"&&", "||"} else char
            parts.append((command[start:index], operator))
            index += len(operator)
            start = index
            continue
        index += 1
    parts.append((command[start:], ""))
    kept = [(text, operator) for text, operator in parts if text.strip()]
    if kept and kept[-1][1] in {";", "\n"}:
        kept[-1] = (kept[-1][0], "")
    return kept


def _without_heredocs(command: str) -> str:
    """Leave out the lines that are input of a program."""
    if "<<" not in command:
        return command
    kept = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            if line.strip() == ends[0]:
                ends.pop(0)
            continue
        kept.append(_HEREDOC.sub("", line))
        ends = [match[2] for match in _HEREDOC.finditer(line)]
    return "\n".join(kept)


def _bare(text: str) -> str:
    """Take the brackets of a group off where only one of the two stands in this part."""
    if text.count("(") < text.count(")"):
        text = text.rstrip().removesuffix(")")
    return text.lstrip(" \t(") if text.count("(") > text.count(")") else text


def _redirects(command: str, index: int) -> bool:
    return command[index - 1 : index] in {">", "<"} or command[index + 1 : index + 2] == ">"


def _without_redirections(argv: tuple[str, ...]) -> Iterator[str]:
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif re.fullmatch(r"\d?(>>?|<)", word) or word == "&>":
            skip = True
        elif not re.match(r"\d?(>>?|<)|&>", word):
            yield word


def _name(program: str) -> str:
    return program.rsplit("/", 1)[-1]
