"""A script as JSON."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_caesar.model.script import ScriptedModelError
from pytest_caesar.model.script_file import read_script, script_of, script_value
from tests.pytest_caesar.model.small_cli import work

VALUE: dict[str, Any] = {
    "turns": [
        {"say": "Looking.", "calls": [{"shell": {"command": "ls"}}, {"shell": {"command": "pwd"}}]},
        {"calls": [{"tool": {"name": "apply_patch", "arguments": "*** Begin Patch"}}]},
        {"calls": [{"mcp": {"server": "a", "tool": "b", "arguments": {"c": 1}}}], "slow": 0.5},
        {
            "report": {"status": "success", "summary": "Done.", "next_steps": ["rest"]},
            "faults": [
                {"fail": 429, "times": 1, "message": "slow down"},
                {"cut": "mid", "abrupt": True, "times": 2},
                {"malformed": True},
            ],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
    ],
    "on": [{"text": "tests", "turns": [{"think": ["Hm.", "So."], "say": "Fine."}]}],
}


def test_what_is_written_is_what_was_read() -> None:
    assert script_value(script_of(VALUE)) == VALUE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON: "),
        ("[]", "the script: expected an object, found []"),
        ('{"turns": 3}', "turns: expected a list, found 3"),
        ('{"turns": [], "turn": []}', "the script: unknown 'turn'; known are brief, on, turns, "),
        ('{"turns": [{}]}', "turns[0]: expected say, calls or report"),
        ('{"turns": [{"say": ""}]}', "turns[0]: say(''): expected a text that is not empty"),
        ('{"turns": [{"calls": [{"run": {}}]}]}', "turns[0].calls[0]: unknown 'run'; known are "),
        ('{"turns": [{"calls": [{"shell": {}}]}]}', "turns[0].calls[0].shell: command is missing"),
        ('{"turns": [{"report": {"status": "x"}}]}', "turns[0]: report('x'): expected one of"),
        ('{"turns": [{"say": "x", "faults": [{}]}]}', "turns[0].faults[0]: expected fail, cut"),
        ('{"turns": [], "on": [{"turns": []}]}', "on[0].text: expected a text of the brief"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ScriptedModelError) as caught:
        read_script(text)
    assert str(caught.value).startswith(f"invalid script of the model: {problem}")


def test_a_script_is_served_outside_of_pytest(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(
        json.dumps({"turns": [{"say": "Hello."}, {"calls": [{"shell": {"command": "ls"}}]}]})
    )
    served = subprocess.Popen(
        [sys.executable, "-m", "pytest_caesar", "model", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stdout is not None
        url = served.stdout.readline().strip()
        assert work(url, "messages", "Hi") == "Hello."
        served.send_signal(signal.SIGINT)
        _, told = served.communicate(timeout=30)
    finally:
        served.kill()
    assert served.returncode == 1
    assert f"OPENAI_BASE_URL={url}/v1 " in told
    assert told.endswith("caesar_model: turn 2 was never asked for\n")
