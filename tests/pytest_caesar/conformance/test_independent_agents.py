"""Agents that know nothing of each other, in three languages, pass."""

from __future__ import annotations

import re
import shutil
import sys

import pytest

from tests.conftest import ROOT
from tests.pytest_caesar.plugin.running import Runs

EXAMPLES = ROOT / "examples"

WITH_SDK = f"""#!{sys.executable}
import caesar_agent


def main(agent: caesar_agent.Agent) -> caesar_agent.Report:
    agent.progress("looking", pct=10)
    if agent.task.objective == "Take your time":
        agent.command(["sleep", "60"])
    answer = None
    if agent.task.objective == "Ask me":
        answer = agent.ask("Really?", options=["yes", "no"], timeout=5)
    if agent.task.mode == "write":
        out = agent.workspace / "out.txt"
        if not out.exists():
            out.write_text("done\\n")
            agent.file_changed("out.txt", "created")
    agent.progress("done", pct=90)
    return agent.success(f"The answer was {{answer}}.")


caesar_agent.run(main)
"""

PROFILE = """
objective = "Write out.txt"
claims = ["writes", "declares", "events"]
[asks]
objective = "Ask me"
answer = "no"
expects = "The answer was no."
[slow]
objective = "Take your time"
timeout = 1.5
"""


def copy_example(pytester: pytest.Pytester, name: str, *files: str) -> None:
    for file in (*files, "caesar-conformance.toml"):
        shutil.copy(EXAMPLES / name / file, pytester.path / file)


def verdict(result: pytest.RunResult) -> re.Match[str]:
    result.stdout.fnmatch_lines(["OACP v1: *"])
    (line,) = (line for line in result.outlines if line.startswith("OACP v1: "))
    found = re.fullmatch(r"OACP v1: (?:(.+), )?(\d+) of (\d+)(?: \(not .*\))?", line)
    assert found, line
    assert found[2] == found[3], line
    assert result.ret == pytest.ExitCode.OK
    return found


def test_ten_lines_of_bash_reach_the_first_level(pytester: pytest.Pytester, run: Runs) -> None:
    copy_example(pytester, "minimal", "agent-without-jq.sh")

    result = run("--caesar-agent=./agent-without-jq.sh", "--caesar-conformance")

    assert verdict(result)[1] == "minimal"
    result.stdout.fnmatch_lines(["![[]OACP v1: minimal, *](https://img.shields.io/badge/*)"])


def test_node_without_a_library_passes(pytester: pytest.Pytester, run: Runs) -> None:
    if shutil.which("node") is None:
        pytest.skip("Node is not installed: apt install nodejs, or brew install node")
    copy_example(pytester, "node", "agent.mjs")

    result = run("--caesar-agent=./agent.mjs", "--caesar-conformance", "-m", "minimal or narrated")

    assert int(verdict(result)[2]) > 25


def test_an_agent_on_the_sdk_narrates_and_asks(pytester: pytest.Pytester, run: Runs) -> None:
    path = pytester.path / "agent.py"
    path.write_text(WITH_SDK)
    path.chmod(0o755)
    (pytester.path / "caesar-conformance.toml").write_text(PROFILE)

    result = run("--caesar-agent=./agent.py", "--caesar-conformance", "-m", "narrated or dialogue")

    assert int(verdict(result)[2]) > 10


PYTHON = f"""#!{sys.executable}
import json, os, sys

with open(os.environ["CAESAR_TASK_FILE"], encoding="utf-8") as file:
    task = json.load(file)
if task.get("protocol") != "caesar.task/v1":
    sys.exit("agent.py: I read caesar.task/v1 and nothing else")
report = {{"protocol": "caesar.report/v1", "task_id": task["id"], "status": "success",
          "summary": "Handled: " + task["objective"]}}
place = os.environ["CAESAR_REPORT_PATH"]
with open(place + ".new", "w", encoding="utf-8") as file:
    json.dump(report, file)
os.replace(place + ".new", place)
"""

PERL = r"""#!/usr/bin/env perl
use strict; use warnings; use JSON::PP;
open my $in, '<:raw', $ENV{CAESAR_TASK_FILE} or die "agent.pl: no task: $!\n";
my $task = decode_json(do { local $/; <$in> });
die "agent.pl: I read caesar.task/v1 and nothing else\n" if $task->{protocol} ne 'caesar.task/v1';
my $place = $ENV{CAESAR_REPORT_PATH};
open my $out, '>:raw', "$place.new" or die "agent.pl: $!\n";
print $out encode_json({protocol => 'caesar.report/v1', task_id => $task->{id},
  status => 'success', summary => "Handled: $task->{objective}"});
close $out or die "agent.pl: $!\n";
rename "$place.new", $place or die "agent.pl: $!\n";
"""


@pytest.mark.parametrize(("name", "text"), [("agent.py", PYTHON), ("agent.pl", PERL)])
def test_a_program_without_a_library_passes_all_that_it_can(
    pytester: pytest.Pytester, run: Runs, name: str, text: str
) -> None:
    if name == "agent.pl" and shutil.which("perl") is None:
        pytest.skip("Perl is not installed: apt install perl")
    path = pytester.path / name
    path.write_text(text)
    path.chmod(0o755)

    result = run(f"--caesar-agent=./{name}", "--caesar-conformance", "-k", "TASK or REPORT")

    assert int(verdict(result)[2]) > 14
