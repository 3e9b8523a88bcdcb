"""What an agent did to the repository besides its files; told, never acted on."""

from __future__ import annotations

import os
from collections.abc import Iterator

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.workspace.baseline_tree import file_states
from pytest_caesar.workspace.git import GitError
from pytest_caesar.workspace.integrity import find_forged_commits
from pytest_caesar.workspace.naming import named, shown
from pytest_caesar.workspace.observer import Observer
from pytest_caesar.workspace.repository_state import take_marks
from pytest_caesar.workspace.state_before import Snapshot

_FILES = (
    "config",
    "config.worktree",
    "info/exclude",
    "info/attributes",
    "info/sparse-checkout",
    "info/grafts",
    "shallow",
    "objects/info/alternates",
    ".git",
    "commondir",
    "gitdir",
    "hooks",
    "refs/replace",
)


def repository_findings(
    snapshot: Snapshot, observer: Observer, refs: dict[str, str], head: str | None, name: str | None
) -> tuple[list[Diagnostic], bool | None]:
    """Compare the repository with what it was, and tell whether HEAD descends from the base.

    Args:
        snapshot: the repository before the agent.
        observer: git over the same objects.
        refs: as they are now.
        head: commit that HEAD stands on now.
        name: ref that HEAD stands on now.
    """
    descends = _descends(snapshot, observer, head)
    findings = [*_head_findings(snapshot, head, name, descends=descends)]
    findings += _ref_findings(snapshot, refs, name)
    findings += _mark_findings(snapshot)
    findings += _ignored_findings(snapshot)
    return findings, descends


def _descends(snapshot: Snapshot, observer: Observer, head: str | None) -> bool | None:
    if snapshot.base_ref is None or head is None:
        return None
    if head == snapshot.base_ref:
        return True
    try:
        between = observer.git.run(
            "rev-list", "--ancestry-path", f"{snapshot.base_ref}..{head}", "--"
        ).lines
        if head not in between:
            return False
        # Git believes what a commit says; one that the agent forged says what it likes.
        return None if find_forged_commits(observer, between) else True
    except GitError:
        return None


def _head_findings(
    snapshot: Snapshot, head: str | None, name: str | None, *, descends: bool | None
) -> Iterator[Diagnostic]:
    if descends is False:
        yield Diagnostic(
            code="history-rewritten",
            message=f"HEAD is at {_short(head)}, which does not come after base_ref "
            f"{_short(snapshot.base_ref)}: the agent reset, amended or switched branches. "
            "Changes are told against base_ref all the same.",
        )
    elif descends is None and _had_commit(snapshot):
        where = f"HEAD is at {_short(head)}" if head else "HEAD stands on no commit any more"
        yield Diagnostic(
            code="history-rewritten",
            message=f"{where}, and git cannot tell whether that comes after base_ref "
            f"{_short(snapshot.base_ref)}: commits, or the refs to them, are gone or forged. "
            "Changes are told against base_ref all the same.",
        )
    if snapshot.head_name != name:
        yield Diagnostic(
            code="branch-switched",
            message=f"HEAD was on {_ref(snapshot.head_name)} and is now on {_ref(name)}.",
        )
    if (snapshot.git_dir / "index.lock").exists() and not snapshot.locked:
        yield Diagnostic(
            code="index-locked",
            message="A git process of the agent left its lock; git refuses to work in the "
            "workspace until the file is removed.",
            path=str(snapshot.git_dir / "index.lock"),
        )


def _had_commit(snapshot: Snapshot) -> bool:
    """Say whether plain files told where HEAD stood; with the reftable format they do not."""
    return snapshot.base_ref is not None and snapshot.head is not None


def _ref_findings(
    snapshot: Snapshot, refs: dict[str, str], name: str | None
) -> Iterator[Diagnostic]:
    before = snapshot.refs
    if refs.get("refs/stash") != before.get("refs/stash"):
        yield Diagnostic(
            code="work-stashed",
            message=f"refs/stash is at {_short(refs.get('refs/stash'))} now: the agent stashed "
            "work or dropped it, and a stash is no change.",
        )
    # A branch of somebody else's that HEAD was put on is not the agent's for that.
    own = {"refs/stash", snapshot.head_name, *({name} - before.keys())}
    changed = sorted(
        ref
        for ref in before.keys() | refs.keys()
        if before.get(ref) != refs.get(ref)
        and ref not in own
        # Other tasks may come and go meanwhile.
        and not ref.startswith("refs/heads/caesar/")
    )
    if changed:
        yield Diagnostic(
            code="refs-changed",
            message=f"While the agent worked, other branches or tags changed: {named(changed)}. "
            "Work that lies only there is not among the changes.",
        )


def _mark_findings(snapshot: Snapshot) -> Iterator[Diagnostic]:
    after = take_marks(snapshot.top, snapshot.git_dir, snapshot.common_dir, snapshot.objects[0])
    changed = [name for name in _FILES if snapshot.marks.get(name) != after.get(name)]
    if changed:
        yield Diagnostic(
            code="repository-tampered",
            message="While the agent worked, git's own files changed: "
            f"{named(changed)}. Look at them before you run git there; nothing they name was run.",
            path=str(snapshot.common_dir),
        )


def _ignored_findings(snapshot: Snapshot) -> Iterator[Diagnostic]:
    after = file_states(os.fsencode(snapshot.top), snapshot.ignored)
    changed = [path for path, state in snapshot.ignored.items() if after.get(path) != state]
    if changed:
        names = [os.fsdecode(path) for path in changed]
        yield Diagnostic(
            code="ignored-file-changed",
            message=f"Files that git ignores were touched: {named(names)}. "
            "They are not among the changes, and no patch holds them.",
            path=names[0],
        )


def _short(commit: str | None) -> str:
    return commit[:12] if commit else "nothing"


def _ref(name: str | None) -> str:
    return shown(name.removeprefix("refs/heads/")) if name else "no branch"
