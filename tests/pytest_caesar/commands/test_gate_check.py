from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from pytest_caesar.cli import main
from pytest_caesar.trials.flips import flips
from pytest_caesar.trials.rate_gate import Gate

ENTRY = {
    "id": "t.py::test[a]",
    "verdict": "met",
    "passed": 16,
    "counted": 20,
    "gate": {
        "trials": 20,
        "min_rate": "4/5",
        "confidence": None,
        "undecided": "fail",
        "stop": True,
    },
}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps({"trials": [ENTRY]}))
    return path


def test_it_says_how_often_each_gate_would_flip(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gate-check", str(runs)]) == 0
    first, _, advice = capsys.readouterr().out.splitlines()
    assert first == (
        "t.py::test[a]: met (16 of 20, min 80 %); run again, it would be missed in 37 % of all "
        "sessions, at worst 96 %"
    )
    assert "confidence=0.95" in advice


def test_it_prints_the_same_as_json(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate-check", "--json", str(runs)]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["verdict"], round(entry["observed"], 2)) == ("met", 0.37)


@pytest.mark.parametrize("trials", [20, 200, 1000])
def test_an_agent_at_its_gate_flips_about_every_second_time_however_many_trials(
    trials: int,
) -> None:
    gate = Gate(trials=trials, min_rate=Fraction(4, 5))
    found = flips(gate, trials * 4 // 5, trials, met=True)
    assert 0.35 < found.observed < 0.5


def test_a_gate_with_confidence_contradicts_itself_no_more_often_than_its_level() -> None:
    gate = Gate(trials=100, min_rate=Fraction(4, 5), confidence=0.95)
    for met in (True, False):
        assert flips(gate, 80, 100, met=met).observed <= 0.05


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is not JSON"),
        ("[]", "it holds no trials"),
        ('{"trials": 3}', "it holds no trials"),
        ('{"trials": [{"passed": 3, "counted": 2, "gate": {}}]}', "not complete"),
        ('{"trials": [{"passed": 1, "counted": 2, "gate": {"trials": "x"}}]}', "expected what"),
    ],
)
def test_what_is_no_file_of_a_session_is_refused(
    runs: Path, capsys: pytest.CaptureFixture[str], text: str, problem: str
) -> None:
    runs.write_text(text)
    assert main(["gate-check", str(runs)]) == 2
    assert problem in capsys.readouterr().err
