"""Findings as failures: the marker's ``strict`` and ``allow``, ``caesar_strict``, ``caesar_allow``."""

from __future__ import annotations

import pytest

from tests.pytest_caesar.plugin.running import Runs

SOURCE = """
import pytest

{mark}
def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    fake = caesar_fake_agent
    caesar_repo.commit({{"a.txt": "a"}})
    agent = fake(fake.write("b.txt", "b"), fake.report(changes=[("c.txt", "created")]))
    caesar_orchestrator.delegate("Add b", agent=agent)
"""


@pytest.mark.parametrize(
    ("mark", "ini", "fails"),
    [
        ("", "", False),
        ("@pytest.mark.caesar(strict=True)", "", True),
        ("", "caesar_strict = true", True),
        ("@pytest.mark.caesar(strict=False)", "caesar_strict = true", False),
        (
            "@pytest.mark.caesar(strict=True, allow=['undeclared-change', 'phantom-change'])",
            "",
            False,
        ),
        ("@pytest.mark.caesar(strict=True, allow='undeclared-change')", "", True),
        ("", "caesar_strict = true\ncaesar_allow =\n  undeclared-change\n  phantom-change", False),
    ],
)
def test_findings_fail_a_test_that_is_strict(
    pytester: pytest.Pytester, run: Runs, mark: str, ini: str, *, fails: bool
) -> None:
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile(SOURCE.format(mark=mark))
    result = run()
    result.assert_outcomes(failed=1) if fails else result.assert_outcomes(passed=1)
    if fails:
        result.stdout.fnmatch_lines(["phantom-change in t_0001: *c.txt*"])


BESIDE = """
import pytest

def go(orchestrator, fake, mode):
    up = fake.run("sh", "-c", "cd ../../..; echo 1 > conftest.py")
    return orchestrator.delegate("Look", agent=fake(up, fake.report()), mode=mode)

def test_plain(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a"})
    run = go(caesar_orchestrator, caesar_fake_agent, "write")
    assert [f.path for f in run.diagnostics if f.code == "project-changed"] == ["conftest.py"]

@pytest.mark.caesar(strict=True)
def test_strict(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a"})
    go(caesar_orchestrator, caesar_fake_agent, "write")

def test_read_only(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a"})
    go(caesar_orchestrator, caesar_fake_agent, "read-only")

@pytest.mark.caesar(allow="project-changed")
def test_allowed(caesar_repo, caesar_orchestrator, caesar_fake_agent):
    caesar_repo.commit({"a.txt": "a"})
    go(caesar_orchestrator, caesar_fake_agent, "read-only")
"""


def test_what_changed_in_a_repository_of_the_tests_fails_strict_and_read_only_ones(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(BESIDE)
    result = run()
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines_random(["FAILED *::test_strict*", "FAILED *::test_read_only*"])
    result.stdout.fnmatch_lines(["project-changed in t_0001: *conftest.py was created in *"])


TAKES = "It takes strict=, allow=, record=, trials=, min_rate=, confidence=, undecided=, stop=, max_tokens=, max_cost_usd= and max_turns="


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ("strickt=True", f'the marker caesar has strickt; did you mean "strict"? {TAKES}'),
        ("True", f"the marker caesar has True. {TAKES}"),
        ("strict='no'", "the marker caesar has strict='no', expected True or False"),
        (
            "allow=['undeclared-chage']",
            (
                "the marker caesar has allow=undeclared-chage, which is no code of a finding; "
                'did you mean "undeclared-change" or "unverified-change"?'
            ),
        ),
        (
            "allow='xyz'",
            (
                "the marker caesar has allow=xyz, which is no code of a finding; "
                "docs/diagnostics.md lists them"
            ),
        ),
        ("allow=5", "the marker caesar has allow=5, expected a list of codes"),
        (
            "record='onec'",
            (
                "the marker caesar has record='onec', expected one of none, once, all, off; "
                'did you mean "once" or "none"?'
            ),
        ),
    ],
)
def test_a_marker_that_is_wrong_is_told_when_its_test_is_collected(
    pytester: pytest.Pytester, run: Runs, marker: str, said: str
) -> None:
    pytester.makepyfile(
        test_it=f"import pytest\n@pytest.mark.caesar({marker})\ndef test_it(): pass\n"
    )
    result = run()
    result.assert_outcomes(errors=1)
    assert f"test_it.py::test_it: {said}" in result.outlines
    assert "pytest_caesar" not in result.stdout.str()


def test_a_marker_that_a_test_puts_on_itself_is_told_too(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makepyfile(
        test_it="""
        import pytest

        def test_it(request, caesar_orchestrator, caesar_fake_agent):
            caesar_orchestrator.delegate("Work", agent=caesar_fake_agent())
            request.node.add_marker(pytest.mark.caesar(strickt=True))
        """
    )
    said = f'test_it.py::test_it: the marker caesar has strickt; did you mean "strict"? {TAKES}'
    assert said in run().outlines


@pytest.mark.parametrize("argument", ["record='new'", "strict='yes'", "allow=['phantom']"])
def test_a_marker_that_a_hook_adds_is_told_before_an_agent_starts(
    pytester: pytest.Pytester, run: Runs, argument: str
) -> None:
    pytester.makeconftest(
        f"""
        import pytest

        def pytest_collection_modifyitems(items):
            items[0].add_marker(pytest.mark.caesar({argument}))
        """
    )
    pytester.makepyfile(
        test_it="""
        def test_it(caesar_orchestrator, caesar_fake_agent):
            caesar_orchestrator.delegate("Work", agent=caesar_fake_agent())
        """
    )
    result = run()
    result.assert_outcomes(errors=1)
    said = f"test_it.py::test_it: the marker caesar has {argument.partition('=')[0]}="
    assert any(line.startswith(said) for line in result.outlines)
    result.stdout.no_fnmatch_line("*choice.py*")


def test_an_unknown_code_in_the_ini_file_is_told_before_anything_runs(
    pytester: pytest.Pytester, run: Runs
) -> None:
    pytester.makeini("[pytest]\ncaesar_allow = phantom-chnge\n")
    pytester.makepyfile("def test_it(): pass")
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = "ERROR: caesar_allow in tox.ini: phantom-chnge, which is no code of a finding; "
    (told,) = (line for line in result.errlines if line)
    assert told.startswith(f'{said}did you mean "phantom-change"')
