"""Hooks, as a package and a ``conftest.py`` implement them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT

ACME = Path(__file__).parent / "acme"

TESTS = """
import pytest

def test_acme(caesar_repo, caesar_orchestrator):
    run = caesar_orchestrator.delegate("Say hello")
    assert run.succeeded and run.source == "extracted"
    assert run.usage.input_tokens == 120 and run.usage.turns == 1
    assert [(call.tool, call.exit_code) for call in run.tool_calls] == [("shell", 1)]
    assert "acme/no-changelog" in run.codes

@pytest.mark.caesar(strict=True)
def test_strict(caesar_repo, caesar_orchestrator):
    caesar_orchestrator.delegate("Say hello")

@pytest.mark.caesar(strict=True, allow=["acme/no-changelog"])
def test_allowed(caesar_repo, caesar_orchestrator):
    caesar_orchestrator.delegate("Say hello")
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the package as pip does: its module, and its metadata with both entry points."""
    site = tmp_path / "site"
    metadata = site / "acme_caesar-1.0.dist-info"
    metadata.mkdir(parents=True)
    shutil.copy(ACME / "acme_caesar.py", site)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-caesar\nVersion: 1.0\n")
    groups = re.findall(
        r"^\[project\.entry-points\.(\w+)\]\n(.+)$",
        (ACME / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    (metadata / "entry_points.txt").write_text(
        "".join(f"[{group}]\n{entry}\n".replace('"', "") for group, entry in groups)
    )
    monkeypatch.setenv("PYTHONPATH", f"{site}{os.pathsep}{ROOT}")
    monkeypatch.setenv("PATH", f"{ACME}{os.pathsep}{os.environ['PATH']}")
    return site


def python(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *argv], cwd=cwd, capture_output=True, text=True, timeout=100, check=False
    )


def test_a_package_adds_a_cli_its_stream_and_a_finding(installed: Path, tmp_path: Path) -> None:
    here = tmp_path / "project"
    here.mkdir()
    (here / "test_acme.py").write_text(TESTS)
    ran = python("-m", "pytest", "-q", "--caesar-agent=acme", "--caesar-json=out.json", cwd=here)
    assert "1 failed, 2 passed" in ran.stdout
    assert "acme/no-changelog in t_0001: the work is not in CHANGELOG.md" in ran.stdout
    [told, *_] = json.loads((here / "out.json").read_text())["runs"]
    assert told["agent"] == "acme"

    for command in (["git", "init", "-q"], ["git", "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(command, cwd=here, check=True)
    ran = python("-m", "pytest_caesar", "run", "acme", "Say hello", "--json", cwd=here)
    result = json.loads(ran.stdout)
    assert (result["agent"], result["report"]["status"]) == ("acme", "success")
    assert "acme/no-changelog" in {one["code"] for one in result["diagnostics"]}
    ran = python("-m", "pytest_caesar", "recover", result["task_dir"], "--dialect=acme", cwd=here)
    assert "source   extracted" in ran.stdout
    ran = python("-m", "pytest_caesar", "recover", result["task_dir"], "--dialect=acne", cwd=here)
    assert ran.returncode == 2
    assert "--dialect acne: there is no such stream; expected one of codex, " in ran.stderr
    assert "acme" in ran.stderr


def test_the_how_to_is_the_package() -> None:
    page = (ROOT / "docs/howto/teach_your_cli.md").read_text("utf-8")
    blocks = dict(re.findall(r"^`([\w./]+)`:\n\n```\w+\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    for name in ("acme_caesar.py", "pyproject.toml"):
        assert blocks[name] == (ACME / name).read_text("utf-8")


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Run:
    """Return what runs one delegating test with a ``conftest.py``."""

    def run(conftest: str, *options: str, body: str = "pass") -> pytest.RunResult:
        pytester.makeconftest(f"import pytest\nfrom pathlib import Path\n{conftest}")
        pytester.makepyfile(
            "def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):\n"
            "    fake = caesar_fake_agent\n"
            "    run = caesar_orchestrator.delegate(\n"
            "        'Work', agent=fake(fake.print_brief(), fake.report()), gates=GATES)\n"
            f"    {body}\n"
            "GATES = []\n"
        )
        return pytester.runpytest_inprocess("-q", "-p", "no:randomly", *options)

    return run


def test_a_task_gets_more_and_events_and_runs_are_told(run: Run) -> None:
    result = run(
        "def pytest_caesar_task(task):\n"
        '    return {"context": "From " + task.agent, "constraints": ["Be kind"], "ticket": 7}\n'
        "\n"
        "def pytest_caesar_event(run, event):\n"
        '    with Path("events.txt").open("a") as file:\n'
        "        print(run.task.id, event.type, file=file)\n"
        "\n"
        "def pytest_caesar_run_finished(run):\n"
        '    Path("finished.txt").write_text(run.status)\n',
        body="assert run.task.context == 'From fake' and run.task.constraints == ('Be kind',)\n"
        "    assert 'Be kind' in run.brief and run.task.model_extra == {'ticket': 7}\n"
        "    assert 'hook-failed' not in run.codes",
    )
    result.assert_outcomes(passed=1)
    assert Path("events.txt").read_text().splitlines() == ["t_0001 started", "t_0001 finished"]
    assert Path("finished.txt").read_text() == "success"


@pytest.mark.parametrize(
    ("conftest", "words"),
    [
        ("def pytest_caesar_task(task): 1 / 0", "pytest_caesar_task raised ZeroDivisionError"),
        ("def pytest_caesar_task(task): return {'mode': 'write'}", "the field mode, which is the"),
        ("def pytest_caesar_task(task): return {'own': {1}}", "the field own, which is no JSON"),
        ("def pytest_caesar_event(event): 1 / 0", "pytest_caesar_event raised ZeroDivision"),
        ("def pytest_caesar_run_finished(run): 1 / 0", "run_finished raised ZeroDivisionError"),
        ("def pytest_caesar_run_finished(run): return ['x']", "expected a list of Diagnostic"),
        (
            (
                "from caesar_agent.diagnostics import Diagnostic\n"
                "def pytest_caesar_run_finished(run): return [Diagnostic(code='x', message='y')]"
            ),
            "the code 'x': expected a prefix",
        ),
    ],
)
def test_a_hook_that_is_wrong_is_named_and_stops_nothing(
    run: Run, conftest: str, words: str
) -> None:
    result = run(
        conftest,
        body="[found] = [one for one in run.diagnostics if one.code == 'hook-failed']\n"
        f"    assert {words!r} in found.message and 'conftest.py' in found.message\n"
        "    assert run.succeeded",
    )
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("conftest", "words"),
    [
        ("def pytest_caesar_dialects(): return [int]", "*conftest.py: *expected subclasses of L*"),
        (
            "def pytest_caesar_catalogue(): return 'x'",
            "*conftest.py: *returned 'x': expected a li*",
        ),
        (
            (
                "def pytest_caesar_catalogue():\n"
                "    from pytest_caesar.agents.known_cli import KnownCli\n"
                "    return [KnownCli(id='codex', display_name='x', program='x', dialect=None)]"
            ),
            "*returned an entry 'codex', which there is already*",
        ),
        (
            (
                "def pytest_caesar_catalogue():\n"
                "    from pytest_caesar.agents.known_cli import KnownCli\n"
                "    return [KnownCli(id='own', display_name='x', program='x', dialect='own')]"
            ),
            "*the dialect 'own', which there is not*",
        ),
        ("def pytest_caesar_agent(name): return 7", "*returned 7 for 'acme:x': expected a Pro*"),
        ("def pytest_caesar_agent(name): return 'nosuch -x'", "*whose program is not on PATH*"),
    ],
)
def test_what_is_added_once_is_checked(run: Run, conftest: str, words: str) -> None:
    result = run(conftest, "--caesar-agent=acme:x")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([words])


def test_one_that_raises_is_a_problem_of_the_session_and_ours_are_there(run: Run) -> None:
    result = run(
        "def pytest_caesar_dialects(): 1 / 0\n"
        "def pytest_caesar_agent(name, config):\n"
        "    return 'true' if name == 'acme:x' else None\n"
        "def pytest_caesar_gate(text):\n"
        "    from pytest_caesar.gates.gates import CommandGate\n"
        "    return CommandGate('true', name='kind') if text == 'be: kind' else None\n",
        "--caesar-agent=acme:x",
        body="from pytest_caesar.recovery.streams.dialects import DIALECTS; assert 'codex' in DIALECTS\n"
        "    run = caesar_orchestrator.delegate('Work', gates=['be: kind', 'true'])\n"
        "    assert [gate.gate for gate in run.gates] == ['kind', 'true']",
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["problem: *pytest_caesar_dialects raised ZeroDivisionError*"])


def test_a_conftest_that_comes_too_late_is_refused_by_name(pytester: pytest.Pytester) -> None:
    below = pytester.mkdir("below")
    (below / "conftest.py").write_text("def pytest_caesar_catalogue(): return []\n")
    (below / "test_it.py").write_text("def test_it(): pass\n")
    result = pytester.runpytest_inprocess("-p", "no:randomly", "--caesar-agent=true", pytester.path)
    assert result.ret != 0
    told = result.stdout.str() + result.stderr.str()
    assert "below/conftest.py: pytest_caesar_catalogue comes too late" in told
    assert "INTERNALERROR" not in told


def test_prices_and_secrets_of_a_plugin(pytester: pytest.Pytester) -> None:
    from pytest_caesar.extensions.delegating import prices_of
    from pytest_caesar.recordings import placeholders

    conftest = (
        "def pytest_caesar_secrets(text): return [w for w in text.split() if w.startswith('zz-')]\n"
        "def pytest_caesar_prices(model):\n"
        "    return {'input_cost_per_token': 1, 'output_cost_per_token': 2} if model == 'm' else None\n"
    )
    pytester.makeconftest(conftest)
    config = pytester.parseconfigure("-p", "no:randomly", "--caesar-agent=true")
    try:
        ask = prices_of(config.pluginmanager)
        assert ask is not None
        price = ask("m")
        assert price is not None
        assert (price.read, price.written, ask("n")) == (1, 2, None)
        places = placeholders.Places({}, task_id="t_1", secrets={})
        assert places.hide(b"a zz-top b") == b"a {{caesar:secret:plugin}} b"
    finally:
        config._ensure_unconfigure()
    assert placeholders.FINDERS == []
