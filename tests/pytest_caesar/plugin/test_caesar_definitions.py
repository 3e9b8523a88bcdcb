"""``--caesar-definitions``: agent definitions as tests."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.pytest_caesar.plugin.running import Runs

FLAG = "--caesar-definitions"


def define(folder: Path, name: str, *lines: str, body: str = "Work.") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    block = "\n".join([f"name: {name}", "description: Does it", *lines])
    file = folder / f"{name}.md"
    file.write_text(f"---\n{block}\n---\n{body}\n")
    return file


@pytest.fixture
def agents(pytester: pytest.Pytester) -> Path:
    folder = pytester.path / ".claude" / "agents"
    define(folder, "sound")
    return folder


def test_each_definition_is_a_test(pytester: pytest.Pytester, run_both: Runs, agents: Path) -> None:
    define(agents, "broken", "tools: []")
    define(pytester.path / ".codex" / "agents", "other")
    result = run_both(FLAG, "-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines_random(
        ["*.claude/agents/broken.md::definition*", "*.codex/agents/other.md::definition*"]
    )


def test_a_failing_one_shows_the_line_what_the_host_does_and_the_mend(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "broken", "tools: []")
    result = run(FLAG)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*definition .claude/agents/broken.md*",
            ".claude/agents/broken.md:4: *",
            "  the host: *",
            "  mend: *",
        ]
    )


def test_without_the_option_nothing_is_collected(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    assert run().ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_without_a_path_only_definitions_are_checked(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    pytester.makepyfile("def test_it(): assert False")
    run(FLAG).assert_outcomes(passed=1)


def test_with_a_path_they_are_added_to_the_tests_there(
    pytester: pytest.Pytester, run_both: Runs, agents: Path
) -> None:
    pytester.makepyfile("def test_it(): pass")
    run_both(FLAG, ".").assert_outcomes(passed=2)


def test_without_any_definition_it_says_where_it_looked(
    pytester: pytest.Pytester, run: Runs
) -> None:
    result = run(FLAG)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*there are no agent definitions in *.claude/agents*caesar_definitions*"]
    )


# --- faults between files ----------------------------------------------------------------


def test_a_circle_is_found_also_when_one_file_is_named(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "one", "spawns: two")
    define(agents, "two", "spawns: one")
    result = run(FLAG, ".claude/agents/one.md")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*spawns goes in a circle: one -> two -> one*"])


def test_a_sibling_that_is_named_is_known(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "one", "spawns: elsewhere")
    define(pytester.path / ".gemini" / "agents", "elsewhere")
    run(FLAG, ".claude/agents/one.md").assert_outcomes(passed=1)


def test_a_name_that_nobody_has_is_an_error(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "one", "spawns: sonud")
    result = run(FLAG)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['*spawns names *sonud*did you mean "sound"*'])


def test_an_agent_that_nothing_can_start_is_an_error_where_the_main_session_is_limited(
    pytester: pytest.Pytester, run: Runs
) -> None:
    folder = pytester.path / ".claude" / "agents"
    define(folder, "lead", "spawns: helper")
    define(folder, "helper")
    define(folder, "lost")
    run(FLAG).assert_outcomes(passed=3)
    result = run(FLAG, "-o", "caesar_main_spawns=lead")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([".claude/agents/lost.md: nothing can start *lost*"])


# --- selection ---------------------------------------------------------------------------


def test_the_name_in_the_file_selects_it(pytester: pytest.Pytester, run: Runs) -> None:
    folder = pytester.path / ".claude" / "agents"
    define(folder, "reviewer").rename(folder / "a.md")
    define(folder, "other")
    run(FLAG, "-k", "reviewer").assert_outcomes(passed=1, deselected=1)
    run(FLAG, "-k", "a.md or nothing").assert_outcomes(passed=1, deselected=1)


def test_the_last_failed_are_run_again(pytester: pytest.Pytester, agents: Path) -> None:
    define(agents, "broken", "tools: []")
    options = ("-p", "no:randomly", "-W", "error")
    pytester.runpytest_inprocess(*options, FLAG).assert_outcomes(passed=1, failed=1)
    result = pytester.runpytest_inprocess(*options, FLAG, "--lf", "-v")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*.claude/agents/broken.md::definition FAILED*"])


def test_an_item_can_be_named(pytester: pytest.Pytester, run: Runs, agents: Path) -> None:
    define(agents, "other")
    run(FLAG, ".claude/agents/sound.md::definition").assert_outcomes(passed=1)


def test_junit_tells_the_complaint(pytester: pytest.Pytester, run: Runs, agents: Path) -> None:
    define(agents, "broken", "tools: []")
    run(FLAG, "--junitxml=junit.xml")
    [failure] = ET.parse(pytester.path / "junit.xml").iter("failure")
    assert "mend: " in (failure.text or "")
    assert ".claude/agents/broken.md:4" in failure.attrib["message"]


def test_notes_fail_nothing_and_can_be_shown(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "plan")
    result = run(FLAG, "-rP")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*notes on the definition*", "*is also a bundled agent*"])


# --- what counts -------------------------------------------------------------------------


def test_only_definitions_are_taken_from_hidden_folders(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    for folder in (".claude/commands", ".claude/skills/x", ".github/agents", ".caesar/wt/t_1"):
        path = pytester.path / folder
        path.mkdir(parents=True)
        (path / "test_hidden.py").write_text("def test_it(): assert False\n")
        (path / "page.md").write_text("no definition\n")
    (agents / "test_inside.py").write_text("def test_it(): assert False\n")
    define(pytester.path / ".caesar/wt/t_1/.claude/agents", "copy", "tools: []")
    run(FLAG, ".").assert_outcomes(passed=1)


def test_pages_beside_the_tests_are_left_in_peace(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    for folder in ("docs", "tests/data/agents"):
        path = pytester.path / folder
        path.mkdir(parents=True)
        (path / "page.md").write_text("# A page\n")
    (pytester.path / "README.md").write_text("# Readme\n")
    run(FLAG, ".").assert_outcomes(passed=1)


def test_where_nothing_counts_it_says_what_would(pytester: pytest.Pytester, run: Runs) -> None:
    define(pytester.path / "agents", "helper")
    result = run(FLAG, ".")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["--caesar-definitions: no definition was found. *"])
    run(FLAG, "agents").assert_outcomes(passed=1)


def test_agents_of_a_plugin_count(pytester: pytest.Pytester, run: Runs) -> None:
    root = pytester.path / "plugins" / "mine"
    define(root / "agents", "helper")
    (root / ".claude-plugin").mkdir()
    (root / ".claude-plugin" / "plugin.json").write_text("{}")
    run(FLAG, ".").assert_outcomes(passed=1)


@pytest.mark.parametrize("argument", ["prompts/agents", "prompts/agents/deep", "prompts/one.md"])
def test_what_is_named_counts(pytester: pytest.Pytester, run: Runs, argument: str) -> None:
    define(pytester.path / "prompts" / "agents" / "deep", "helper")
    define(pytester.path / "prompts", "one")
    run(FLAG, argument).assert_outcomes(passed=1)


def test_folders_of_the_ini_file_count(
    pytester: pytest.Pytester, run_both: Runs, agents: Path
) -> None:
    pytester.makeini("[pytest]\ncaesar_definitions =\n    prompts\n    .hidden\n")
    define(pytester.path / "prompts" / "deep", "one", "spawns: two")
    define(pytester.path / ".hidden", "two")
    run_both(FLAG).assert_outcomes(passed=2)


def test_a_folder_of_the_ini_file_that_is_not_there_is_named(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makeini("[pytest]\ncaesar_definitions = prompts\n")
    result = run(FLAG)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*caesar_definitions names *prompts, which is no folder*"])


def test_a_project_below_a_folder_of_a_family_is_a_project_like_any_other(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pytester.path / ".claude" / "worktrees" / "one"
    define(root / ".claude" / "agents", "sound")
    (root / "pytest.ini").write_text("[pytest]\n")
    (root / "test_it.py").write_text("def test_it(): pass\n")
    monkeypatch.chdir(root)
    run(FLAG, ".").assert_outcomes(passed=2)


def test_a_file_that_cannot_be_read_fails(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    file = define(agents, "gone")
    pytester.makeconftest(
        f"import os\ndef pytest_collection_finish():\n    os.remove({str(file)!r})\n"
    )
    result = run(FLAG)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([".claude/agents/gone.md: it cannot be read, so the host skips *"])


def test_control_characters_of_a_file_reach_no_terminal(
    pytester: pytest.Pytester, run: Runs, agents: Path
) -> None:
    define(agents, "odd", 'spawns: "x\\e[31m"')
    result = run(FLAG)
    result.assert_outcomes(passed=1, failed=1)
    assert "\x1b[31mm" not in result.stdout.str()
    result.stdout.fnmatch_lines([r"*x\x1b*"])


def test_what_an_orchestrator_keeps_is_never_looked_at(
    pytester: pytest.Pytester, run: Runs
) -> None:
    folder = pytester.path / ".caesar" / "wt" / "t_1"
    folder.mkdir(parents=True)
    (folder / "test_copy.py").write_text("def test_it(): assert False\n")
    pytester.makeini("[pytest]\nnorecursedirs =\n")
    pytester.makepyfile("def test_it(): pass")
    run().assert_outcomes(passed=1)
