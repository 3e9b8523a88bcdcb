from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesar_agent.documents.report import Action, Change, Report
from pytest_caesar.workspace.reconciliation import (
    ReconciledPath,
    Reconciliation,
    reconcile,
    reconciled_report,
)
from pytest_caesar.workspace.spelling import document_path
from pytest_caesar.workspace.values import Observation, ObservedChange

WORKSPACE = "/ws/space"


def declared(*entries: tuple[str, Action] | tuple[str, Action, str]) -> list[Change]:
    return [
        Change(path=entry[0], action=entry[1], summary=entry[2] if len(entry) > 2 else "")
        for entry in entries
    ]


def shown(*entries: tuple[str, Action] | tuple[str, Action, str]) -> Observation:
    return Observation(
        verified=True,
        changes=tuple(
            ObservedChange(
                path=entry[0], action=entry[1], old_path=entry[2] if len(entry) > 2 else None
            )
            for entry in entries
        ),
    )


def verdicts(reconciliation: Reconciliation) -> dict[str, str]:
    return {entry.path: entry.verdict for entry in reconciliation.entries}


def lay(
    changes: list[Change], observation: Observation, **options: frozenset[str]
) -> dict[str, str]:
    return verdicts(reconcile(changes, observation, workspace=WORKSPACE, **options))


def test_every_path_of_either_side_gets_one_verdict_in_path_order() -> None:
    result = reconcile(
        declared(("b", "modified", "guard"), ("gone", "deleted"), ("c", "created")),
        shown(("a", "created"), ("b", "modified"), ("c", "modified")),
        workspace=WORKSPACE,
    )
    assert result.entries == (
        ReconciledPath(path="a", verdict="undeclared", observed_action="created"),
        ReconciledPath(
            path="b",
            verdict="matched",
            declared_action="modified",
            observed_action="modified",
            summary="guard",
        ),
        ReconciledPath(
            path="c",
            verdict="wrong-action",
            declared_action="created",
            observed_action="modified",
        ),
        ReconciledPath(path="gone", verdict="phantom", declared_action="deleted"),
    )
    assert [len(part) for part in (result.matched, result.undeclared, result.phantom)] == [1, 1, 1]
    assert (len(result.wrong_action), result.unverified) == (1, ())


@pytest.mark.parametrize(
    "spelling",
    [
        "d/a.txt",
        "./d/a.txt",
        "d//a.txt",
        "d/./a.txt",
        "x/../d/a.txt",
        "/ws/space/d/a.txt",
        "//ws/space//d/a.txt",
        "/ws/space/./x/../d/a.txt",
    ],
)
def test_a_path_is_recognised_in_every_spelling(spelling: str) -> None:
    assert lay(declared((spelling, "modified")), shown(("d/a.txt", "modified"))) == {
        "d/a.txt": "matched"
    }


@pytest.mark.parametrize("path", ["/etc/hosts", "nope.txt", "../other", "", ".", "/ws/spaces/a"])
def test_what_git_does_not_show_is_a_phantom(path: str) -> None:
    result = reconcile(declared((path, "modified")), shown(), workspace=WORKSPACE)
    (entry,) = result.phantom
    assert entry.outside is path.startswith(("/", "../"))


def test_a_file_outside_the_workspace_meets_its_relative_spelling() -> None:
    assert lay(
        declared(("../../package.json", "modified")), shown(("../../package.json", "modified"))
    ) == {"../../package.json": "matched"}


def test_unicode_forms_meet_only_where_no_other_reading_exists() -> None:
    nfc, nfd = (unicodedata.normalize(form, "été.txt") for form in ("NFC", "NFD"))
    assert lay(declared((nfc, "created")), shown((nfd, "created"))) == {nfd: "matched"}
    both = shown(("\u00fc", "created"), ("u\u0308", "created"))
    assert lay(declared(("\u00fc", "created")), both) == {
        "\u00fc": "matched",
        "u\u0308": "undeclared",
    }
    two_claims = declared(("\u00fc", "created"), ("u\u0308", "created"))
    assert lay(two_claims, shown(("\u00fc", "created"))) == {
        "\u00fc": "matched",
        "u\u0308": "phantom",
    }


@pytest.mark.parametrize(
    ("path", "spelled"),
    [
        ("café.txt", r'"caf\303\251.txt"'),
        ("a b.txt", '"a b.txt"'),
        ('q"uo\\te\n', r'"q\"uo\\te\n"'),
        ("\udcff.bin", r'"\377.bin"'),
        ("\udcff.bin", r"\xff.bin"),
        ("e\u0301.txt", r'"\303\251.txt"'),
    ],
)
def test_a_path_as_git_prints_it_is_recognised(path: str, spelled: str) -> None:
    assert lay(declared((spelled, "created")), shown((path, "created"))) == {path: "matched"}


@pytest.mark.parametrize("literal", ['"a b.txt"', r"\xff.bin"])
def test_a_name_that_only_looks_quoted_is_itself_first(literal: str) -> None:
    meant = {'"a b.txt"': "a b.txt", r"\xff.bin": "\udcff.bin"}[literal]
    both = shown((literal, "created"), (meant, "created"))
    assert lay(declared((literal, "created")), both) == {literal: "matched", meant: "undeclared"}


@pytest.mark.parametrize("spelled", ['"', '""', '"a', r'"a\"', 'a"b"', '"a"b"'])
def test_what_git_would_not_print_is_a_name_like_any_other(spelled: str) -> None:
    assert lay(declared((spelled, "created")), shown(("a", "created"))) == {
        "a": "undeclared",
        spelled: "phantom",
    }


RENAME = shown(("new", "renamed", "old"))
HALVES = shown(("new", "created"), ("old", "deleted"))


@pytest.mark.parametrize(
    ("claims", "observation", "expected"),
    [
        (declared(("new", "renamed")), RENAME, {"new": "matched"}),
        (declared(("old", "renamed")), RENAME, {"new": "matched"}),
        (declared(("new", "created"), ("old", "deleted")), RENAME, {"new": "matched"}),
        (declared(("new", "created")), RENAME, {"new": "wrong-action"}),
        (declared(("old", "deleted")), RENAME, {"new": "undeclared"}),
        (declared(("new", "modified")), RENAME, {"new": "wrong-action"}),
        (declared(("new", "renamed")), HALVES, {"new": "matched", "old": "matched"}),
        (declared(("new", "renamed", "from old")), HALVES, {"new": "matched", "old": "matched"}),
        (
            declared(("new", "renamed")),
            shown(("new", "created"), ("old", "deleted"), ("z", "deleted")),
            {"new": "matched", "old": "undeclared", "z": "undeclared"},
        ),
        (
            declared(("new", "renamed", "renamed from z")),
            shown(("new", "created"), ("old", "deleted"), ("z", "deleted")),
            {"new": "matched", "old": "undeclared", "z": "matched"},
        ),
        (
            declared(("new", "created"), ("old", "deleted")),
            HALVES,
            {"new": "matched", "old": "matched"},
        ),
    ],
)
def test_a_rename_and_its_halves_are_the_same_change(
    claims: list[Change], observation: Observation, expected: dict[str, str]
) -> None:
    assert lay(claims, observation) == expected


def test_an_old_path_in_the_report_says_which_half_belongs() -> None:
    claim = Change.model_validate({"path": "new", "action": "renamed", "old_path": "./z"})
    both = shown(("new", "created"), ("old", "deleted"), ("z", "deleted"))
    assert lay([claim], both) == {"new": "matched", "old": "undeclared", "z": "matched"}


def test_a_declared_folder_stands_for_what_changed_in_it() -> None:
    both = shown(("docs/a", "created"), ("docs/deep/b", "created"), ("docs2/c", "created"))
    assert lay(declared(("docs/", "created")), both) == {
        "docs/a": "matched",
        "docs/deep/b": "matched",
        "docs2/c": "undeclared",
    }
    assert lay(declared(("docs", "deleted")), shown(("docs/a", "created"))) == {
        "docs/a": "wrong-action"
    }


def test_a_nested_repository_needs_no_slash_to_be_declared() -> None:
    assert lay(declared(("tool", "created")), shown(("tool/", "created"))) == {"tool/": "matched"}


def test_one_path_declared_twice_counts_once_with_its_last_words() -> None:
    result = reconcile(
        declared(("a", "created", "first"), ("./a", "modified", "")),
        shown(("a", "created")),
        workspace=WORKSPACE,
    )
    (entry,) = result.entries
    assert (entry.verdict, entry.declared_action, entry.summary) == ("matched", "created", "first")


def test_an_ignored_path_is_unverified_and_no_lie() -> None:
    changes = declared(("./dist/x", "created"), ("nope", "created"))
    assert lay(changes, shown(), ignored=frozenset({"./dist/x"})) == {
        "dist/x": "unverified",
        "nope": "phantom",
    }


def test_without_verification_every_declaration_is_unverified() -> None:
    observation = Observation(verified=False)
    assert lay(declared(("a", "created")), observation) == {"a": "unverified"}
    report = Report(
        protocol="caesar.report/v1",
        status="success",
        summary="s",
        changes=tuple(declared(("a", "created"))),
    )
    reconciliation = reconcile(report.changes, observation, workspace=WORKSPACE)
    assert reconciled_report(report, reconciliation, observation) is report


def test_the_report_handed_on_has_gits_changes_and_the_agents_words() -> None:
    report = Report.parse(
        json.dumps(
            {
                "protocol": "caesar.report/v1",
                "status": "success",
                "summary": "Done.",
                "changes": [
                    {"path": "./a", "action": "modified", "summary": "guard"},
                    {"path": "nope", "action": "deleted"},
                    {"path": "c", "action": "created"},
                ],
                "findings": [{"severity": "low", "title": "Mine"}],
                "x-extra": 1,
            }
        )
    )
    observation = shown(
        ("a", "modified"), ("b\udcff", "created"), ("c", "modified"), ("n", "renamed", "o")
    )
    reconciliation = reconcile(report.changes, observation, workspace=WORKSPACE)
    handed_on = reconciled_report(report, reconciliation, observation)
    value = json.loads(handed_on.to_json())
    assert value["changes"] == [
        {"path": "a", "action": "modified", "summary": "guard"},
        {"path": "b\\xff", "action": "created", "summary": ""},
        {"path": "c", "action": "modified", "summary": ""},
        {"path": "n", "action": "renamed", "summary": "renamed from o"},
    ]
    assert [(f["severity"], f["title"], f.get("file")) for f in value["findings"]] == [
        ("low", "Mine", None),
        ("medium", "Undeclared change", "b\\xff"),
        ("medium", "Change declared with another action", "c"),
        ("medium", "Undeclared change", "n"),
        ("medium", "Change declared but not found in the diff", "nope"),
    ]
    assert (value["x-extra"], value["status"]) == (1, "success")


names = st.text(st.sampled_from("ab/.é\u0308\n\\ "), max_size=8)
acts: st.SearchStrategy[Action] = st.sampled_from(["created", "modified", "deleted", "renamed"])
claims = st.lists(st.builds(Change, path=names, action=acts, summary=names), max_size=8)
plain_names = st.from_regex(r"\A[abé](/[ab\u0308]){0,2}\Z")
observations = st.dictionaries(
    plain_names, st.tuples(acts, st.none() | plain_names), max_size=8
).map(
    lambda found: Observation(
        verified=True,
        changes=tuple(
            ObservedChange(path=path, action=action, old_path=old if action == "renamed" else None)
            for path, (action, old) in sorted(found.items())
        ),
    )
)


@given(observations)
def test_a_tree_laid_beside_itself_agrees(observation: Observation) -> None:
    changes = [Change(path=c.path, action=c.action) for c in observation.changes]
    result = reconcile(changes, observation, workspace=WORKSPACE)
    assert result.matched == result.entries
    assert len(result.entries) == len(changes)


@given(claims, observations)
def test_every_observed_path_appears_once_and_no_declaration_is_lost(
    changes: list[Change], observation: Observation
) -> None:
    result = reconcile(changes, observation, workspace=WORKSPACE)
    paths = [entry.path for entry in result.entries]
    assert len(paths) == len(set(paths))
    assert {entry.path for entry in result.entries if entry.observed_action} == {
        change.path for change in observation.changes
    }
    if changes:
        assert any(entry.declared_action for entry in result.entries) or any(
            change.old_path for change in observation.changes
        )
    report = Report(
        protocol="caesar.report/v1", status="success", summary="s", changes=tuple(changes)
    )
    handed_on = reconciled_report(report, result, observation)
    assert len(handed_on.changes) == len(observation.changes)


@given(claims)
def test_nothing_declared_and_nothing_shown_gives_nothing(changes: list[Change]) -> None:
    assert reconcile([], shown(), workspace=WORKSPACE) == Reconciliation()
    result = reconcile(changes, shown(), workspace=WORKSPACE)
    assert result.phantom == result.entries


@given(st.text(st.characters(), max_size=20))
def test_every_path_that_json_can_bring_fits_into_a_document(path: str) -> None:
    document_path(path).encode()
    assert document_path(document_path(path)) == document_path(path)


def test_a_declared_path_with_a_lone_surrogate_is_a_phantom_that_can_be_told() -> None:
    report = Report(protocol="caesar.report/v1", status="success", summary="done")
    observation = shown()
    found = reconcile(declared(("\ud83d.txt", "created")), observation, workspace=WORKSPACE)
    (finding,) = reconciled_report(report, found, observation).findings
    assert finding.file == "\\ud83d.txt"
