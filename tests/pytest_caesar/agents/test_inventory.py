from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from pytest_caesar.agents.inventory import Entry, take_inventory
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.commands import agents as command
from tests.pytest_caesar.agents.conftest import Write

CONFIG = '[[agent]]\nid = "{id}"\nbin = "{bin}"\nargs = ["{{{{prompt}}}}"]\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "p").mkdir()
    return Place(
        project=tmp_path / "p",
        start=tmp_path / "p",
        path=str(tmp_path / "bin"),
        home=tmp_path / "home",
    )


def entry(place: Place, name: str, kind: str) -> Entry:
    entries, _ = take_inventory(place)
    [found] = [e for e in entries if (e.name, e.kind) == (name, kind) and not e.shadowed_by]
    return found


def test_everything_that_has_a_name_is_listed_in_the_order_of_selection(
    write: Write, place: Place
) -> None:
    write("p/.caesar/config.toml", CONFIG.format(id="mine", bin="agent.sh"))
    write("p/.claude/agents/x.md", "---\nname: x\ndescription: d\n---\n")
    entries, diagnostics = take_inventory(place)
    assert [e.name for e in entries] == [
        "mine",
        *("codex", "opencode", "gemini", "copilot", "qwen", "pi", "cn", "claude", "antigravity"),
        "x",
        *("explore", "plan", "designer", "reviewer", "task", "quick_task"),
    ]
    assert diagnostics == ()


def test_a_command_that_is_there_is_shown_where_and_one_that_is_not_says_why(
    write: Write, place: Place
) -> None:
    program = write("bin/codex", "#!/bin/sh\n", mode=0o755)
    assert entry(place, "codex", "catalogue").command == str(program)
    assert entry(place, "codex", "catalogue").runnable
    gemini = entry(place, "gemini", "catalogue")
    assert (gemini.runnable, gemini.command) == (False, "gemini")
    assert "was not found on PATH" in gemini.problem


def test_the_catalogue_says_what_was_checked(place: Place) -> None:
    assert entry(place, "codex", "catalogue").checked == "0.171.0"
    assert entry(place, "claude", "catalogue").checked is None


def test_what_policy_refuses_cannot_be_run(write: Write, place: Place) -> None:
    for name in ("codex", "gemini"):
        write(f"bin/{name}", "#!/bin/sh\n", mode=0o755)
    write("p/.caesar/config.toml", '[policy]\ndenied = ["codex"]\n')
    denied = entry(place, "codex", "catalogue")
    assert (denied.runnable, denied.problem) == (False, "[policy] denied names it")
    assert entry(place, "gemini", "catalogue").runnable


def test_what_policy_does_not_allow_cannot_be_run(write: Write, place: Place) -> None:
    for name in ("codex", "gemini"):
        write(f"bin/{name}", "#!/bin/sh\n", mode=0o755)
    write("p/.caesar/config.toml", '[policy]\nallowed = ["gemini"]\n')
    assert entry(place, "gemini", "catalogue").runnable
    other = entry(place, "codex", "catalogue")
    assert other.problem == "[policy] allowed does not name it, only gemini"


def test_the_list_explains_its_signs_and_speaks_of_its_own_options(place: Place) -> None:
    lines = command.render(*take_inventory(place))
    assert lines[-1] == "+ can be run by its name, - cannot: the line below it says why"
    assert "needs --runner NAME" in [line.strip() for line in lines]


def test_what_hides_and_what_is_hidden_is_told_on_both_sides(write: Write, place: Place) -> None:
    project = write("p/.caesar/config.toml", CONFIG.format(id="mine", bin="a.sh"))
    local = write("p/.caesar/config.local.toml", CONFIG.format(id="mine", bin="b.sh"))
    first = write("p/.claude/agents/a.md", "---\nname: x\ndescription: d\n---\n")
    second = write("p/.codex/agents/a.md", "---\nname: x\ndescription: d\n---\n")
    assert entry(place, "mine", "config").shadows == (str(project),)
    assert entry(place, "x", "definition").shadows == (str(second),)
    entries, _ = take_inventory(place)
    assert {(e.where, e.shadowed_by) for e in entries if e.shadowed_by} == {
        (str(project), str(local)),
        (str(second), str(first)),
    }


def test_a_name_that_fits_two_ways_is_marked(write: Write, place: Place) -> None:
    write("p/.caesar/config.toml", CONFIG.format(id="codex", bin="a.sh"))
    assert entry(place, "codex", "config").clashes == ("catalogue (catalogue)",)
    assert not entry(place, "codex", "config").runnable


def test_a_bundled_definition_is_hidden_by_the_configuration(write: Write, place: Place) -> None:
    config = write("p/.caesar/config.toml", CONFIG.format(id="plan", bin="a.sh"))
    assert entry(place, "plan", "config").clashes == ()
    entries, _ = take_inventory(place)
    [hidden] = [e for e in entries if e.name == "plan" and e.kind == "definition"]
    assert hidden.shadowed_by == f"{config}:1"


def test_a_definition_is_runnable_with_a_runner(place: Place) -> None:
    assert entry(place, "task", "definition").problem == "needs --caesar-runner=NAME"
    with_runner = Place(project=place.project, start=place.start, path=place.path, runner="codex")
    assert entry(with_runner, "task", "definition").runnable


# the command


def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *args: str
) -> str:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder / "home"))
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    parsed = parser.parse_args(["agents", *args])
    assert parsed.run(parsed) == 0
    return capsys.readouterr().out


def test_the_command_prints_one_json_object(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(".caesar/config.toml", CONFIG.format(id="mine", bin="agent.sh"))
    write("agent.sh", "#!/bin/sh\n", mode=0o755)
    bad = write(".claude/agents/bad.md", "nothing")
    (tmp_path / "sub").mkdir()
    shown = json.loads(run(tmp_path / "sub", monkeypatch, capsys, "--json"))
    assert shown["project"] == str(tmp_path)
    assert shown["agents"][0] == {
        "name": "mine",
        "kind": "config",
        "runnable": True,
        "where": f"{tmp_path}/.caesar/config.toml:1",
        "origin": "project",
        "description": "",
        "command": f"{tmp_path}/agent.sh",
        "problem": None,
        "checked": None,
        "shadows": [],
        "shadowed_by": None,
        "clashes": [],
    }
    assert [d["path"] for d in shown["diagnostics"]] == [str(bad)]


def test_the_command_prints_lines_for_people_and_nothing_raw(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(".claude/agents/x.md", '---\nname: "e\\e[31mvil"\ndescription: d\n---\n')
    write(".claude/agents/z.md", "nothing")
    text = run(tmp_path, monkeypatch, capsys, "--project", str(tmp_path))
    assert "known CLIs:" in text
    assert "Claude Code (not checked)" in text
    assert "\\x1b[31mvil" in text
    assert "\x1b" not in text
    assert "[definition-skipped]" in text


def test_the_users_own_layers_are_shown_when_asked_for(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write("home/.config/caesar/config.toml", CONFIG.format(id="theirs", bin="x"))
    assert "theirs" not in run(tmp_path, monkeypatch, capsys)
    assert "theirs" in run(tmp_path, monkeypatch, capsys, "--user-config")
