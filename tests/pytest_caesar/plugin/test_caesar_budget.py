"""``max_tokens=`` and its like, ``--caesar-max-tokens``, ``--caesar-max-cost``, ``--caesar-prices``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

STEP = {
    "type": "step_finish",
    "sessionID": "s",
    "part": {
        "type": "step-finish",
        "reason": "tool-calls",
        "tokens": {"total": 1000, "input": 900, "output": 100, "reasoning": 0, "cache": {}},
        "cost": 0.01,
    },
}
WORKS = f"""#!{sys.executable}
import os
for _ in range(3):
    print({json.dumps(json.dumps(STEP))}, flush=True)
open(os.environ["CAESAR_REPORT_PATH"], "w").write(
    '{{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}}')
"""
RUNS_ON = f"""#!{sys.executable}
import time
while True:
    print({json.dumps(json.dumps(STEP))}, flush=True)
    time.sleep(0.02)
"""
TESTS = """
import pytest

def delegate(orchestrator):
    return orchestrator.delegate("Work.")

@pytest.mark.caesar(max_tokens=3000, max_cost_usd=1, max_turns=3)
def test_within(caesar_orchestrator):
    assert delegate(caesar_orchestrator).succeeded

@pytest.mark.caesar(max_tokens=2999)
def test_beyond(caesar_orchestrator):
    delegate(caesar_orchestrator)
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_a_budget_that_is_passed_fails_its_test(pytester: pytest.Pytester) -> None:
    program(pytester.path / "agent.py", WORKS)
    pytester.makepyfile(TESTS)

    result = pytester.runpytest("--caesar-agent=./agent.py")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "budget-exceeded in t_0001: the test used 3000 tokens, at most 2999 tokens (max_tokens)",
            "2 runs: 2 success (2 file) · 6.0k tokens, $0.06",
        ]
    )


def test_an_agent_that_never_ends_is_stopped_at_its_bound(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(pytester.path / "bin" / "opencode", RUNS_ON)
    monkeypatch.setenv("PATH", f"{pytester.path / 'bin'}:/usr/bin:/bin")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.caesar(max_turns=4, allow=["budget-exceeded"])
        def test_it(caesar_orchestrator):
            run = caesar_orchestrator.delegate("Work.")
            assert run.outcome.status == "cancelled"
            assert run.source == "synthesized"
            assert "budget-exceeded" in run.codes
            # Within one look of the event that passes the bound, and the time of a signal.
            assert 4 < run.usage.turns < 60
        """
    )

    pytester.runpytest("--caesar-agent=opencode").assert_outcomes(passed=1)


def test_what_is_not_known_fails_a_test_with_a_budget(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        def main(agent):
            return agent.success("Done.")

        @pytest.mark.caesar(max_cost_usd=1)
        def test_unknown(caesar_orchestrator):
            caesar_orchestrator.delegate("Work.")

        @pytest.mark.caesar(max_cost_usd=1, allow=["usage-unknown"])
        def test_allowed(caesar_orchestrator):
            caesar_orchestrator.delegate("Work.")
        """
    )

    result = pytester.runpytest(
        "--caesar-agent=test_what_is_not_known_fails_a_test_with_a_budget:main"
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["usage-unknown in t_0001: max_cost_usd is $1, and nobody tells the cost"]
    )


@pytest.mark.parametrize("more", [(), ("-n", "1")])
def test_a_session_that_has_spent_its_budget_starts_nothing_more(
    pytester: pytest.Pytester, more: tuple[str, ...]
) -> None:
    program(pytester.path / "agent.py", WORKS)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(3))
        def test_it(caesar_orchestrator, number):
            caesar_orchestrator.delegate("Work.")
        """
    )

    result = pytester.runpytest("--caesar-agent=./agent.py", "--caesar-max-tokens=3000", *more)
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(
        ["*the budget of the session is spent: 3000 of 3000 tokens; nothing was delegated. *"]
    )


def test_prices_are_used_where_the_program_does_not_say_the_cost(
    pytester: pytest.Pytester,
) -> None:
    program(pytester.path / "agent.py", WORKS.replace("0.01", "0"))
    price = {"input_cost_per_token": 1e-3, "output_cost_per_token": 1e-2}
    (pytester.path / "prices.json").write_text(json.dumps({"m": price}))
    (pytester.path / ".caesar").mkdir()
    (pytester.path / ".caesar" / "config.toml").write_text(
        '[[agent]]\nid = "ours"\nbin = "./agent.py"\nargs = ["{{prompt}}", "{{model}}"]\n'
    )
    pytester.makepyfile(
        """
        def test_it(caesar_orchestrator):
            assert round(caesar_orchestrator.delegate("Work.", model="m").usage.cost_usd, 6) == 5.7
        """
    )

    result = pytester.runpytest("--caesar-agent=ours", "--caesar-prices=prices.json")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--caesar-max-tokens=many", "--caesar-max-tokens = many: expected a whole number"),
        ("--caesar-max-tokens=1.5", "--caesar-max-tokens = 1.5: expected a whole number"),
        (
            "--caesar-max-cost=0",
            "--caesar-max-cost = 0: expected US dollars, such as 0.50, above 0",
        ),
        ("--caesar-max-cost=nan", "--caesar-max-cost = nan: expected US dollars"),
        ("--caesar-prices=none.json", "--caesar-prices: prices *none.json: No such file"),
    ],
)
def test_what_is_no_bound_and_no_price_is_refused(
    pytester: pytest.Pytester, option: str, problem: str
) -> None:
    pytester.makepyfile("def test_it(caesar_repo): pass")

    result = pytester.runpytest("--caesar-agent=true", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{problem}*"])
