"""Whether a trial failed because of the agent, or of what was around it."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from caesar_agent.errors import CaesarError, DocumentError, EventLogError

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

DISK: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS})
"""System errors of the disk."""

SCARCE: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN})
"""System errors of a machine that has no more descriptors, memory or processes to give."""

HARNESS: Final = frozenset({"deadline-cut", "channel-not-started"})
"""Diagnostics that say that the agent did not get what it was promised."""

NETWORK: Final = re.compile(
    r"\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b"
    r"|getaddrinfo|fetch failed|[Cc]onnection error|error sending request|dns error"
    r"|[Nn]etwork is unreachable|stream disconnected before completion",
)
"""How command-line agents say that they could not reach their model: codes of Node.js (Claude
Code, Gemini, Copilot, opencode), words of the Anthropic and OpenAI clients, of reqwest (Codex)."""


STREAM: Final = "Its stream says that it failed"
"""What a synthesized summary says where a native stream ended with an error."""

CHANNEL: Final = re.compile(rb'"name": ?"caesar", ?"status": ?"(?:failed|error)"')
"""How Claude Code and Copilot say that the server of the return channel did not start."""


def outcome_of(
    error: BaseException | None, runs: Sequence[Run]
) -> tuple[Literal["failure", "error"], str]:
    """Tell a failure of the agent from an error of the harness.

    Args:
        error: what the test's call raised.
        runs: the delegations of the trial.

    Returns:
        ``failure`` and "", or ``error`` and why.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, CaesarError) and not isinstance(error, DocumentError | EventLogError):
            return "error", "of the harness"
        if isinstance(error, OSError) and error.errno in DISK:
            return "error", "of the disk"
        if isinstance(error, OSError) and error.errno in SCARCE:
            return "error", "of the machine"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    for run in [one for top in runs for one in top.tree]:
        found = sorted(run.codes & HARNESS)
        if found:
            return "error", f"of the harness ({found[0]})"
        if _network_gone(run):
            return "error", "of the network"
        if run.task.channel and run.evidence.dialect and CHANNEL.search(run.raw_log):
            return "error", "of the return channel, which did not start"
    return "failure", ""


def _network_gone(run: Run) -> bool:
    """Tell whether the stream of a known CLI ends with the word that its model was out of reach."""
    told = [run.report.summary] if run.source == "synthesized" else []
    told = [text for text in told if STREAM in text]
    told += [finding.message for finding in run.diagnostics if finding.code == "stream-failed"]
    return any(NETWORK.search(text) for text in told)
