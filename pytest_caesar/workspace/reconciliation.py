"""What the report declares beside what git shows; pure."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from caesar_agent.documents.report import Action, Change, Finding, Report
from pytest_caesar.workspace.spelling import document_path, meanings_of, names_of
from pytest_caesar.workspace.values import Observation, ObservedChange

Verdict = Literal["matched", "undeclared", "phantom", "wrong-action", "unverified"]

TITLES: dict[Verdict, str] = {
    "undeclared": "Undeclared change",
    "phantom": "Change declared but not found in the diff",
    "wrong-action": "Change declared with another action",
}
"""Titles of the findings that are added to the report handed on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconciledPath:
    """One path of either side.

    Attributes:
        path: relative to the workspace, as git spells it where git shows it.
        verdict: how the two sides meet.
        declared_action, observed_action: None where a side is silent.
        summary: the agent's own words on this path.
        old_path: where git says it was renamed from.
        outside: it lies outside the workspace.
        within: the repository of its own that it lies in, which nobody looks into; or "".
    """

    path: str
    verdict: Verdict
    declared_action: Action | None = None
    observed_action: Action | None = None
    summary: str = ""
    old_path: str | None = None
    outside: bool = False
    within: str = ""

    def __repr__(self) -> str:
        declared, observed = self.declared_action or "nothing", self.observed_action or "no change"
        return f"<{self.path!r} {self.verdict}: declared {declared}, git shows {observed}>"


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Every path of either side with its verdict, in path order."""

    entries: tuple[ReconciledPath, ...] = ()

    def __repr__(self) -> str:
        counts = Counter(entry.verdict for entry in self.entries)
        told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in counts) or "no change"
        return f"<Reconciliation: {told}>"

    @property
    def matched(self) -> tuple[ReconciledPath, ...]:
        """Declared as git shows it."""
        return self._of("matched")

    @property
    def undeclared(self) -> tuple[ReconciledPath, ...]:
        """Shown by git, not declared."""
        return self._of("undeclared")

    @property
    def phantom(self) -> tuple[ReconciledPath, ...]:
        """Declared, not shown by git."""
        return self._of("phantom")

    @property
    def wrong_action(self) -> tuple[ReconciledPath, ...]:
        """Declared with an action that git contradicts."""
        return self._of("wrong-action")

    @property
    def unverified(self) -> tuple[ReconciledPath, ...]:
        """Declared where git looks away, or could not look."""
        return self._of("unverified")

    def _of(self, verdict: Verdict) -> tuple[ReconciledPath, ...]:
        return tuple(entry for entry in self.entries if entry.verdict == verdict)


MAX_NAMED = 1000
"""Findings of one kind that are named; the others are counted."""


def reconcile(
    declared: Sequence[Change],
    observation: Observation,
    *,
    workspace: str,
    ignored: Iterable[str] = frozenset(),
) -> Reconciliation:
    """Lay what the report declares beside what git shows; git wins.

    Args:
        declared: as the agent wrote them; paths in any spelling.
        observation: what git shows.
        workspace: absolute path of the workspace, for absolute declarations.
        ignored: declared paths that git ignores, in the spelling of the report.

    Returns:
        One entry for each path of either side, in path order. O(n + m).
    """
    ignored = frozenset(ignored)
    paths = frozenset(normalised(path, workspace) for path in ignored)
    claims = _claims(declared, workspace)
    if not observation.verified:
        return _sorted(_silent(claim, "unverified") for claim in claims.values())
    match = _Matching(claims, observation.changes)
    match.exact()
    match.renames()
    match.spellings()
    match.folders()
    match.nested()
    entries = list(match.entries.values())
    entries += [
        _silent(claim, "unverified" if claim.path in paths else "phantom")
        for claim in match.open_claims()
    ]
    return _sorted(entries)


def normalised(path: str, workspace: str) -> str:
    """Return a declared path relative to the workspace, without detours.

    An absolute path inside the workspace becomes relative; another one stays absolute.
    """
    if path.startswith("/"):
        plain = "/" + posixpath.normpath(path).lstrip("/")
        base = posixpath.normpath(workspace)
        if plain == base:
            return "."
        if not plain.startswith(base.rstrip("/") + "/"):
            return plain
        return plain[len(base.rstrip("/")) + 1 :]
    if not path:
        return "."
    # The plain ones, which are nearly all, quicker than normpath.
    odd = path[0] == "." or path[-1] == "/" or "//" in path or "/." in path
    return posixpath.normpath(path) if odd else path


def observed_changes(
    observation: Observation, summaries: Mapping[str, str] | None = None
) -> tuple[Change, ...]:
    """Return observed changes in the words of a report, with what an agent says of each path."""
    return tuple(
        Change(
            path=document_path(change.path),
            action=change.action,
            summary=(summaries or {}).get(change.path) or _renamed_from(change),
        )
        for change in observation.changes
    )


def reconciled_report(
    report: Report, reconciliation: Reconciliation, observation: Observation
) -> Report:
    """Return the report that is handed on: changes as git shows them, differences as findings.

    The agent's own summary of a file is kept. Without verification the report stays as it is.
    """
    if not observation.verified:
        return report
    summaries = {entry.path: entry.summary for entry in reconciliation.entries}
    changes = observed_changes(observation, summaries)
    counts: Counter[Verdict] = Counter()
    findings = []
    for entry in reconciliation.entries:
        if entry.verdict not in TITLES:
            continue
        counts[entry.verdict] += 1
        if counts[entry.verdict] <= MAX_NAMED:
            findings.append(
                Finding(
                    severity="medium",
                    title=TITLES[entry.verdict],
                    file=document_path(entry.path),
                    detail=_detail(entry),
                )
            )
    findings += [
        Finding(
            severity="medium",
            title=f"{TITLES[verdict]}: {count - MAX_NAMED} more paths",
        )
        for verdict, count in counts.items()
        if count > MAX_NAMED
    ]
    return report.model_copy(update={"changes": changes, "findings": (*report.findings, *findings)})


@dataclass(slots=True)
class _Claim:
    """What the report says about one path, after all its entries on it."""

    path: str
    actions: list[Action] = field(default_factory=list)
    summary: str = ""
    old_path: str | None = None


class _Matching:
    """Claims and observed changes on their way to each other, strictest rule first."""

    def __init__(self, claims: dict[str, _Claim], observed: Sequence[ObservedChange]) -> None:
        self.claims = claims
        # A nested repository is shown with a slash at its end, which no declaration needs.
        self.observed = {change.path.rstrip("/"): change for change in observed}
        self.origins = {change.old_path: change for change in observed if change.old_path}
        self.used: set[str] = set()
        self.entries = {
            change.path.rstrip("/"): ReconciledPath(
                path=change.path,
                verdict="undeclared",
                observed_action=change.action,
                old_path=change.old_path,
                outside=change.outside,
            )
            for change in observed
        }

    def open_claims(self) -> list[_Claim]:
        return [claim for path, claim in self.claims.items() if path not in self.used]

    def open_changes(self) -> list[ObservedChange]:
        return [
            change
            for path, change in self.observed.items()
            if self.entries[path].verdict == "undeclared"
        ]

    def exact(self) -> None:
        """Match the same path on both sides."""
        for path, claim in self.claims.items():
            change = self.observed.get(path)
            if change is not None:
                self._meet(claim, change, agrees=self._agrees(claim, change))

    def renames(self) -> None:
        """Match a rename told as its halves, or its halves told as a rename."""
        for claim in self.open_claims():
            change = self.origins.get(claim.path)
            # The old name of a rename that git found: gone from there, as declared.
            if change is None or not {"deleted", "renamed"} & set(claim.actions):
                continue
            if (
                "renamed" in claim.actions
                and self.entries[change.path.rstrip("/")].verdict == "undeclared"
            ):
                self._meet(claim, change, agrees=True)
            self.used.add(claim.path)
        told = [
            self.claims[path]
            for path in self.used
            if path in self.observed
            and "renamed" in self.claims[path].actions
            and self.observed[path].action == "created"
        ]
        gone = {change.path: change for change in self.open_changes() if change.action == "deleted"}
        for claim in told:
            origin = self._origin(claim, gone, alone=len(told) == 1)
            if origin is not None:
                self._meet(claim, gone.pop(origin), agrees=True)

    def spellings(self) -> None:
        """Match names that are spelled in another way, where no other reading exists."""
        claims = {claim.path: meanings_of(claim.path) for claim in self.open_claims()}
        if not claims:
            return
        declared = Counter(name for names in claims.values() for name in names)
        shown = Counter(name for path in self.observed for name in names_of(path))
        by_name = {name: change for change in self.open_changes() for name in names_of(change.path)}
        for path, names in claims.items():
            found = {name for name in names if name in by_name}
            if len(found) == 1 and declared[name := found.pop()] == shown[name] == 1:
                claim, change = self.claims[path], by_name[name]
                self._meet(claim, change, agrees=self._agrees(claim, change))

    def folders(self) -> None:
        """Match a folder that is declared for all that changed in it."""
        claims = {claim.path: claim for claim in self.open_claims()}
        if not claims:
            return
        for change in self.open_changes():
            for parent in _parents(change.path):
                claim = claims.get(parent)
                if claim is not None:
                    agrees = change.action in claim.actions or "modified" in claim.actions
                    self._meet(claim, change, agrees=agrees)
                    break

    def nested(self) -> None:
        """Take what is declared inside a repository of its own, which is shown as one entry."""
        closed = {
            path: change
            for path, change in self.observed.items()
            if change.kind in ("nested-repository", "submodule")
        }
        for claim in self.open_claims() if closed else ():
            for parent in _parents(claim.path):
                if parent in closed:
                    change = closed[parent]
                    if self.entries[parent].verdict == "undeclared":
                        self._meet(replace(claim, actions=[change.action]), change, agrees=True)
                    self.used.add(claim.path)
                    entry = replace(_silent(claim, "unverified"), within=change.path)
                    self.entries[claim.path] = entry
                    break

    def _agrees(self, claim: _Claim, change: ObservedChange) -> bool:
        if change.action in claim.actions:
            return True
        if change.action == "renamed":
            # Created here and deleted there is what a rename is.
            origin = self.claims.get(change.old_path or "")
            return (
                "created" in claim.actions
                and origin is not None
                and bool({"deleted", "renamed"} & set(origin.actions))
            )
        # Below git's threshold of similarity a rename is two changes.
        return "renamed" in claim.actions and change.action in ("created", "deleted")

    def _origin(self, claim: _Claim, gone: dict[str, ObservedChange], *, alone: bool) -> str | None:
        if claim.old_path in gone:
            return claim.old_path
        named = [path for path in gone if path in claim.summary] if len(gone) <= 100 else []
        if len(named) == 1:
            return named[0]
        return next(iter(gone)) if alone and len(gone) == 1 else None

    def _meet(self, claim: _Claim, change: ObservedChange, *, agrees: bool) -> None:
        self.used.add(claim.path)
        action = change.action if change.action in claim.actions else claim.actions[-1]
        self.entries[change.path.rstrip("/")] = ReconciledPath(
            path=change.path,
            verdict="matched" if agrees else "wrong-action",
            declared_action=action,
            observed_action=change.action,
            summary=claim.summary,
            old_path=change.old_path,
            outside=change.outside,
        )


def _claims(declared: Iterable[Change], workspace: str) -> dict[str, _Claim]:
    claims: dict[str, _Claim] = {}
    for change in declared:
        path = normalised(change.path, workspace)
        claim = claims.setdefault(path, _Claim(path))
        claim.actions.append(change.action)
        claim.summary = change.summary or claim.summary
        extra = (change.model_extra or {}).get("old_path")
        if isinstance(extra, str):
            claim.old_path = normalised(extra, workspace)
    return claims


def _silent(claim: _Claim, verdict: Verdict) -> ReconciledPath:
    return ReconciledPath(
        path=claim.path,
        verdict=verdict,
        declared_action=claim.actions[-1],
        summary=claim.summary,
        outside=claim.path.startswith(("../", "/")) or claim.path == "..",
    )


def _sorted(entries: Iterable[ReconciledPath]) -> Reconciliation:
    return Reconciliation(tuple(sorted(entries, key=lambda entry: _sort_key(entry.path))))


def _sort_key(path: str) -> bytes:
    try:
        return os.fsencode(path)
    except UnicodeEncodeError:  # a lone surrogate that JSON let through
        return path.encode("utf-8", "surrogatepass")


def _parents(path: str) -> Iterable[str]:
    while (path := posixpath.dirname(path)) not in ("", "/"):
        yield path


def _renamed_from(change: ObservedChange) -> str:
    return f"renamed from {document_path(change.old_path)}" if change.old_path else ""


def _detail(entry: ReconciledPath) -> str:
    if entry.verdict == "undeclared":
        return f"Git shows it {entry.observed_action}; the report does not mention it."
    if entry.verdict == "phantom":
        return f"The report says {entry.declared_action}; git shows no change."
    return f"The report says {entry.declared_action}; git shows it {entry.observed_action}."
