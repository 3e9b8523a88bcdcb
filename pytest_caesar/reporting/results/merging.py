"""Documents of several shards as one, and what speaks against calling it whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from caesar_agent.console import one_line
from pytest_caesar.reporting.results.document import FORMAT, session_of
from pytest_caesar.reporting.results.fields import (
    as_int,
    as_list,
    as_mapping,
    as_mappings,
    as_number,
    as_text,
    as_texts,
)

NAMED: Final = 10
"""Tests that one problem names; the rest is counted."""

_NOTHING_COLLECTED: Final = 5
_ENDS: Final = {2: "interrupted", 3: "internal error", 4: "usage error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """Several sessions as one.

    Attributes:
        document: as ``--caesar-json`` writes it, with ``shards`` and ``incomplete``.
        problems: why it is not whole, one sentence each; also in the document.
    """

    document: dict[str, Any]
    problems: tuple[str, ...]


Judge: TypeAlias = Callable[[Iterable[Mapping[str, Any]]], list[dict[str, Any]]]
"""Puts the trials of all shards together; ``ValueError`` says why it cannot."""


def merge(
    shards: Sequence[tuple[str, Mapping[str, Any]]], *, judge: Judge, expect: int | None = None
) -> Merged:
    """Merge the documents of shards.

    Args:
        shards: names (files) and documents, n of them, at least one.
        judge: gives the verdict on trials that ran in several shards.
        expect: how many there should be, or None.

    Returns:
        The document of the whole session. Its exit status is 0 only when nothing failed
        and nothing is missing.
    """
    problems = [
        *_count(shards, expect),
        *_declared(shards),
        *_commits(shards),
        *_ended(shards),
        *_twice(shards),
        *_missing(shards),
    ]
    documents = [document for _, document in shards]
    sessions = [session_of(document) for document in documents]
    value: dict[str, Any] = {
        "format": FORMAT,
        "agents": list(dict.fromkeys(_all_texts(documents, "agents"))),
        "exit_status": 0,
        "session": _session(sessions),
        "shards": [
            {
                "name": name,
                "exit_status": document.get("exit_status"),
                "shard": session.get("shard"),
                "commit": session.get("commit"),
                "duration": session.get("duration"),
            }
            for (name, document), session in zip(shards, sessions, strict=True)
        ],
        "incomplete": problems,
    }
    for key in ("tests", "runs"):
        value[key] = [entry for one in documents for entry in as_mappings(one.get(key))]
    try:
        trials = judge([entry for one in documents for entry in as_mappings(one.get("trials"))])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        trials = []
        problems.append(f"the trials cannot be judged together: {error}")
    if trials:
        value["trials"] = trials
        problems += [
            f"{one_line(as_text(one.get('id')), limit=300)}: "
            f"{as_int(one.get('missing')) or 'some'} of its trials never ran"
            for one in trials
            if one.get("verdict") in ("incomplete", "pending")
        ]
    value["exit_status"] = _status(documents, problems, trials)
    kits = [as_mapping(document.get("conformance")) for document in documents]
    if any(kits):
        judged = [agent for kit in kits for agent in as_mappings(kit.get("agents"))]
        value["conformance"] = {**next(filter(None, kits)), "agents": judged}
    return Merged(document=value, problems=tuple(problems))


def _status(
    documents: Sequence[Mapping[str, Any]],
    problems: Sequence[str],
    trials: Sequence[Mapping[str, Any]],
) -> int:
    """Return the exit code of the whole: 0 only where nothing failed and nothing is missing."""
    codes = [as_int(document.get("exit_status")) or 0 for document in documents]
    failed = [code for code in codes if code not in (0, _NOTHING_COLLECTED)]
    if failed:
        return failed[0]
    if problems or any(one.get("fails") is True for one in trials):
        return 1
    return 0 if 0 in codes else codes[0]


def _all_texts(documents: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return [text for document in documents for text in as_texts(document.get(key))]


def _session(sessions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the sessions have in common, and their sums."""
    known = [session for session in sessions if session]
    if not known:
        return {}
    agents = {as_text(a.get("id")): a for one in known for a in as_mappings(one.get("agents"))}
    starts = sorted(as_text(one.get("started_at")) for one in known if one.get("started_at"))
    durations = [as_number(one.get("duration")) for one in known]
    return {
        **{key: known[0][key] for key in ("commit", "versions", "python") if key in known[0]},
        "uncommitted": any(one.get("uncommitted") is True for one in known),
        "agents": list(agents.values()),
        "started_at": starts[0] if starts else None,
        "duration": sum(filter(None, durations)) if any(durations) else None,
        "collected": list(dict.fromkeys(_all_texts(known, "collected"))),
        "deselected": sorted(_unwanted(known)),
        "shard": None,
    }


def _count(shards: Sequence[tuple[str, Mapping[str, Any]]], expect: int | None) -> list[str]:
    if expect is None or len(shards) == expect:
        return []
    names = ", ".join(name for name, _ in shards)
    return [f"{expect} shards were expected, and {len(shards)} are here: {names}"]


def _declared(shards: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return what is wrong with the numbers that shards give themselves."""
    by_number: dict[tuple[int, int], list[str]] = {}
    for name, document in shards:
        shard = as_mapping(session_of(document).get("shard"))
        index, count = as_int(shard.get("index")), as_int(shard.get("count"))
        if index is not None and count is not None:
            by_number.setdefault((index, count), []).append(name)
    counts = sorted({count for _, count in by_number})
    if len(counts) > 1:
        told = ", ".join(
            f"{', '.join(names)} is {index} of {count}"
            for (index, count), names in sorted(by_number.items())
        )
        return [f"the shards are not of one split: {told}"]
    problems = [
        f"shard {index} of {count} is here {len(names)} times: {', '.join(names)}"
        for (index, count), names in sorted(by_number.items())
        if len(names) > 1
    ]
    for count in counts:
        if count > 10_000:
            return [*problems, f"a shard says that there are {count}"]
        missing = [
            str(number) for number in range(1, count + 1) if (number, count) not in by_number
        ]
        if missing:
            word = "shard" if len(missing) == 1 else "shards"
            verb = "is" if len(missing) == 1 else "are"
            problems.append(f"{word} {', '.join(missing)} of {count} {verb} missing")
    return problems


def _commits(shards: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    commits: dict[str, list[str]] = {}
    for name, document in shards:
        commit = as_text(session_of(document).get("commit"))
        if commit:
            commits.setdefault(commit, []).append(name)
    if len(commits) < 2:
        return []
    told = "; ".join(f"{commit[:12]}: {', '.join(names)}" for commit, names in commits.items())
    return [f"the shards are of {len(commits)} commits ({told})"]


def _ended(shards: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Name the sessions that did not come to their end."""
    return [
        f"{name} ended with exit code {code} ({_ENDS[code]})"
        for name, document in shards
        if (code := as_int(document.get("exit_status"))) in _ENDS
    ]


def _ran(document: Mapping[str, Any]) -> set[str]:
    """Return the ids of the tests that a session ran, or has runs of."""
    entries = [*as_mappings(document.get("tests")), *as_mappings(document.get("runs"))]
    return {as_text(entry.get("test")) for entry in entries}


def _twice(shards: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    names: dict[str, list[str]] = {}
    for name, document in shards:
        for test in _ran(document):
            names.setdefault(test, []).append(name)
    found = sorted((test, where) for test, where in names.items() if len(where) > 1)
    problems = [
        f"{one_line(test, limit=300)} ran in {', '.join(where)}" for test, where in found[:NAMED]
    ]
    if len(found) > NAMED:
        problems.append(f"{len(found) - NAMED} more tests ran more than once")
    return problems


def _missing(shards: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Name the tests that were collected, and that no shard ran or was told to leave out."""
    sessions = [session_of(document) for _, document in shards]
    collected = dict.fromkeys(_all_texts(sessions, "collected"))
    ran = set[str]().union(*(_ran(document) for _, document in shards))
    unwanted = _unwanted(sessions)
    missing = [test for test in collected if test not in ran and test not in unwanted]
    problems = [
        f"{one_line(test, limit=300)} was collected, and no shard ran it"
        for test in missing[:NAMED]
    ]
    if len(missing) > NAMED:
        problems.append(f"{len(missing) - NAMED} more tests were collected, and no shard ran them")
    return problems


def _unwanted(sessions: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the tests that every session left out by the same choice, so that none is missing.

    ``-k``, ``-m`` and ``--deselect`` that are the same in each shard choose what is run at
    all. Where they differ they are the split, and each test must be in one of the shards.
    """
    choices = Counter(tuple(as_texts(as_list(session.get("selection")))) for session in sessions)
    if len(choices) != 1:
        return set()
    left_out = [set(as_texts(session.get("deselected"))) for session in sessions]
    return set[str]().union(*left_out)
