from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_caesar.agents.bundled_agents import clear_bundled_agents_cache, load_bundled_agents
from pytest_caesar.agents.definitions import AgentParsingError
from pytest_caesar.agents.discovery import MAX_DEFINITION_BYTES, Discovery, discover_agents
from tests.pytest_caesar.agents.conftest import Write

BUNDLED = ("explore", "plan", "designer", "reviewer", "task", "quick_task")


def definition(name: str, description: str = "d") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def discover(project: Path, home: Path | None = None) -> Discovery:
    return discover_agents(project, home, stop_at=project)


def own(discovery: Discovery) -> list[str]:
    return [found.agent.description for found in discovery.agents if found.folder]


def test_without_any_file_there_are_the_bundled_agents(project: Path, home: Path) -> None:
    assert discover(project, home).names == BUNDLED
    assert discover(project, home).diagnostics == ()


def test_families_come_in_order_and_the_project_before_the_user(
    write: Write, project: Path, home: Path
) -> None:
    expected = []
    for family in (".xcsh", ".claude", ".codex", ".gemini"):
        user = ".xcsh/agent" if family == ".xcsh" else family
        write(f"home/{user}/agents/u.md", definition(f"u{family}", f"user {family}"))
        write(f"project/{family}/agents/p.md", definition(f"p{family}", f"project {family}"))
        expected += [f"project {family}", f"user {family}"]
    discovery = discover(project, home)
    assert own(discovery) == expected
    assert discovery.names[-6:] == BUNDLED
    assert discovery.project_agents_dir == project / ".xcsh/agents"


def test_the_first_of_a_name_wins_and_the_loser_is_told(
    write: Write, project: Path, home: Path
) -> None:
    winner = write("project/.claude/agents/a.md", definition("fox", "project"))
    loser = write("home/.xcsh/agent/agents/a.md", definition("fox", "user of a higher family"))
    discovery = discover(project, home)
    assert own(discovery) == ["user of a higher family"]
    [(hidden, by)] = discovery.shadowed
    assert (hidden.agent.file_path, by.agent.file_path) == (str(winner), str(loser))


def test_names_are_exact(write: Write, project: Path) -> None:
    write("project/.claude/agents/a.md", definition("Task", "mine"))
    write("project/.claude/agents/b.md", definition("' task'", "padded"))
    discovery = discover(project)
    assert own(discovery) == ["mine", "padded"]
    assert "task" in discovery.names
    assert discovery.get("task ") is None


def test_a_file_wins_over_a_bundled_agent_of_its_name(write: Write, project: Path) -> None:
    write("project/.gemini/agents/x.md", definition("reviewer", "mine"))
    discovery = discover(project)
    found = discovery.get("reviewer")
    assert found is not None
    assert found.agent.description == "mine"
    assert [loser.agent.file_path for loser, _ in discovery.shadowed] == ["embedded:reviewer.md"]


def test_files_of_a_folder_come_in_code_point_order(write: Write, project: Path) -> None:
    for name in ("b", "a", "Z", "_x", "é", "10", "2", ".hidden"):
        write(f"project/.claude/agents/{name}.md", definition(f"n{name}", f"x{name}"))
    names = [text[1:] for text in own(discover(project))]
    assert names == [".hidden", "10", "2", "Z", "_x", "a", "b", "é"]


def test_only_markdown_files_of_the_folder_itself_count(write: Write, project: Path) -> None:
    write("project/.claude/agents/deep/x.md", definition("deep"))
    write("project/.claude/agents/x.MD", definition("upper"))
    write("project/.claude/agents/x.txt", definition("text"))
    write("project/.claude/agents/folder.md/x", "")
    discovery = discover(project)
    assert own(discovery) == []
    [found] = discovery.diagnostics
    assert (found.code, found.path) == ("definitions-below", str(project / ".claude/agents"))
    assert found.message.startswith("a file such as deep/x.md in folders below")


def test_links_to_files_are_followed_and_links_to_folders_are_told(
    write: Write, project: Path
) -> None:
    write("elsewhere/x.md", definition("linked", "linked"))
    folder = write("project/.claude/agents/keep.txt").parent
    (folder / "a.md").symlink_to("../../../elsewhere/x.md")
    (folder / "b.md").symlink_to("../../../elsewhere")
    (folder / "c.md").symlink_to("nowhere")
    discovery = discover(project)
    assert own(discovery) == ["linked"]
    assert [(d.code, Path(d.path or "").name) for d in discovery.diagnostics] == [
        ("definition-skipped", "b.md"),
        ("definition-skipped", "c.md"),
    ]


def test_a_pipe_among_the_files_stops_nobody(write: Write, project: Path) -> None:
    folder = write("project/.claude/agents/x.md", definition("fox")).parent
    os.mkfifo(folder / "a.md")
    discovery = discover(project)
    assert discovery.get("fox") is not None
    assert [d.message for d in discovery.diagnostics] == [
        "Failed to read agent file: not a regular file"
    ]


def test_a_file_that_no_hand_wrote_is_skipped(write: Write, project: Path) -> None:
    write("project/.claude/agents/x.md", "-" * (MAX_DEFINITION_BYTES + 1))
    [finding] = discover(project).diagnostics
    assert "larger than" in finding.message


def test_one_broken_file_does_not_stop_the_others(write: Write, project: Path) -> None:
    write("project/.claude/agents/a.md", "---\nname: a\n---\nSecret prompt")
    write("project/.claude/agents/b.md", definition("b"))
    discovery = discover(project)
    assert discovery.get("b") is not None
    [finding] = discovery.diagnostics
    assert finding.code == "definition-skipped"
    assert "description must be text" in finding.message
    assert "Secret" not in finding.message


def test_a_file_that_is_not_yaml_is_loaded_and_told_with_its_line(
    write: Write, project: Path
) -> None:
    file = write(
        "project/.claude/agents/a.md", "---\nname: a\ndescription: x: y\ntools: [r]\n  b: c\n---\n"
    )
    discovery = discover(project)
    assert discovery.get("a") is not None
    [finding] = discovery.diagnostics
    assert (finding.code, finding.line) == ("definition-fallback", 3)
    assert finding.message == (
        f"Failed to parse YAML frontmatter ({file}): mapping values are not allowed here; it was "
        "read line by line, each value as plain text (tools keeps its brackets or block sign; "
        "1 line that starts no key is lost)"
    )


def test_a_folder_that_is_a_file_counts_as_empty(write: Write, project: Path) -> None:
    write("project/.claude/agents", "not a folder")
    assert discover(project).names == BUNDLED


def test_each_family_is_looked_for_upwards_on_its_own(write: Write, project: Path) -> None:
    write("project/.claude/agents/a.md", definition("outer", "outer"))
    write("project/sub/.codex/agents/a.md", definition("inner", "inner"))
    sub = project / "sub"
    assert own(discover_agents(sub, None, stop_at=project)) == ["outer", "inner"]
    assert own(discover_agents(sub, None, stop_at=sub)) == ["inner"]


def test_only_the_nearest_folder_of_a_family_counts(write: Write, project: Path) -> None:
    write("project/.claude/agents/a.md", definition("outer", "outer"))
    write("project/sub/.claude/agents/a.md", definition("inner", "inner"))
    assert own(discover_agents(project / "sub", None, stop_at=project)) == ["inner"]


def test_without_a_limit_the_walk_reaches_home_and_that_is_told(
    write: Write, home: Path, tmp_path: Path
) -> None:
    write("home/.claude/agents/a.md", definition("mine", "mine"))
    (home / "project").mkdir()
    discovery = discover_agents(home / "project", home)
    found = discovery.get("mine")
    assert found is not None
    assert found.agent.source == "project"
    assert [d.code for d in discovery.diagnostics] == ["definition-folder-above-home"]
    assert discovery.shadowed == ()


def test_the_users_folder_of_the_first_family_can_be_moved(
    write: Write, project: Path, home: Path
) -> None:
    write("home/.xcsh/agent/agents/a.md", definition("a", "usual"))
    write("home/.other/agent/agents/a.md", definition("a", "moved"))
    found = discover_agents(project, home, stop_at=project, config_dir=".other")
    assert own(found) == ["moved"]


def test_files_are_read_anew_at_each_call(write: Write, project: Path) -> None:
    file = write("project/.claude/agents/a.md", definition("a", "before"))
    assert own(discover(project)) == ["before"]
    file.write_text(definition("a", "after"))
    assert own(discover(project)) == ["after"]


def test_a_byte_order_mark_makes_the_file_no_definition(write: Write, project: Path) -> None:
    write("project/.claude/agents/a.md", "\ufeff" + definition("a"))
    assert [d.code for d in discover(project).diagnostics] == ["definition-skipped"]


# bundled agents


def test_the_bundled_agents_are_complete() -> None:
    agents = {agent.name: agent for agent in load_bundled_agents()}
    assert tuple(agents) == BUNDLED
    assert all(agent.source == "bundled" and agent.system_prompt for agent in agents.values())
    assert agents["task"].system_prompt == agents["quick_task"].system_prompt
    assert (agents["task"].spawns, agents["task"].thinking_level) == ("*", "medium")
    assert (agents["quick_task"].spawns, agents["quick_task"].thinking_level) == (None, "minimal")
    assert agents["explore"].output is not None
    assert agents["reviewer"].file_path == "embedded:reviewer.md"


def test_the_bundled_agents_are_read_once_until_they_are_forgotten() -> None:
    before = load_bundled_agents()
    assert load_bundled_agents() is before
    clear_bundled_agents_cache()
    assert load_bundled_agents() is not before
    assert load_bundled_agents() == before


def test_a_broken_bundled_agent_fails_the_whole_discovery(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_caesar.agents.bundled_agents._read", lambda name: "no front matter")
    clear_bundled_agents_cache()
    try:
        with pytest.raises(AgentParsingError):
            discover(project)
    finally:
        clear_bundled_agents_cache()
