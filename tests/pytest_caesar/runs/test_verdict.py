"""What a run says against its report, word by word."""

from __future__ import annotations

import pytest

from pytest_caesar.runs.verdict import reconciliation_findings
from pytest_caesar.workspace.reconciliation import ReconciledPath, Reconciliation

ENTRIES = {
    "undeclared-change": (
        ReconciledPath(path="a.py", verdict="undeclared", observed_action="modified"),
        "git shows a.py modified, the report does not declare it",
    ),
    "phantom-change": (
        ReconciledPath(path="b.py", verdict="phantom", declared_action="created"),
        "the report declares b.py created, git shows no change there",
    ),
    "wrong-action": (
        ReconciledPath(
            path="c.py",
            verdict="wrong-action",
            declared_action="created",
            observed_action="deleted",
        ),
        "the report declares c.py created, git shows it deleted",
    ),
    "unverified-change": (
        ReconciledPath(path="d.log", verdict="unverified", declared_action="created"),
        "the report declares d.log created; git ignores that path, so nobody can verify it",
    ),
}


@pytest.mark.parametrize("code", ENTRIES)
def test_each_disagreement_has_its_sentence(code: str) -> None:
    entry, sentence = ENTRIES[code]

    (found,) = reconciliation_findings(Reconciliation((entry,)))

    assert (found.code, found.message, found.path) == (code, sentence, entry.path)


def test_what_lies_in_a_repository_of_its_own_is_said_to() -> None:
    entry = ReconciledPath(
        path="lib/x.c", verdict="unverified", declared_action="modified", within="lib"
    )

    (found,) = reconciliation_findings(Reconciliation((entry,)))

    assert found.message == (
        "the report declares lib/x.c modified; it lies in lib, a repository of its own, so nobody "
        "can verify it"
    )


def test_without_a_report_everything_undeclared_is_one_finding() -> None:
    both = tuple(entry for entry, _ in ENTRIES.values())

    (one,) = reconciliation_findings(Reconciliation(both[:1]), reported=False)
    (several,) = reconciliation_findings(Reconciliation(both), reported=False)

    assert one.message == "git shows that a.py changed; nothing was declared (no report)"
    assert several.message == (
        "git shows that 4 paths changed, a.py the first; nothing was declared (no report)"
    )


def test_what_matches_is_no_finding() -> None:
    entry = ReconciledPath(
        path="a.py", verdict="matched", declared_action="created", observed_action="created"
    )

    assert reconciliation_findings(Reconciliation((entry,))) == ()
    assert reconciliation_findings(Reconciliation(()), reported=False) == ()


def test_a_thousand_of_a_kind_are_named_and_the_others_counted() -> None:
    entries = tuple(
        ReconciledPath(path=f"f{number:04}", verdict="phantom", declared_action="created")
        for number in range(1500)
    )
    other = ReconciledPath(path="z", verdict="undeclared", observed_action="created")

    found = reconciliation_findings(Reconciliation((*entries, other)))

    assert [one.code for one in found[1000:]] == ["undeclared-change", "phantom-change"]
    assert (found[999].path, found[-1].path) == ("f0999", None)
    assert found[-1].message.startswith("500 more paths like the 1000 that are named; ")
