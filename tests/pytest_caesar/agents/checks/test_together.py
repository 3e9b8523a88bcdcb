from __future__ import annotations

import pytest

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.delegation import check_delegation
from pytest_caesar.agents.checks.together import check_files
from pytest_caesar.agents.definitions import AgentDefinition


def definition(name: str, *lines: str) -> bytes:
    return "\n".join(["---", f"name: {name}", "description: d", *lines, "---", "Body"]).encode()


def codes(found: dict[str, tuple[Complaint, ...]]) -> dict[str, list[str]]:
    return {path: [c.code for c in complaints] for path, complaints in found.items() if complaints}


def agent(name: str, spawns: object = None) -> AgentDefinition:
    return AgentDefinition(name=name, description="d", spawns=spawns, file_path=f"{name}.md")  # type: ignore[arg-type]


def test_definitions_that_go_together_are_left_alone() -> None:
    assert (
        codes(
            check_files(
                {
                    "agents/a.md": definition("a", "spawns: b, explore"),
                    "agents/b.md": definition("b", 'spawns: "*"'),
                }
            )
        )
        == {}
    )


def test_the_second_of_a_name_in_a_folder_is_told_who_wins() -> None:
    found = check_files({"agents/a.md": definition("x"), "agents/b.md": definition("x")})
    assert codes(found) == {"agents/b.md": ["name-taken"]}
    [complaint] = found["agents/b.md"]
    assert complaint.found == 'the name "x" is taken by agents/a.md'
    assert (complaint.severity, complaint.line) == ("error", 2)


def test_the_same_name_in_another_folder_is_a_note() -> None:
    found = check_files(
        {".xcsh/agents/a.md": definition("x"), ".claude/agents/a.md": definition("x")}
    )
    [complaint] = found[".claude/agents/a.md"]
    assert complaint.severity == "note"


def test_a_bundled_name_is_a_note() -> None:
    [complaint] = check_files({"a.md": definition("reviewer")})["a.md"]
    assert (complaint.code, complaint.severity) == ("replaces-bundled", "note")


def test_a_file_in_a_folder_below_is_a_note() -> None:
    found = check_files(
        {
            ".claude/agents/core/a.md": definition("a"),
            ".claude/agents/other/a.md": definition("a"),  # nobody reads it, so no name is taken
            "agents/x/b.md": definition("b"),
        }
    )
    assert codes(found) == {
        ".claude/agents/core/a.md": ["nested-folder"],
        ".claude/agents/other/a.md": ["nested-folder"],
    }


def test_pages_are_errors_only_where_definitions_are() -> None:
    page = b"Just a prompt.\n"
    severities = {
        path: complaint.severity
        for path, (complaint, *_) in check_files(
            {
                "prompts/agents/a.md": page,
                ".claude/agents/a.md": page,
                "agents/page.md": page,
                "agents/x.md": definition("x", "model: 4"),
            }
        ).items()
    }
    assert severities == {
        "prompts/agents/a.md": "note",
        ".claude/agents/a.md": "error",
        "agents/page.md": "error",
        "agents/x.md": "error",
    }


def test_a_name_that_nobody_has_is_told_with_its_line_and_the_near_one() -> None:
    found = check_files({"a.md": definition("a", "spawns: Explore, b"), "b.md": definition("b")})
    [complaint] = found["a.md"]
    assert (complaint.code, complaint.line) == ("spawns-nobody", 4)
    assert complaint.found == (
        'spawns names "Explore", and there is no such agent; did you mean "explore"?'
    )
    assert 'Unknown agent "Explore"' in complaint.effect


def test_a_circle_is_told_once_with_its_steps() -> None:
    found = check_files(
        {
            "a.md": definition("a", "spawns: b"),
            "b.md": definition("b", "spawns: c"),
            "c.md": definition("c", "spawns: b"),
        }
    )
    assert codes(found) == {"b.md": ["spawns-cycle"]}
    assert found["b.md"][0].found == "spawns goes in a circle: b -> c -> b"


def test_an_agent_that_names_itself_is_a_circle_of_one() -> None:
    [complaint] = check_files({"a.md": definition("a", "spawns: a")})["a.md"]
    assert (complaint.code, complaint.found) == ("spawns-cycle", "a may start itself")


def test_a_star_is_no_circle() -> None:
    agents = [agent("a", "*"), agent("b", "*")]
    assert check_delegation(agents) == ()


def test_two_ways_to_the_same_agent_are_no_circle() -> None:
    agents = [agent("a", ("b", "c")), agent("b", ("d",)), agent("c", ("d",)), agent("d")]
    assert check_delegation(agents) == ()


def test_two_circles_are_two_complaints() -> None:
    agents = [agent("a", ("b", "c")), agent("b", ("a",)), agent("c", ("c",))]
    assert [c.found for c in check_delegation(agents)] == [
        "spawns goes in a circle: a -> b -> a",
        "c may start itself",
    ]


@pytest.mark.parametrize(
    ("entry", "max_depth", "unreachable"),
    [
        ("*", 1, []),
        ("*", 0, ["a", "b", "c"]),
        ("a", -1, []),
        ("a", 3, []),
        ("a", 2, ["c"]),
        ("a", 1, ["b", "c"]),
        ("b", 9, ["a"]),
        ("", 9, ["a", "b", "c"]),
    ],
)
def test_what_nothing_can_start_within_the_depth_is_told(
    entry: str, max_depth: int, unreachable: list[str]
) -> None:
    agents = [agent("a", ("b",)), agent("b", ("c",)), agent("c")]
    found = check_delegation(agents, entry=entry, max_depth=max_depth)
    assert [c.path for c in found if c.code == "unreachable"] == [f"{n}.md" for n in unreachable]


def test_a_long_chain_is_walked_without_recursion() -> None:
    agents = [agent(f"a{n}", (f"a{n + 1}",)) for n in range(2000)]
    agents.append(agent("a2000", ("a0",)))
    [complaint] = check_delegation(agents, max_depth=-1)
    assert complaint.code == "spawns-cycle"
    assert complaint.found.endswith("a7 -> … -> a0")
