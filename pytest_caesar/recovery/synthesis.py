"""When nobody reported: a report made from what is left, which never says ``success``."""

from __future__ import annotations

import re
from typing import Any

from caesar_agent.console import one_line
from caesar_agent.documents.report import Report, Status
from pytest_caesar.recovery.evidence import Evidence

MAX_WORDS = 300
"""Characters of the agent's last words that are quoted."""

MAX_TAIL_LINES = 5
"""Last lines of the log that are quoted in ``details``."""

MAX_TAIL_LINE = 160
"""Characters of each of them."""

_TAIL_BYTES = 8192

_OPENING = "Synthesized: the agent gave no usable report."

_OPENINGS = (
    _OPENING,
    "No report received; last log lines:",
    "No report received from the agent, and the log contains nothing usable.",
)
"""How summaries begin that orchestrators make: ours, and the reference's."""

_SECRET = re.compile(
    r"(?i)((?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|authorization|bearer)"
    r"[\"']?\s{0,3}[=:\s]\s{0,3}[\"']?(?:bearer\s)?)[^\s\"',;]{6,}"
    r"|\b(?:sk|ghp|gho|ghs|xox[abp]|glpat|AKIA)[-_A-Za-z0-9]{12,}"
)

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


def synthesize(evidence: Evidence, *, last_words: str = "", stream_failure: str = "") -> Report:
    """Make a report from how the process ended, what changed and what was printed.

    Args:
        evidence: all that is left; its ``changes`` become those of the report.
        last_words: the agent's own last message, when its stream tells it.
        stream_failure: why the stream says that the agent failed, or "".

    Returns:
        ``partial`` when the process ended well and may have done something, else
        ``failed``. Its summary says that it is synthesized, from what, and how the
        process ended; ``details`` quotes a bounded, escaped piece of the log.
    """
    ending = describe_ending(evidence)
    status = _status(evidence, stream_failure)
    quoted = _clean(last_words, MAX_WORDS)
    if quoted:
        basis = "its last message, how its process ended and what changed"
    elif evidence.raw_log.strip():
        basis = "the end of its log, how its process ended and what changed"
    elif evidence.stderr_log.strip():
        basis = "what it printed on stderr, how its process ended and what changed"
    else:
        basis = "how its process ended and what changed; it printed nothing"
    sentences = [f"{_OPENING} Made from {basis}.", f"{ending}."]
    if stream_failure:
        sentences.append(f"Its stream says that it failed: {_clean(stream_failure, MAX_WORDS)}.")
    elif not evidence.raw_log.strip() and (complaint := last_line(evidence.stderr_log)):
        sentences.append(f"stderr ends: {complaint.rstrip('.')}.")
    sentences.append(f"{_describe_changes(evidence)}.")
    if quoted:
        sentences.append(f"Last message: {quoted}")
    value: dict[str, Any] = {
        "protocol": Report.version,
        "task_id": evidence.task_id,
        "status": status,
        "summary": " ".join(sentences),
        "details": "" if quoted else _tails(evidence),
        "changes": [change.model_dump(mode="json") for change in evidence.changes or ()],
    }
    if status == "partial":
        value["next_steps"] = [
            "Read the log and the diff: nobody has said whether the task is done.",
            "Have the agent hand in a report.",
        ]
    return Report.from_value(value)


def describe_ending(evidence: Evidence) -> str:
    """Say how the process ended, as a sentence without its full stop."""
    if evidence.cancelled:
        return "The task was cancelled before the process ended"
    if evidence.timed_out:
        by = f" with {one_line(evidence.signal, limit=20)}" if evidence.signal else ""
        return f"The deadline passed and the process was ended{by}"
    if evidence.killed_after_report:
        return "The process was ended because it did not exit after it had delivered"
    if evidence.signal:
        return f"The process was ended by {one_line(evidence.signal, limit=20)}"
    if evidence.exit_code is None:
        return "How the process ended is not known"
    meaning = f" ({evidence.exit_meaning})" if evidence.exit_meaning else ""
    return f"The process ended with exit code {evidence.exit_code}{meaning}"


def _status(evidence: Evidence, stream_failure: str) -> Status:
    ended_well = evidence.killed_after_report or (
        evidence.exit_code == 0 and evidence.signal is None
    )
    if not ended_well or evidence.timed_out or evidence.cancelled or stream_failure:
        return "failed"
    if evidence.mode == "write" and evidence.changes is not None and not evidence.changes:
        return "failed"
    return "partial"


def _describe_changes(evidence: Evidence) -> str:
    if evidence.changes is None:
        return "What changed is not known"
    count = len(evidence.changes)
    if count == 0:
        return "Nothing changed"
    return "1 path changed" if count == 1 else f"{count} paths changed"


def is_synthesized(report: Report) -> bool:
    """Say whether an orchestrator made a report, after a crash say, in the place of the agent."""
    return report.summary.startswith(_OPENINGS)


def last_line(log: bytes) -> str:
    """Return the last line of a log that holds anything, as one bounded line."""
    lines = log[-_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    return next((shown for line in reversed(lines) if (shown := _clean(line, MAX_WORDS))), "")


def _tails(evidence: Evidence) -> str:
    logs = (
        _tail(evidence.raw_log, "the log"),
        _tail(evidence.stderr_log, "stderr.log"),
    )
    return "\n".join(filter(None, logs))


def _tail(log: bytes, name: str) -> str:
    lines = log[-_TAIL_BYTES:].decode("utf-8", "replace").split("\n")
    shown = [text for line in lines if (text := _clean(line, MAX_TAIL_LINE))]
    if not shown:
        return ""
    return f"Last lines of {name}:\n" + "\n".join(shown[-MAX_TAIL_LINES:])


def _clean(text: str, limit: int) -> str:
    """Return text as one bounded line: secrets masked, colours gone, controls escaped."""
    bounded = _TERMINAL.sub("", text[: limit * 4]).strip()
    masked = _SECRET.sub(lambda match: (match.group(1) or "") + "***", bounded)
    return one_line(masked, limit=limit)
