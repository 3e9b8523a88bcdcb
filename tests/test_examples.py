"""The examples work as their READMEs say; ``make demo`` runs them whole."""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# Before the first run in this process, as in the plugin's tests.
import pytest_caesar.orchestrator.nested.server
import pytest_caesar.session.fixtures
import pytest_caesar.va.dispatch  # noqa: F401
from tests.pytest_caesar.plugin.running import QUIET

Result: TypeAlias = pytest.RunResult

EXAMPLES = Path(__file__).parents[1] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if (path / "README.md").exists())


@pytest.fixture
def example(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Return what runs pytest in the folder of an example, in this process, for time."""

    def run(folder: str, *words: str) -> Result:
        monkeypatch.chdir(EXAMPLES / folder)
        return pytester.runpytest_inprocess(*QUIET, "-q", "-rs", *words)

    return run


@pytest.mark.parametrize(
    ("folder", "agent", "test"),
    [
        ("minimal", "./agent.sh", "handles"),
        ("minimal", "./agent-without-jq.sh", "handles or arrives"),
        ("fixer", "agent:main", "missing_guard"),
        ("fixer", "./agent.py", "read_only"),
        ("node", "./agent.mjs", "declares_it or told_to"),
        ("misbehaving", "./agent.py", "lie_about or prompt or behaves or not_know"),
        ("va", "agent:main", "unit or enough"),
    ],
)
def test_an_example_passes_its_own_tests(
    folder: str, agent: str, test: str, example: Callable[..., Result]
) -> None:
    done = example(folder, f"--caesar-agent={agent}", "-k", test)

    assert done.ret == 0
    assert done.parseoutcomes().keys() & {"passed", "skipped"}


@pytest.mark.parametrize("tool", ["jq", "node"])
def test_an_example_whose_tool_is_missing_is_skipped_with_the_command_that_installs_it(
    tool: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    example: Callable[..., Result],
) -> None:
    # Everything on PATH except the tool.
    for name in ("bash", "git", "sh", "env", "ls", "sleep"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    monkeypatch.setenv("PATH", str(tmp_path))
    folder, agent = {"jq": ("minimal", "./agent.sh"), "node": ("node", "./agent.mjs")}[tool]

    done = example(folder, f"--caesar-agent={agent}")

    assert done.ret == 0
    assert re.search(r"apt install (jq|nodejs), or brew install (jq|node)", done.stdout.str())
    assert "passed" not in done.parseoutcomes()


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_readme_is_short_and_its_commands_name_agents_that_are_there(folder: str) -> None:
    text = (EXAMPLES / folder / "README.md").read_text(encoding="utf-8")
    agents = re.findall(r"--caesar-agent=(\S+)", text)

    assert agents
    assert len(text.splitlines()) <= 20
    for agent in agents:
        path = EXAMPLES / folder / agent
        if ":" in agent:
            assert (EXAMPLES / folder / f"{agent.partition(':')[0]}.py").exists()
        else:
            assert os.access(path, os.X_OK), f"{path} cannot be executed"


@settings(max_examples=25, deadline=None)
@given(
    objective=st.text(min_size=1),
    context=st.text() | st.sampled_from(['"objective": "x"', "\\", '","objective":"x']),
    indent=st.sampled_from([None, 0, 2]),
    ascii_only=st.booleans(),
)
def test_without_jq_any_objective_arrives_as_it_is(
    *, objective: str, context: str, indent: int | None, ascii_only: bool
) -> None:
    task = {"id": "t_1", "context": context, "objective": objective, "mode": "read-only"}
    text = json.dumps(task, indent=indent, ensure_ascii=ascii_only)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "task.json").write_text(text, encoding="utf-8")
        report = Path(folder) / "report.json"
        subprocess.run(
            [EXAMPLES / "minimal" / "agent-without-jq.sh"],
            env={
                "PATH": os.environ["PATH"],
                "CAESAR_TASK_FILE": str(Path(folder) / "task.json"),
                "CAESAR_REPORT_PATH": str(report),
            },
            cwd=folder,
            check=True,
        )
        summary = json.loads(report.read_text(encoding="utf-8"))["summary"]

    assert summary == f"Handled: {objective}"


@pytest.fixture(scope="module")
def repairs() -> Any:
    sys.path.insert(0, str(EXAMPLES / "fixer"))
    try:
        import repairs  # type: ignore[import-not-found]
    finally:
        sys.path.pop(0)
    return repairs


@pytest.mark.parametrize(
    ("broken", "line", "error", "repaired"),
    [
        ("def f(s):\n    return s[0]\n", 2, "IndexError", "return s[0] if s else None"),
        ("def f(s): return s[0]\n", 1, "IndexError", "def f(s): return s[0] if s else None"),
        ("def f(a, b):\n    return a / b\n", 2, "ZeroDivisionError", "return a / b if b else 0"),
        ("def f(d, k):\n    x = d[k]\n    return x\n", 2, "KeyError", "x = d.get(k)"),
        ("def f(a):\n    return a > 18\n", 2, "", "return a >= 18"),
        ("def f(a):\n    return a + 1\n", 2, "", "return a + 2"),
        ("def f(a):\n    if not a:\n        pass\n", 2, "", "if a:"),
        ("def f(a, b):\n    return a and b\n", 2, "", "return a or b"),
        ("def f(n):\n    return range(n)\n", 2, "", "return range(n + 1)"),
        ("def f(x, y):\n    return x\n", 2, "", "return y"),
        ("é = 'é'; x = 1 < 2\n", 1, "", "é = 'é'; x = 1 <= 2"),
        ("def f(a):\n    a -= 1\n    return a\n", 2, "", "a += 1"),
    ],
)
def test_the_fixer_knows_the_repair(
    repairs: Any, broken: str, line: int, error: str, repaired: str
) -> None:
    found = [repair.source.decode() for repair in repairs.repairs(broken.encode(), line, error)]

    assert any(repaired in text.splitlines()[line - 1].strip() for text in found), found
    assert len(found) == len(set(found))
    assert broken not in found


SOURCES = st.sampled_from(
    [path.read_bytes() for path in sorted(EXAMPLES.glob("*/*.py"))]
    + [b"", b"\x00", b"x = (", "é = [1 < 2, not é, d[k]]\n".encode()]
)


@settings(max_examples=40, deadline=None)
@given(source=SOURCES, line=st.integers(-1, 400), error=st.sampled_from(["", "IndexError"]))
def test_every_repair_is_python_and_changes_something(
    repairs: Any, source: bytes, line: int, error: str
) -> None:
    for repair in itertools.islice(repairs.repairs(source, line, error), 20):
        assert repair.source != source
        ast.parse(repair.source)
