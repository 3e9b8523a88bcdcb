"""What an agent wrote, bounded and made visible: nothing of it acts, nothing of it is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from caesar_agent.console import one_line, printable

PART_BYTES: Final = 64 * 1024
"""Bytes of one part (a diff, the end of a log, a timeline) that the page holds."""

LINE: Final = 1000
"""Characters of one line that the page holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A text of several lines.

    Attributes:
        text: safe to show, at most ``PART_BYTES`` of it.
        note: what was left out, as a sentence, or "".
    """

    text: str
    note: str = ""


def line(text: str, *, limit: int = 300) -> str:
    """Return a text on one line, controls and bidirectional marks escaped."""
    return one_line(text, limit=limit)


def block(text: str) -> str:
    """Return a text with its line ends and tabs, and everything else that acts escaped."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(printable(one, limit=LINE, keep="\t") for one in lines)


def first_bytes(text: str, *, where: str = "") -> Passage:
    """Return the start of a text; a note says how much is left out and where it lies."""
    return _passage(text, where, end=False)


def last_bytes(text: str, *, total: int | None = None, where: str = "") -> Passage:
    """Return the end of a text.

    Args:
        text: its end, or all of it.
        total: bytes of the whole text, of which ``text`` may be a part only.
        where: the file that holds it all, or "".
    """
    return _passage(text, where, end=True, total=total)


def _passage(text: str, where: str, *, end: bool, total: int | None = None) -> Passage:
    data = text.encode("utf-8", "backslashreplace")
    whole = max(len(data), total or 0)
    if len(data) > PART_BYTES:
        data = data[-PART_BYTES:] if end else data[:PART_BYTES]
    kept = data.decode("utf-8", "ignore")
    if end and len(data) < whole and "\n" in kept[:-1]:
        kept = kept.partition("\n")[2]  # begin with a whole line
    left_out = whole - len(kept.encode())
    note = left_out_note(left_out, where, "before" if end else "after") if left_out > 0 else ""
    return Passage(text=block(kept), note=note)


def left_out_note(count: int, where: str, side: str) -> str:
    """Say that bytes are left out, how many, and which file holds them."""
    place = f" The whole is in {line(where, limit=1000)}." if where else ""
    return f"{size(count)} {side} this are left out.{place}"


def size(count: float) -> str:
    """Return a number of bytes for people, such as ``12.3 kB``."""
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def seconds(value: float | None) -> str:
    """Return a duration for people: ``67 ms``, ``3.2 s``, ``4 min 10 s``; "" for None."""
    if value is None:
        return ""
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 99.5:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def thousands(value: float | None) -> str:
    """Return a number of tokens for people: ``950``, ``41.2k``, ``1.3M``; "" for None."""
    if value is None:
        return ""
    if value < 1000:
        return f"{value:.0f}"
    return f"{value / 1000:.1f}k" if value < 999_950 else f"{value / 1e6:.1f}M"


def dollars(value: float | None) -> str:
    """Return an amount: ``$0.18``, ``$0.0042``; "" for None."""
    if value is None:
        return ""
    return f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.2g}"


def plural(count: int, word: str) -> str:
    """Return ``1 run``, ``2 runs``, ``2 matches``."""
    if count == 1:
        return f"1 {word}"
    return f"{count:,} {word}{'es' if word.endswith(('ch', 's')) else 's'}".replace(",", "\u202f")


def anchor(*parts: str) -> str:
    """Return an id that is its own fragment: each part percent-encoded, joined by slashes."""
    return "/".join(quote(printable(part), safe="") for part in parts)
