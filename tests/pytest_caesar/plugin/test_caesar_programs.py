"""The fixture ``caesar_programs``, with recordings and nested agents."""

from __future__ import annotations

import pytest

AGENT = """#!/bin/sh
tool a
gh pr create > url.txt
echo late > late.txt
printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}' \
    > "$CAESAR_REPORT_PATH"
"""


def test_calls_are_recorded_and_played_back(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    for name, text in (("agent.sh", AGENT), ("bin/tool", "#!/bin/sh\nexit 4\n")):
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{pytester.path / 'bin'}:/usr/bin:/bin")
    pytester.makepyfile(
        """
        def test_it(caesar_repo, caesar_orchestrator, caesar_programs):
            caesar_repo.commit({"a.txt": "one\\n"})
            gh = caesar_programs.fake("gh", "pr", stdout="url")
            (tool,) = caesar_programs.watch("tool")
            run = caesar_orchestrator.delegate("Work.")
            assert [call.argv for call in gh.calls] == [("gh", "pr", "create")]
            assert [call.exit_code for call in tool.calls] == [4]
            assert run.ran("tool")[0].changed_after == ("late.txt", "url.txt")
            assert run.ran("gh", ok=True)[0].changed_after == ("late.txt",)
        """
    )

    for played in ("", "; 1 played back from recordings"):
        result = pytester.runpytest("--caesar-agent=./agent.sh", "--caesar-record=once")
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f"1 run: 1 success (1 file){played}"])


def test_agents_that_an_agent_asks_for_find_them_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        agents="""
        import subprocess

        def child(agent):
            subprocess.run(["gh", "child"], check=True)
            return agent.success("Called.")

        def parent(agent):
            subprocess.run(["gh", "parent"], check=True)
            agent.delegate("child", "Work.")
            return agent.success("Done.")
        """,
        test_nested="""
        def test_it(caesar_repo, caesar_orchestrator, caesar_programs):
            caesar_repo.commit({".caesar/config.toml": "[policy]\\nmax_depth = 3\\n"})
            gh = caesar_programs.fake("gh")
            caesar_orchestrator.team["child"] = "agents:child"
            run = caesar_orchestrator.delegate("Work.")
            assert [call.argv[1] for call in gh.calls] == ["parent", "child"]
            (child,) = run.children
            assert child.ran("gh", "child")
            assert not run.ran("gh", "child")
        """,
    )

    result = pytester.runpytest(
        "--caesar-agent=agents:parent", "--caesar-subprocess", "test_nested.py"
    )
    result.assert_outcomes(passed=1)
