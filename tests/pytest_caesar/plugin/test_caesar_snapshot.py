"""The fixture ``caesar_snapshot``: recording, comparing, and never losing anything."""

from __future__ import annotations

import json
import pwd
import re
import shlex
import sys
from pathlib import Path

import pytest

from pytest_caesar.snapshots.fixture import folders_of_this_machine
from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import QUIET, Runs, agent_script

ONE = """
import pytest

def test_name(caesar_snapshot):
    assert {"value": [1, 2, 3]} == caesar_snapshot

def test_other():
    pass
"""
TWO = """
import pytest

@pytest.mark.wip
def test_name(caesar_snapshot):
    assert {"value": "abc"} == caesar_snapshot

def test_other():
    pass
"""
PARAMETERS = """
import os
import pytest

@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_it(caesar_snapshot, letter):
    assert {"first": letter} == caesar_snapshot
    assert {"second": letter + os.environ.get("CHANGE", "")} == caesar_snapshot
"""


UNUSED = r".*snapshots? unused|.*unused snapshots? deleted"


def files(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return every snapshot with its bytes and the time of its last change."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("__caesar__/**/*"))
        if path.is_file()
    }


@pytest.fixture
def modules(pytester: pytest.Pytester) -> Path:
    """Three modules, two of them of the same name."""
    pytester.makeini("[pytest]\nmarkers = wip\naddopts = --import-mode=importlib\n")
    below = pytester.mkdir("sub")
    (pytester.path / "test_a.py").write_text(ONE)
    (pytester.path / "test_abc.py").write_text(TWO)
    (below / "test_a.py").write_text(ONE)
    return pytester.path


def test_nothing_is_written_without_being_asked(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile(test_a=ONE)
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                "E*value == __caesar__/test_a/test_name.value.json, which was not recorded yet (assert *"
            ),
            "E*record it: pytest test_a.py::test_name --snapshot-update",
        ]
    )
    assert files(pytester.path) == {}


def test_the_advice_to_record_can_be_pasted(
    pytester: pytest.Pytester, run: Runs, run_both: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = pytester.mkdir("sub")
    for name in ("one.sh", "the other.sh"):
        agent_script(pytester, f"sub/{name}")
    pytester.makeini("[pytest]\n")
    (below / "test_it.py").write_text(
        "def test_it(caesar_orchestrator, caesar_snapshot):\n"
        "    assert caesar_orchestrator.delegate('Say hello').report == caesar_snapshot\n"
    )
    monkeypatch.chdir(below)
    monkeypatch.setenv("COLUMNS", "80")
    result = run_both("--caesar-agent=./one.sh", "--caesar-agent=./the other.sh")
    result.assert_outcomes(failed=2)
    advice = [line.partition("record it: ")[2] for line in result.outlines if "record it: " in line]
    assert sorted(advice) == [
        "pytest --caesar-agent=./one.sh '--caesar-agent=./the other.sh' "
        f"'test_it.py::test_it[{name}]' --snapshot-update"
        for name in ("one", "the-other")
    ]
    for command in advice:
        run(*shlex.split(command)[1:]).assert_outcomes(passed=1)
    run("--caesar-agent=./one.sh", "--caesar-agent=./the other.sh").assert_outcomes(passed=2)


def test_what_was_recorded_is_found_again(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(test_a=ONE)
    run("--snapshot-update").assert_outcomes(passed=2)
    recorded = files(pytester.path)
    assert recorded["__caesar__/test_a/test_name.value.json"][0] == (
        b'{\n  "value": [\n    1,\n    2,\n    3\n  ]\n}\n'
    )
    result = run()
    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert files(pytester.path) == recorded


PARTS = [
    ["test_a.py"],
    ["test_a.py::test_name", "test_abc.py::test_other"],
    ["-k", "name"],
    ["-k", "other"],
    ["-m", "wip"],
    ["--lf"],
    ["--deselect", "test_a.py::test_name"],
    ["sub"],
    ["--snapshot-update", "test_a.py::test_other"],
    ["--snapshot-update", "-k", "other"],
    ["--snapshot-update", "test_abc.py"],
]


def test_a_part_of_the_tests_reports_and_deletes_nothing(
    modules: Path, pytester: pytest.Pytester, run: Runs
) -> None:
    run("--snapshot-update")
    recorded = files(modules)
    assert len(recorded) == 3
    for selection in PARTS:
        result = pytester.runpytest_inprocess("-p", "no:randomly", *selection)
        assert result.ret == 0, selection
        result.stdout.no_re_match_line(UNUSED)
        assert files(modules) == recorded, selection


def test_one_parameter_alone_is_updated_alone(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(test_p=PARAMETERS)
    run("--snapshot-update").assert_outcomes(passed=3)
    recorded = files(pytester.path)
    assert len(recorded) == 6
    run("test_p.py::test_it[b]").stdout.no_re_match_line(UNUSED)
    monkeypatch.setenv("CHANGE", "!")
    run("--snapshot-update", "test_p.py::test_it[b]").assert_outcomes(passed=1)
    now = files(pytester.path)
    changed = {name for name in now if now[name] != recorded.get(name)}
    assert changed == {"__caesar__/test_p/test_it[b].2.value.json"}
    assert recorded.keys() == now.keys()


def test_a_comparison_that_is_gone_leaves_its_file_unused(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(test_p=PARAMETERS)
    run("--snapshot-update")
    pytester.makepyfile(test_p=PARAMETERS.rpartition("    assert")[0])
    result = run()
    result.stdout.fnmatch_lines(["*3 snapshots unused.*"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = result.outlines.index("3 snapshots are not used any more, and fail the run:")
    assert result.outlines[told + 1 : told + 5] == [
        *(f"  __caesar__/test_p/test_it[{letter}].2.value.json" for letter in "abc"),
        "their tests passed without comparing; add --snapshot-update to delete them",
    ]
    warned = run("--snapshot-warn-unused")
    assert warned.ret == pytest.ExitCode.OK
    assert "3 snapshots are not used any more:" in warned.outlines
    deleted = run("--snapshot-update")
    deleted.stdout.fnmatch_lines(["*3 unused snapshots deleted.*"])
    deleted.stdout.no_fnmatch_line("*not used any more*")
    assert sorted(files(pytester.path)) == [
        f"__caesar__/test_p/test_it[{letter}].value.json" for letter in "abc"
    ]


def test_a_test_that_fails_or_is_skipped_makes_nothing_unused(
    pytester: pytest.Pytester, run: Runs
) -> None:
    source = """
        import pytest

        def test_fails(caesar_snapshot):
            assert 1 == caesar_snapshot
            {fail}
            assert 2 == caesar_snapshot

        def test_skips(caesar_snapshot):
            {skip}
            assert 1 == caesar_snapshot
    """
    pytester.makepyfile(test_it=source.format(fail="pass", skip="pass"))
    run("--snapshot-update").assert_outcomes(passed=2)
    recorded = files(pytester.path)
    pytester.makepyfile(test_it=source.format(fail="assert False", skip="pytest.skip('no')"))
    result = run("--snapshot-update")
    result.assert_outcomes(failed=1, skipped=1)
    result.stdout.no_re_match_line(UNUSED)
    assert files(pytester.path) == recorded


def test_an_agent_alone_does_not_touch_the_files_of_others(
    pytester: pytest.Pytester, run: Runs
) -> None:
    for name in ("one.sh", "two.sh"):
        path = pytester.path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    pytester.makepyfile(
        test_it="""
        def test_it(caesar_agent_under_test, caesar_snapshot):
            assert caesar_agent_under_test.id == caesar_snapshot
        """
    )
    both = ("--caesar-agent=./one.sh", "--caesar-agent=./two.sh")
    run(*both, "--snapshot-update").assert_outcomes(passed=2)
    run("--caesar-agent=./one.sh", "--snapshot-update").assert_outcomes(passed=1)
    recorded = files(pytester.path)
    assert sorted(recorded) == [
        "__caesar__/test_it/test_it.value.json",
        "__caesar__/test_it/test_it[one].value.json",
        "__caesar__/test_it/test_it[two].value.json",
    ]
    for agents in (both, ("--caesar-agent=./one.sh",)):
        result = run(*agents)
        assert result.ret == 0
        result.stdout.no_re_match_line(UNUSED)
    assert files(pytester.path) == recorded


def test_long_and_odd_parameters_never_share_a_file(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        test_it="""
        import pytest

        IDS = ["a/b", "a:b", "a-b", "a::b", "../../x", "x" * 300, "x" * 299 + "y"]

        @pytest.mark.parametrize("number", range(len(IDS)), ids=IDS)
        def test_it(caesar_snapshot, number):
            assert number == caesar_snapshot

        class TestClass:
            def test_it(self, caesar_snapshot):
                assert "class" == caesar_snapshot
        """
    )
    run("--snapshot-update").assert_outcomes(passed=8)
    assert len(files(pytester.path)) == 8
    result = run()
    result.assert_outcomes(passed=8)
    assert result.ret == 0


def test_a_rerun_counts_as_the_last_one_alone(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(test_a=ONE)
    run("--snapshot-update")
    pytester.makepyfile(
        test_a="""
        from pathlib import Path

        def test_name(caesar_snapshot):
            flag = Path(__file__).with_name("again")
            first = not flag.exists()
            flag.touch()
            assert {"value": [] if first else [1, 2, 3]} == caesar_snapshot
        """
    )
    result = run("--reruns", "2")
    result.stdout.fnmatch_lines(["*1 passed, 1 rerun*"])
    result.stdout.fnmatch_lines(["*1 snapshot passed.*"])
    result.stdout.no_fnmatch_line("*snapshot failed*")
    assert result.ret == 0


def test_a_difference_is_told_in_eight_lines_and_in_full_in_a_section(
    pytester: pytest.Pytester, run: Runs
) -> None:
    source = "def test_a(caesar_snapshot):\n    assert {value} == caesar_snapshot\n"
    pytester.makepyfile(test_it=source.format(value=list(range(40))))
    run("--snapshot-update")
    pytester.makepyfile(test_it=source.format(value=list(range(1, 41))))
    result = run()
    result.stdout.fnmatch_lines(
        [
            "E*value == __caesar__/test_it/test_a.value.json, which differs in line 2 (assert *):",
            "E*  - *0,",
            "E*(-: recorded, +: received)",
            "E*where the new one is right, record it: pytest test_it.py::test_a --snapshot-update",
            "*caesar snapshot __caesar__/test_it/test_a.value.json*",
            "+ *40",
        ]
    )


def test_the_place_and_the_look_of_the_terminal_do_not_matter(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytester.makepyfile(
        test_it="""
        def test_it(caesar_snapshot, tmp_path):
            names = {"z", "ä", "\\u2028", "\\x1b"}
            assert {name: str(tmp_path / "x") for name in names} == caesar_snapshot
        """
    )
    for name, value in {"COLUMNS": "200", "TERM": "xterm-256color", "LANG": "C"}.items():
        monkeypatch.setenv(name, value)
    run("--snapshot-update").assert_outcomes(passed=1)
    recorded = files(pytester.path)
    for name, value in {"COLUMNS": "40", "FORCE_COLOR": "1", "TZ": "Asia/Kolkata"}.items():
        monkeypatch.setenv(name, value)
    assert run().ret == 0
    assert files(pytester.path) == recorded
    assert all(b"\r" not in data for data, _ in recorded.values())


def test_a_name_stands_in_place_of_the_number(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        test_it="""
        def test_it(caesar_snapshot):
            assert 1 == caesar_snapshot(name="one")
            assert 2 == caesar_snapshot
            assert 3 == caesar_snapshot(name="three")
            assert 4 == caesar_snapshot
        """
    )
    run("--snapshot-update").assert_outcomes(passed=1)
    assert sorted(files(pytester.path)) == [
        "__caesar__/test_it/test_it.2.value.json",
        "__caesar__/test_it/test_it.value.json",
        "__caesar__/test_it/test_it@one.value.json",
        "__caesar__/test_it/test_it@three.value.json",
    ]
    assert run().ret == 0


def test_rules_of_ones_own_replace_what_varies(pytester: pytest.Pytester, run: Runs) -> None:
    source = """
        import pytest

        @pytest.fixture
        def caesar_snapshot_rules():
            return [(r"build-[0-9]+", "<build>")]

        def test_it(caesar_snapshot):
            assert "see build-{number}" == caesar_snapshot
    """
    pytester.makepyfile(test_it=source.format(number=1))
    run("--snapshot-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_it=source.format(number=2))
    run().assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (
            "[('x', 'y'), ('(', 'x')]",
            (
                "rule 2 of {where}: '(' is no regular expression: missing ), unterminated "
                "subpattern at position 0"
            ),
        ),
        (
            "['x']",
            (
                "rule 1 of {where}: 'x' is no pair of a regular expression and a replacement, such "
                'as (r"build-\\d+", "<build>")'
            ),
        ),
        (
            "[('x', '\\\\1')]",
            (
                "rule 1 of {where}: '\\\\1' cannot replace anything: invalid group reference 1 at "
                "position 1"
            ),
        ),
        (
            "'x'",
            (
                "{where}: expected a list of pairs of a regular expression and a replacement, "
                "found 'x'"
            ),
        ),
    ],
)
def test_a_rule_that_cannot_be_used_is_named(
    pytester: pytest.Pytester, run: Runs, rules: str, said: str
) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        class TestFixture:
            @pytest.fixture
            def caesar_snapshot_rules(self):
                return {rules}

            def test_it(self, caesar_snapshot):
                pass

        def test_call(caesar_snapshot):
            caesar_snapshot(rules={rules})
        """
    )
    result = run()
    result.assert_outcomes(failed=1, errors=1)
    assert said.format(where="caesar_snapshot_rules") in result.outlines
    name = "pytest_caesar.snapshots.rules.RuleError"
    assert f"E       {name}: {said.format(where='caesar_snapshot(rules=...)')}" in result.outlines
    for file in ("re.py", "fixture.py", "fixtures.py", "plugin.py"):
        assert file not in result.stdout.str()


def test_without_syrupy_it_says_what_is_missing(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(test_a=ONE)
    result = run("-p", "no:syrupy")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["caesar_snapshot needs the syrupy plugin, which is not active: *`-p no:syrupy`*"]
    )


def test_where_no_plugin_is_loaded_by_itself_it_says_how_to_name_syrupy(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(test_a=ONE)
    ours = ("-p", "pytest_caesar.plugin")
    result = pytester.runpytest_inprocess(*ours)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["caesar_snapshot needs *, add `-p syrupy`"])
    pytester.runpytest_inprocess(*ours, "-p", "syrupy", "--snapshot-update").assert_outcomes(
        passed=2
    )


def test_the_users_own_snapshots_are_left_alone(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        test_it="""
        def test_both(caesar_snapshot, snapshot):
            assert {"ours": 1} == caesar_snapshot
            assert {"theirs": 1} == snapshot
        """
    )
    run("--snapshot-update").assert_outcomes(passed=1)
    assert (pytester.path / "__snapshots__" / "test_it.ambr").is_file()
    assert list(files(pytester.path)) == ["__caesar__/test_it/test_both.value.json"]
    result = run()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["2 snapshots passed."])


def test_what_cannot_be_recorded_is_named(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile("def test_it(caesar_snapshot):\n    assert object() == caesar_snapshot\n")
    result = run()
    result.stdout.fnmatch_lines(["E*TypeError: caesar_snapshot compares a run, *; found object"])


RUN = r"""
def test_run(caesar_repo, caesar_orchestrator, caesar_fake_agent, caesar_snapshot):
    fake = caesar_fake_agent
    caesar_repo.commit({"src/a.py": "x = 1\n", "b.txt": "b\n"})
    agent = fake(
        fake.event("progress", message="half way", pct=50),
        fake.write("src/a.py", "x = 2\n"),
        fake.delete("b.txt"),
        fake.report(
            "partial",
            "Released 2026-08-09; see 0b9f1c2e-7a1d-4c55-9d3e-2f6a1b7c8d90.",
            changes=["src/a.py", "nowhere.txt"],
            usage={"input_tokens": 12, "duration_ms": 7},
            next_steps=["Delete the rest"],
        ),
    )
    run = caesar_orchestrator.delegate("Raise x", agent=agent)
    assert run == caesar_snapshot
    assert run.report == caesar_snapshot
    assert run.patch == caesar_snapshot
    assert run.events == caesar_snapshot
"""
PAGE = """\
# Run

- agent: fake
- objective: Raise x
- mode: write, worktree
- status: partial
- source: file
- process: succeeded, exit code 0
- changes verified by: git
"""
TABLE = """\
| path | declared | observed | |
|---|---|---|---|
| b.txt | - | deleted | undeclared |
| nowhere.txt | modified | - | phantom |
| src/a.py | modified | modified | as declared |
"""
PATCH = """\
--- a/src/a.py
+++ b/src/a.py
@@ -1 +1 @@
-x = 1
+x = 2
"""


def test_a_run_is_a_page_to_review(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(test_it=RUN)
    run("--snapshot-update", "--basetemp=one").assert_outcomes(passed=1)
    folder = pytester.path / "__caesar__" / "test_it"
    assert sorted(path.name for path in folder.iterdir()) == [
        "test_run.events.json",
        "test_run.patch.diff",
        "test_run.report.json",
        "test_run.run.md",
    ]
    page = (folder / "test_run.run.md").read_text("utf-8")
    assert page.startswith(PAGE)
    assert TABLE in page
    assert PATCH in page
    assert '"summary": "Released 2026-08-09; see <uuid-1>."' in page
    assert '"input_tokens": "<tokens>"' in page
    assert PATCH in (folder / "test_run.patch.diff").read_text("utf-8")
    assert '"at": "<time>"' in (folder / "test_run.events.json").read_text("utf-8")
    for file in folder.iterdir():
        assert str(pytester.path) not in file.read_text("utf-8"), file.name
    result = run("--basetemp=another-and-longer")
    result.assert_outcomes(passed=1)
    assert result.ret == 0


def test_parts_of_a_run_can_be_compared_too(pytester: pytest.Pytester, run: Runs) -> None:
    parts = "".join(
        f"    assert {part} == caesar_snapshot(name={part!r})\n"
        for part in (
            "run.changes",
            "run.diagnostics",
            "run.outcome",
            "run.report.changes",
            "run.status",
        )
    )
    pytester.makepyfile(test_it=RUN.partition("    assert")[0] + parts)
    run("--snapshot-update").assert_outcomes(passed=1)
    recorded = {name.rpartition("@")[2]: data for name, (data, _) in files(pytester.path).items()}
    assert json.loads(recorded["run.changes.value.json"]) == [
        {"action": "deleted", "kind": "file", "outside": False, "path": "b.txt"},
        {"action": "modified", "kind": "file", "outside": False, "path": "src/a.py"},
    ]
    assert json.loads(recorded["run.report.changes.value.json"])[0] == {
        "action": "deleted",
        "path": "b.txt",
    }
    outcome = json.loads(recorded["run.outcome.value.json"])
    assert outcome["timed_out"] is False
    assert outcome["exit_code"] == 0
    assert "signal" not in outcome
    assert [item["code"] for item in json.loads(recorded["run.diagnostics.value.json"])] == [
        "event-seq-repeated",
        "undeclared-change",
        "phantom-change",
    ]
    assert recorded["run.status.value.json"] == b'"partial"\n'
    assert run().ret == 0


def test_an_agent_in_two_spellings_shares_a_snapshot(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(
        reviewer="""
        import caesar_agent

        def main(agent):
            return agent.success("Looked.")

        if __name__ == "__main__":
            caesar_agent.run(main)
        """,
        test_it="""
        def test_it(caesar_orchestrator, caesar_snapshot):
            assert caesar_orchestrator.delegate("Look") == caesar_snapshot
        """,
    )
    run("--caesar-agent=reviewer:main", "--snapshot-update").assert_outcomes(passed=1)
    run("--caesar-agent=python reviewer.py").assert_outcomes(passed=1)


def test_the_page_says_what_a_snapshot_leaves_out() -> None:
    page = (ROOT / "docs" / "snapshots.md").read_text("utf-8")
    for kind in ("report", "evidence"):
        assert re.search(rf"{kind}\.json` \|.* without fields that are at their default", page)
    parts = "without fields that are empty, and times of commands; those at another default stay"
    assert re.search(rf"run\.outcome.*value\.json` \| {parts}", page)


def test_a_changed_run_names_what_differs(pytester: pytest.Pytester, run: Runs) -> None:
    pytester.makepyfile(test_it=RUN)
    run("--snapshot-update").assert_outcomes(passed=1)
    pytester.makepyfile(test_it=RUN.replace("x = 2", "x = 3"))
    run().stdout.fnmatch_lines(
        [
            "E*run == __caesar__/test_it/test_run.run.md, which differs in line * (assert *):",
            "E*  - +x = 2",
            "E*  + +x = 3",
            "*- caesar run t_0001: partial (source: file) -*",
            "*- caesar snapshot __caesar__/test_it/test_run.run.md -*",
        ]
    )


def test_line_ends_that_git_has_changed_are_told_with_the_remedy(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(test_it="def test_it(caesar_snapshot): assert [1, 2] == caesar_snapshot")
    run("--snapshot-update").assert_outcomes(passed=1)
    (snapshot,) = (pytester.path / "__caesar__").rglob("*.*")
    snapshot.write_bytes(snapshot.read_bytes().replace(b"\n", b"\r\n"))
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E*value == *test_it.value.json, which differs in its line ends alone: CRLF",
            "E*put the line `__caesar__/[*][*] -text` into .gitattributes, and check *",
        ]
    )


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_a_python_among_other_things_does_not_name_their_folder(
    monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.setattr(sys, "prefix", "/opt/python")
    assert folders_of_this_machine()[sys.prefix] == "<python>"
    monkeypatch.setattr(sys, "prefix", prefix)
    assert "<python>" not in folders_of_this_machine().values()


def test_a_user_without_a_home_has_no_placeholder_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError("uid not found")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert "<user-home>" not in folders_of_this_machine().values()


def test_in_ci_nothing_is_recorded(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    pytester.makepyfile("def test_it(caesar_snapshot): assert 1 == caesar_snapshot\n")
    result = run("--snapshot-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (pytester.path / "__caesar__").exists()


VALUES = """
import os
VALUE, FAILS = os.environ["VALUE"], os.environ["VALUE"] == "2"
def test_good(caesar_snapshot): assert VALUE == caesar_snapshot
def test_bad(caesar_snapshot):
    assert VALUE == caesar_snapshot
    assert not FAILS
"""


def test_the_snapshots_of_tests_that_fail_are_not_updated(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(VALUES)
    for value in "12":
        monkeypatch.setenv("VALUE", value)
        result = run("--snapshot-update")
    module = next(pytester.path.glob("__caesar__/*"))
    assert (module / "test_good.value.json").read_text() == '"2"\n'
    assert (module / "test_bad.value.json").read_text() == '"1"\n'
    result.stdout.fnmatch_lines(
        ["snapshots were not updated, for their tests failed:", "  *::test_bad"]
    )


def module_of(*names: str) -> str:
    """Return a module whose tests have a snapshot each."""
    return "".join(f"def {name}(caesar_snapshot): assert 1 == caesar_snapshot\n" for name in names)


def test_the_snapshots_of_a_test_that_is_gone_are_told_and_deleted(
    run: Runs, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        test_n=module_of("test_a", "test_b", "test_c"), test_m="def test_x(): pass\n"
    )
    run("--snapshot-update").assert_outcomes(passed=4)
    files = [f"__caesar__/test_n/test_{name}.value.json" for name in "abc"]
    pytester.makepyfile(test_n=module_of("test_a"))

    for some in (("test_n.py::test_a",), ("test_m.py",)):
        assert "that are gone" not in run(*some).stdout.str()
    told = run("-k", "test_a or test_x")
    assert told.ret == 0
    told.stdout.fnmatch_lines(
        [
            "2 snapshots of tests that are gone:",
            *(f"  {file}" for file in files[1:]),
            "add --snapshot-update to delete them",
        ]
    )
    run("--snapshot-update").stdout.fnmatch_lines(
        ["2 snapshots of tests that are gone were deleted:"]
    )
    assert [Path(file).exists() for file in files] == [True, False, False]
    pytester.makepyfile(test_n=module_of())
    run().stdout.fnmatch_lines(["1 snapshot of a test that is gone:", f"  {files[0]}"])


def test_two_workers_find_together_what_is_unused_gone_or_failed(
    pytester: pytest.Pytester, run: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VALUE", "1")
    pytester.makepyfile(
        test_n=module_of("test_a", "test_b", "test_c"), test_p=PARAMETERS, test_v=VALUES
    )
    run("--snapshot-update").assert_outcomes(passed=8)
    recorded = files(pytester.path)
    assert len(recorded) == 11
    unused = [f"__caesar__/test_p/test_it[{letter}].2.value.json" for letter in "abc"]
    gone = [f"__caesar__/test_n/test_{name}.value.json" for name in "bc"]
    pytester.makepyfile(test_n=module_of("test_a"), test_p=PARAMETERS.rpartition("    assert")[0])

    # Of its own: only its workers compared anything, so it has loaded nothing that compares.
    whole = pytester.runpytest_subprocess(*QUIET, "-n", "2")
    whole.assert_outcomes(passed=6)
    assert whole.ret == pytest.ExitCode.TESTS_FAILED
    whole.stdout.fnmatch_lines(
        [
            "3 snapshots are not used any more, and fail the run:",
            *(f"  {file.replace('[', '[[]')}" for file in unused),
            "their tests passed without comparing; add --snapshot-update to delete them",
            "2 snapshots of tests that are gone:",
            *(f"  {file}" for file in gone),
            "add --snapshot-update to delete them",
            "*3 snapshots unused.*",
        ]
    )
    selected = run("-n", "1", "-k", "test_a or test_good")
    selected.assert_outcomes(passed=2)
    assert selected.ret == 0
    selected.stdout.fnmatch_lines(["2 snapshots of tests that are gone:"])
    selected.stdout.no_re_match_line(UNUSED)
    assert "that are gone" not in run("-n", "1", "test_n.py::test_a").stdout.str()
    assert files(pytester.path) == recorded

    monkeypatch.setenv("VALUE", "2")
    updated = run("-n", "2", "--snapshot-update")
    updated.assert_outcomes(passed=5, failed=1)
    for lines in (
        ["*3 unused snapshots deleted.*"],
        ["2 snapshots of tests that are gone were deleted:"],
        ["snapshots were not updated, for their tests failed:", "  *::test_bad"],
    ):
        updated.stdout.fnmatch_lines(lines)
    updated.stdout.no_fnmatch_line("*not used any more*")
    now = files(pytester.path)
    assert sorted(recorded.keys() - now.keys()) == sorted([*unused, *gone])
    good = "__caesar__/test_v/test_good.value.json"
    assert now.pop(good)[0] == b'"2"\n'
    assert now.items() <= recorded.items()
