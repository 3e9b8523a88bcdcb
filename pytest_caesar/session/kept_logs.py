"""Verdicts on what is kept of runs: logs and files of agents as regression tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import Any, Final

from pytest_caesar.recovery.contradictions import speaks_against
from pytest_caesar.recovery.evidence import Evidence, Recovered
from pytest_caesar.recovery.sources import recover

BYTES: Final = ("report_file", "submission", "final_message")
"""Fields of the evidence that hold a file; a text or a path may be given for them."""

FIELDS: Final = tuple(field.name for field in fields(Evidence) if field.name != "raw_log")


def recover_kept(
    log: bytes | str | Path = b"", *, diff: bytes | str | Path | None = None, **evidence: Any
) -> Recovered:
    """Recover a report from what is kept of a run, without running anything.

    Args:
        log: what the agent printed: bytes, text, the file that holds it, or a whole task
            directory.
        diff: what it changed, as a unified diff: bytes, text, or the file that holds it; ""
            for nothing, None where nobody knows.
        evidence: what else is left of the run, as fields of ``Evidence``: ``report_file=``,
            ``submission=``, ``final_message=`` and ``brief=`` (bytes, text or a file),
            ``exit_code=1``, ``signal="SIGKILL"``, ``timed_out=True``, ``mode="read-only"``, …

    Returns:
        The report, where it came from, what was wrong with every better source, and what
        speaks against it. ``==`` with ``caesar_snapshot`` keeps it.

    Raises:
        TypeError: there is no such field.
        ValueError: the diff names no file.
    """
    unknown = sorted(set(evidence) - set(FIELDS))
    if unknown:
        message = f"caesar_recover takes no {', '.join(unknown)}; there are {', '.join(FIELDS)}"
        raise TypeError(message)
    for name in BYTES:
        if evidence.get(name) is not None:
            evidence[name] = _bytes(evidence[name])
    if isinstance(evidence.get("brief"), bytes | Path):
        evidence["brief"] = _bytes(evidence["brief"]).decode("utf-8", "replace")
    if diff is not None:
        from pytest_caesar.recovery.diffs import changes_of  # noqa: PLC0415 - seldom needed

        evidence["changes"] = changes_of(_bytes(diff))
    if isinstance(log, Path) and log.is_dir():
        from pytest_caesar.runs.kept_task import read_folder  # noqa: PLC0415 - as above

        folder = read_folder(log)
        return _verdict(replace(folder.evidence, **evidence))
    evidence.setdefault("task_id", "t_0001")
    if evidence.get("signal") or evidence.get("timed_out"):
        evidence.setdefault("exit_code", None)
    return _verdict(Evidence(raw_log=_bytes(log), **evidence))


def recover_into(kept: list[Recovered]) -> Callable[..., Recovered]:
    """Return ``recover_kept``, noting every verdict, so that a failed comparison can be explained.

    Args:
        kept: where verdicts are noted, in order.
    """

    @wraps(recover_kept)
    def recover_and_note(*log: Any, **evidence: Any) -> Recovered:
        recovered = recover_kept(*log, **evidence)
        kept.append(recovered)
        return recovered

    return recover_and_note


def _bytes(value: bytes | str | Path) -> bytes:
    if isinstance(value, Path):
        return value.read_bytes()
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def _verdict(evidence: Evidence) -> Recovered:
    recovered = recover(evidence)
    return replace(
        recovered, diagnostics=(*recovered.diagnostics, *speaks_against(recovered, evidence))
    )
