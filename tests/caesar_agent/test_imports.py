"""What an agent pays for, and what it needs, when it imports the SDK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.caesar_agent.sdk import Desk, make_desk

ROOT = Path(__file__).parents[2]

ALLOWED = (
    "caesar_agent",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_extensions",
    "typing_inspection",
)
"""Pydantic and what pydantic itself needs."""

BLOCKER = f"""
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        part_of_python = top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
        if top not in {ALLOWED!r} and not part_of_python:
            raise ModuleNotFoundError(f"{{name}} is not installed here", name=name)
sys.meta_path.insert(0, Blocker())
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    # -I: no site of the user, no folder of the caller; the warnings of the suite.
    return subprocess.run(
        [
            sys.executable,
            "-I",
            "-W",
            "error",
            "-c",
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_bare_import_loads_nothing_but_itself() -> None:
    done = python(
        "before = set(sys.modules)\nimport caesar_agent\nprint(sorted(set(sys.modules) - before))"
    )

    assert done.stdout == "['caesar_agent']\n", done.stderr


@pytest.mark.parametrize("name", ["CaesarError", "Interrupted", "MisuseError", "CommandResult"])
def test_what_needs_no_document_does_not_load_pydantic(name: str) -> None:
    done = python(f"from caesar_agent import {name}\nprint('pydantic' in sys.modules)")

    assert done.stdout == "False\n", done.stderr


def test_a_plain_agent_loads_neither_asyncio_nor_the_mailbox(tmp_path: Path) -> None:
    done = python(
        "import caesar_agent; caesar_agent.run; caesar_agent.Agent\n"
        "heavy = {'asyncio', 'caesar_agent.mailbox.mailbox', 'caesar_agent.channel.server', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    assert done.stdout == "[]\n", done.stderr


def test_every_public_name_resolves() -> None:
    done = python(
        "import caesar_agent\n"
        "for name in caesar_agent.__all__: getattr(caesar_agent, name)\n"
        "print(caesar_agent.__version__)"
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout[0].isdigit()


def test_looking_at_the_module_imports_nothing() -> None:
    # Libraries that freeze time read every attribute that dir() names.
    done = python(
        "import caesar_agent\n"
        "for name in dir(caesar_agent): getattr(caesar_agent, name)\n"
        "print('pydantic' in sys.modules)"
    )

    assert done.stdout == "False\n", done.stderr


def test_an_unknown_name_is_an_attribute_error() -> None:
    import caesar_agent

    with pytest.raises(AttributeError, match="module 'caesar_agent' has no attribute 'nope'"):
        caesar_agent.nope  # noqa: B018 # type: ignore[attr-defined]


def test_pytest_is_told_not_to_rewrite_it() -> None:
    import caesar_agent

    assert "PYTEST_DONT_REWRITE" in (caesar_agent.__doc__ or "")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    channel = {"transport": "mcp-stdio", "command": "unused", "args": [], "server_name": "caesar"}
    return make_desk(tmp_path, channel=channel)


def test_an_agent_needs_pydantic_alone(desk: Desk) -> None:
    environ = "\n".join(f"os.environ[{name!r}] = {value!r}" for name, value in desk.environ.items())
    done = python(
        f"{BLOCKER}\nimport os\n{environ}\n"
        "import caesar_agent\n"
        "async def main(agent):\n"
        "    agent.progress('working', pct=1)\n"
        "    agent.command(['true'])\n"
        "    agent.ask('Which?', timeout=0)\n"
        "    return agent.submit(agent.success('done'))\n"
        "caesar_agent.run(main)\n"
    )

    assert done.returncode == 0, done.stderr
    assert desk.report["status"] == "success"


def test_the_blocker_blocks() -> None:
    done = python(f"{BLOCKER}\nimport pytest")

    assert "pytest is not installed here" in done.stderr
