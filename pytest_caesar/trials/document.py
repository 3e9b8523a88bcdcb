"""Trials as the file of a session holds them, and back; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pytest_caesar.trials.causes import FailedTrial
from pytest_caesar.trials.rate_gate import Gate, Outcome, judge
from pytest_caesar.trials.table import Judged


def judged_as_json(judged: Judged, outcomes: Mapping[int, Outcome]) -> dict[str, Any]:
    """Return the trials of one test with one agent as JSON types alone.

    Args:
        judged: what the trials say.
        outcomes: of each trial, by its number.
    """
    verdict = judged.verdict
    return {
        "id": judged.nodeid,
        "test": judged.family,
        "agent": judged.agent,
        "gate": verdict.gate.as_json(),
        "verdict": verdict.state,
        "fails": verdict.fails,
        "passed": verdict.successes,
        "counted": verdict.counted,
        "rate": None if verdict.rate is None else float(verdict.rate),
        "interval": list(verdict.interval),
        "could_be_chance": verdict.could_be_chance,
        "decided_after": verdict.decided_after,
        "errors": verdict.errors,
        "skipped": verdict.skipped,
        "not_needed": verdict.stopped,
        "missing": verdict.missing,
        "outcomes": {str(number): outcomes[number] for number in sorted(outcomes)},
        "usage": {str(number): dict(used) for number, used in judged.usage.items()},
        "causes": [
            {
                "trials": [trial.number for trial in cause.trials],
                "outcome": cause.first.outcome,
                "message": cause.first.message,
                "codes": list(cause.first.codes),
                "text": cause.first.text,
            }
            for cause in judged.causes
        ],
    }


def merged(documents: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the trials of one session that ran in several shards, judged as a whole.

    A test all of whose trials ran in one shard stays as it is; the trials of one that was split
    are put together, and judged by their numbers.

    Args:
        documents: entries of ``trials`` of all shards, as ``judged_as_json`` gives them.

    Raises:
        ValueError: an entry is something else, or two shards ran one trial.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for document in documents:
        groups.setdefault(str(document.get("id")), []).append(document)
    return [_merged(nodeid, parts) for nodeid, parts in groups.items()]


def judged_from_json(entry: Mapping[str, Any]) -> Judged:
    """Return what ``judged_as_json`` gave.

    Raises:
        ValueError: it is something else.
    """
    return _together(str(entry.get("id")), [entry])[0]


def _merged(nodeid: str, parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    return judged_as_json(*_together(nodeid, parts))


def _together(nodeid: str, parts: list[Mapping[str, Any]]) -> tuple[Judged, dict[int, Outcome]]:
    gates = {str(part.get("gate")): part.get("gate") for part in parts}
    gate = next(iter(gates.values()))
    if len(gates) > 1 or not isinstance(gate, Mapping):
        raise ValueError(f"{nodeid}: the shards do not ask the same of its trials")
    outcomes: dict[int, Outcome] = {}
    failed: list[FailedTrial] = []
    usage: dict[int, Mapping[str, float]] = {}
    for part in parts:
        for number, outcome in part["outcomes"].items():
            if int(number) in outcomes:
                raise ValueError(f"{nodeid}: trial {number} ran in two shards")
            if outcome not in get_args(Outcome):
                raise ValueError(f"{nodeid}: trial {number} is {outcome!r}")
            outcomes[int(number)] = outcome
        usage.update({int(number): used for number, used in part.get("usage", {}).items()})
        failed += [
            FailedTrial(
                number=number,
                outcome=cause["outcome"],
                message=cause["message"],
                codes=tuple(cause["codes"]),
                text=cause["text"],
            )
            for cause in part.get("causes", ())
            for number in cause["trials"]
        ]
    verdict = judge(Gate.from_json(gate), outcomes)
    first = parts[0]
    judged = Judged(
        nodeid=nodeid,
        family=str(first["test"]),
        agent=first["agent"],
        verdict=verdict,
        failed=failed,
        usage=usage,
    )
    return judged, outcomes
