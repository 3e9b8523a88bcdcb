"""Make the pictures of docs/page.md from runs of the example agents, with a real Chromium.

    .venv/bin/python docs/pictures/make.py

Needs Chromium (apt-get install chromium) and the dev extra.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

from playwright.sync_api import sync_playwright

from pytest_caesar.reporting.page.page import render

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
LIE = "examples/misbehaving/test_misbehaving.py::test_a_lie_about_changes_is_laid_beside_what_git_shows"

STRICT = {
    "examples/misbehaving": ("./agent.py", "lie_about or wrong_action or hangs or not_know"),
    "examples/fixer": ("agent:main", "missing_guard or two_wrong"),
}
"""Tests that are run as if findings failed them, so that there is something to see."""


def session(folder: str, agent: str, tests: str, target: Path) -> dict[str, Any]:
    """Run tests of an example; return what they left as JSON."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    subprocess.run(
        [
            *(*command, f"--caesar-agent={agent}", "-k", tests),
            *("-o", "caesar_strict=true", f"--caesar-json={target}"),
        ],
        cwd=ROOT / folder,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    found: dict[str, Any] = json.loads(target.read_text("utf-8"))
    return found


def as_elsewhere(text: str) -> str:
    """Show folders as somebody else would have them."""
    text = re.sub(r"/tmp/pytest-of-\w+/pytest-\d+/", "/tmp/pytest-of-you/pytest-0/", text)
    return text.replace(str(ROOT), "/home/you/project")


def main() -> int:
    """Write the pictures."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if chromium is None:
        sys.stderr.write("needs Chromium: apt-get install chromium\n")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        sessions = [
            session(example, agent, tests, Path(folder) / f"{number}.json")
            for number, (example, (agent, tests)) in enumerate(STRICT.items())
        ]
        whole = {**sessions[0], "exit_status": 1}
        for key in ("tests", "runs"):
            whole[key] = [entry for one in sessions for entry in one[key]]
        page = Path(folder) / "page.html"
        page.write_text(render(json.loads(as_elsewhere(json.dumps(whole)))), "utf-8")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
            for name, at, scheme, height in (
                ("page-overview-light", "", "light", 640),
                ("page-run-dark", f"#{quote(LIE, safe='')}/agent", "dark", 1000),
            ):
                view = {"width": 1100, "height": height}
                opened = browser.new_context(viewport=view, color_scheme=scheme).new_page()
                opened.goto(f"file://{page}{at}")
                opened.wait_for_selector("html[data-ready]", state="attached")
                opened.screenshot(path=HERE / f"{name}.png")
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
