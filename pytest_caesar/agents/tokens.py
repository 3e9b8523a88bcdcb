"""Tokens such as ``{{prompt}}`` in the arguments of an agent: text in, arguments out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOKENS = ("prompt", "workspace", "taskDir", "reportPath", "model", "modelUrl")
"""The tokens that a configuration may use."""

# ASCII alone: with a Unicode \w, a token nobody can type would be "known".
_TOKEN = re.compile(r"\{\{([A-Za-z0-9_]+)\}\}")


def tokens_in(argument: str) -> tuple[str, ...]:
    """Return the names of the tokens in an argument, in order, repeated as they are."""
    return tuple(_TOKEN.findall(argument))


def unknown_tokens(arguments: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the tokens that do not exist, each once, in order."""
    found = (name for argument in arguments for name in tokens_in(argument))
    return tuple(dict.fromkeys(name for name in found if name not in TOKENS))


def substitute(arguments: Sequence[str], values: Mapping[str, str | None]) -> tuple[str, ...]:
    """Put values in the place of tokens, in one pass: values are never read for tokens.

    An argument with a token that has no value (None, "" or unknown) is left out
    whole. When that argument was nothing but the token, it was the value of the
    flag in front of it, so a literal flag there (``-m``, ``--model``; not ``-``,
    ``--`` or ``--key=value``) is left out with it.

    Args:
        arguments: as configured.
        values: token name to value; the prompt may be empty, other empty values count
            as none.

    Returns:
        The arguments for the program. Linear in the size of the result.
    """
    kept: list[str] = []
    flag_before = False
    for argument in arguments:
        names = tokens_in(argument)
        if all(_has_value(values, name) for name in names):
            kept.append(_TOKEN.sub(lambda match: values[match[1]] or "", argument))
            flag_before = not names and _is_bare_flag(argument)
            continue
        if flag_before and _TOKEN.fullmatch(argument):
            kept.pop()
        flag_before = False
    return tuple(kept)


def _has_value(values: Mapping[str, str | None], name: str) -> bool:
    value = values.get(name)
    return bool(value) or (name == "prompt" and value is not None)


def _is_bare_flag(argument: str) -> bool:
    return argument.startswith("-") and argument.strip("-") != "" and "=" not in argument
