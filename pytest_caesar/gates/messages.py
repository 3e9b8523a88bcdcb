"""What gates said, in lines that are safe to print; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.console import one_line, printable
from pytest_caesar.runs.judgement import gate_ending

if TYPE_CHECKING:
    from pytest_caesar.runs.run import Run

LINES = 8
"""Last lines of what a failed gate printed."""

WIDTH = 160
"""Characters of one of them."""


def gate_lines(run: Run) -> list[str]:
    """Say how each gate ended, and of a failed one the end of what it printed."""
    lines = []
    for gate in run.gates:
        lines.append(f"  {one_line(gate.gate, limit=120)}: {gate_ending(gate)}")
        if not gate.passed:
            told = (gate.output or gate.rationale or "").rstrip().split("\n")[-LINES:]
            lines += [f"    | {printable(line[:WIDTH], keep=chr(9))}" for line in told if line]
    return lines
