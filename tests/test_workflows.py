"""The workflows of the how-to page are what GitHub takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "howto" / "ci.md"


def test_each_workflow_of_the_page_fits_the_schema_of_workflows(tmp_path: Path) -> None:
    found = re.findall(
        r"^`\.github/workflows/([\w.]+)`:\n\n```yaml\n(.*?)^```",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert [name for name, _ in found] == ["agents.yml", "shards.yml", "compare.yml"]
    for name, text in found:
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "wrong.yml").write_text(found[0][1].replace("runs-on", "runs-in"), "utf-8")
    check = [sys.executable, "-m", "check_jsonschema"]
    schema = ["--builtin-schema", "vendor.github-workflows"]
    files = [str(tmp_path / name) for name, _ in found]
    done = subprocess.run(
        [*check, *schema, *files], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout
    refused = subprocess.run(
        [*check, *schema, str(tmp_path / "wrong.yml")], capture_output=True, timeout=60, check=False
    )
    assert refused.returncode == 1


def test_the_conformance_step_and_the_artifact_do_not_depend_on_the_tests() -> None:
    [text] = re.findall(
        r"^`\.github/workflows/agents\.yml`:\n\n```yaml\n(.*?)^```",
        PAGE.read_text("utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    steps = yaml.safe_load(text)["jobs"]["agents"]["steps"]
    tests, kit, artifact = steps[-3:]
    assert "--caesar-html=caesar.html" in tests["run"]
    assert (kit["if"], artifact["if"]) == ("${{ !cancelled() }}", "always()")
    kept = set(artifact["with"]["path"].split())
    written = set(re.findall(r"=([\w.-]+)", f"{tests['run']} {kit['run']}"))
    assert written <= kept
    [ignored] = re.findall(
        r"^```\n(\.caesar/.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert written <= {line.rstrip("/") for line in ignored.split()}
