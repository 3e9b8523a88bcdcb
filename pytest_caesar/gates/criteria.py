"""Acceptance criteria that are commands; light, since every delegation looks."""

from __future__ import annotations

COMMAND_MARK = "$"
"""How an acceptance criterion begins that is a command; a blank follows."""


def command_of(criterion: str) -> str | None:
    """Return the command line that an acceptance criterion is, or None for a sentence.

    A command begins with ``$`` and a blank, or stands in back-ticks as a whole. Words
    alone do not make one: ``test the parser`` is a sentence, although ``test`` is a
    program.
    """
    text = criterion.strip()
    if text.startswith(COMMAND_MARK) and text[1:2].isspace():
        return text.removeprefix(COMMAND_MARK).strip() or None
    if len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]:
        return text[1:-1].strip() or None
    return None
