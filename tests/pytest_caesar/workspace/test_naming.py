from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_caesar.workspace.naming import branch_name, shown, slug


@pytest.mark.parametrize(
    ("task_id", "objective", "label", "expected"),
    [
        ("t_3f2a91c0d4", "Fix the parser", "", "caesar/fix-the-parser-3f2a91c0"),
        (
            "t_3f2a91c0d4",
            "Corrige l'été — ÀÉÎ",
            "reviewer",
            "caesar/reviewer/corrige-l-ete-aei-3f2a91c0",
        ),
        ("t_abc", "", "", "caesar/abc"),
        ("t_", "x", "", "caesar/x-task"),
        ("custom.id/with", "日本語", "", "caesar/custom.i"),
        ("t_12345678abcdef", "a" * 60, "My Agent!", f"caesar/my-agent/{'a' * 40}-12345678"),
        (
            "t_12345678",
            "ends in dash at forty chars exactly ---- yes",
            "x",
            "caesar/x/ends-in-dash-at-forty-chars-exactly-yes-12345678",
        ),
    ],
)
def test_branches_are_named_after_label_objective_and_id(
    task_id: str, objective: str, label: str, expected: str
) -> None:
    assert branch_name(task_id, objective, label) == expected


@given(st.text(max_size=80))
def test_a_slug_of_a_slug_is_itself(text: str) -> None:
    assert slug(slug(text)) == slug(text)


@settings(max_examples=25, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), st.text(max_size=30))
def test_git_accepts_every_branch_name(task_id: str, objective: str) -> None:
    name = branch_name(task_id, objective)
    subprocess.run(["git", "check-ref-format", "--branch", name], check=True, capture_output=True)


@given(st.text(max_size=20))
def test_a_path_in_a_sentence_survives_being_put_on_one_line(path: str) -> None:
    assert " ".join(shown(path).split()) == shown(path)


def test_names_that_differ_in_blanks_alone_are_shown_apart() -> None:
    names = ["a b", "a  b", " a b", "a b ", "a\nb", "a\tb", "a\u00a0b"]
    assert [shown(name) for name in names] == [
        "a b",
        "a\\x20\\x20b",
        "\\x20a b",
        "a b\\x20",
        "a\\nb",
        "a\\tb",
        "a\\xa0b",
    ]
