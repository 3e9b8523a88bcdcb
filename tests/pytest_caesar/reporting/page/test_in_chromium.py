"""The page in a real browser: what it shows, that it loads nothing, that everybody can read it."""

from __future__ import annotations

import http.server
import importlib.resources
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.diagnostics import CODES
from pytest_caesar.reporting.page.page import render
from pytest_caesar.reporting.remedies import REMEDIES
from pytest_caesar.reporting.results.comparison import compare
from pytest_caesar.trials.comparison import chances
from tests.pytest_caesar.reporting.documents import document, run_entry, told_test
from tests.pytest_caesar.reporting.page.everything import LIAR, everything, hostile, many

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TIMEOUT = 60_000
"""Milliseconds for one step of the browser, on a machine that is busy with other things."""

LIE = "#tests%2Ftest_parser.py%3A%3Atest_lies/codex"

pytestmark = [
    pytest.mark.timeout(240),
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start Chromium; each page of a test has a context, so a profile, of its own."""
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=TIMEOUT)
        yield started
        started.close()


def opened(browser: Any, path: Path, html: str, *, at: str = "", **context: Any) -> Any:
    """Write a page and open it from disk; the content security policy holds."""
    path.write_text(html, "utf-8")
    page = browser.new_context(**context).new_page()
    page.set_default_timeout(TIMEOUT)
    page.goto(f"file://{path}{at}")
    return page


@pytest.fixture
def errors() -> list[str]:
    """Collect what a page says on its console."""
    return []


@pytest.fixture(scope="module")
def everything_page() -> str:
    """Return the page of a session in which there is something of everything."""
    before = document([told_test(LIAR)], [run_entry(LIAR)])
    return render(everything(), comparison=compare(before, everything(), significance=chances))


def texts(page: Any, selector: str) -> list[str]:
    """Return the visible texts of elements, blanks squeezed."""
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


def test_it_shows_everything_that_is_known(
    browser: Any, tmp_path: Path, everything_page: str
) -> None:
    page = opened(browser, tmp_path / "page.html", everything_page, at=LIE)
    assert page.inner_text("h1") == "1 of 3 tests failed; 1 requirement not met."
    rows = texts(page, "#tests tbody tr")
    assert rows[0].startswith("✗ failed test_lies tests/test_parser.py 1 undeclared change")
    assert "success · extracted 1 ≥ 41.2k ≥ $0.18 9.0 s" in rows[0]
    assert "met test_rate" in rows[2] and "5 of 6, 83 % (44 to 97)" in rows[2]  # noqa: PT018
    case = "#details > .case >> nth=0"
    heads = texts(page, f"{case} >> h5:visible")
    assert heads == [
        *("Report", "Brief", "Diagnostics", "Files", "Commands", "Usage", "Diff", "Gates"),
        *("Questions", "Timeline", "Processes", "Delegated", "Log", "Again"),
    ]
    body = " ".join(page.locator(case).inner_text().split())
    for told in (
        "E 1 undeclared change",
        "source extracted found in the log",
        "Better sources that were lost: report-file-invalid",
        "src/a.py — modified + undeclared",
        "src/b.py not so modified — \N{MINUS SIGN} phantom",
        "pytest -q seen by stream; 2.5 s; changed afterwards: src/a.py",
        "exit code 0 exit code 1 \N{NOT EQUAL TO} contradicted",
        "input 41.0k tokens of it cached 9.0k tokens output 200 tokens cost $0.18 turns 4",
        "big +450 \N{MINUS SIGN}0 folded: 451 lines",
        "100.0 MB after this are left out. The whole is in /tmp/x/.caesar/tasks/t_0001/changes.patch",
        "error tests pytest, exit code 1 1 failed",
        "answered Keep it? options: yes, no; answer: no",
        "401 earlier entries are left out. All are in /tmp/x/.caesar/tasks/t_0001/events.jsonl",
        "tool use shell ls",
        "sleep 1000 left behind, stopped pid 77",
        "✗ partial reviewer t_0001_1",
        "a warning",
        "pytest 'tests/test_parser.py::test_lies'",
        f"{REMEDIES['undeclared-change'].replace('`', '')}",
    ):
        assert told in body, told
    page.locator(f"{case} >> .file summary").first.click()
    numbers = page.evaluate(
        "[...document.querySelectorAll('.diff .add')].slice(0, 2)"
        ".map(e => getComputedStyle(e, '::after').content)"
    )
    assert numbers == ['"1"', '"2"']
    page.locator(f"{case} >> .code >> text=undeclared-change").click()
    assert page.url.endswith("#explain-undeclared-change")
    explained = texts(page, "#explanations dl")[0]
    assert f"undeclared-change {CODES['undeclared-change']}" in explained
    assert texts(page, "#baseline tbody tr")[0].startswith(
        "✗ broken tests/test_parser.py::test_lies"
    )
    table = texts(page, "#conformance tbody tr")
    assert table[0] == "✗ failed REPORT-003 minimal It is valid. no report"


def test_it_filters_folds_and_has_two_themes(
    browser: Any, tmp_path: Path, everything_page: str
) -> None:
    page = opened(browser, tmp_path / "page.html", everything_page)
    page.keyboard.press("/")
    page.keyboard.type("rate")
    assert texts(page, "#tests tbody tr:visible th") == ["test_rate tests/test_parser.py"]
    assert page.inner_text("#shown") == "1 of 3 shown"
    assert page.locator("#details > .case:visible").count() == 1
    page.keyboard.press("Escape")
    page.locator(".toggle.good input").uncheck()
    assert texts(page, "#tests tbody tr:visible td:first-child") == ["✗ failed"]
    page.locator(".toggle.good input").check()
    page.locator("button[data-do=unfold]").click()
    assert page.locator("#details > .case[open]").count() == 3
    page.locator("button[data-do=fold]").click()
    assert page.locator("#details > .case[open]").count() == 0
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(paper)
    page.locator("button[data-do=theme]").click()
    assert page.evaluate(paper) != light


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_link_opens_what_it_leads_to_and_scripts_are_not_needed_to_read(
    browser: Any, tmp_path: Path, everything_page: str, *, scripts: bool
) -> None:
    place = "#tests%2Ftest_parser.py%3A%3Atest_rate/codex/2"
    path = tmp_path / "page.html"
    page = opened(browser, path, everything_page, at=place, java_script_enabled=scripts)
    trial = page.locator(f'[id="{place[1:]}"]')
    trial.wait_for(state="visible")
    assert "One file fixed." in trial.inner_text()
    assert page.locator("form.scripted").is_visible() == scripts
    page.locator("#tests tbody th a").first.click()
    page.locator(".rate >> visible=true").first.wait_for()
    page.locator("text=1 trial: assert 1 == 2 (2) >> visible=true").first.wait_for()
    page.locator("text=1 undeclared change").first.wait_for()


HOSTILE = (
    '</script></style></pre></title>--><script>window.pwned=1;fetch("URL/fetch")</script>'
    "<img src=URL/img onerror=window.pwned=1><link rel=stylesheet href=URL/css>"
    "<style>@import 'URL/import';body{background:url(URL/bg)}</style><iframe src=URL/frame></iframe>"
    '<svg onload="window.pwned=1"><use href="URL/use"/></svg><meta http-equiv=refresh content="0;URL/meta">'
    '<a href="javascript:window.pwned=1">click</a>{{ 7*7 }}{% raw %} &lt;b&gt; &amp;amp; '
    "' onclick=window.pwned=1 \" autofocus onfocus=window.pwned=1 x=\"\u202eevil\u2066\x00\x1b[31m\ud800"
)  # fmt: skip


class Server:
    """Listens, and notes what is asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)


@pytest.fixture
def server() -> Iterator[Server]:
    """Return what a page that loads something would ask."""
    listening = Server()
    yield listening
    listening.close()


def test_nothing_that_an_agent_wrote_acts_or_loads(
    browser: Any, tmp_path: Path, server: Server
) -> None:
    text = HOSTILE.replace("URL", server.url)
    value = hostile(text)
    value["runs"][0]["log_end"] = f"{text}\n{'x' * 5_000_000}\n{text}"
    for entry in value["tests"]:
        entry.update(cause=f"{text}", details=text, again=text, test=entry["test"] + text)
    for run in value["runs"]:
        run["test"] += text
    html = render(value, comparison=compare({"runs": []}, value, significance=chances))
    assert len(html) < 3_000_000
    page = opened(browser, tmp_path / "page.html", html)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    page.locator("#tests tbody a").first.click()
    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("document.scripts.length") == 1
    assert page.evaluate("document.images.length + frames.length") == 0
    assert page.evaluate(
        "[...document.querySelectorAll('[href]')].every(e => /^(#|data:,$)/.test(e.getAttribute('href')))"
    )
    assert page.evaluate(
        "[...document.querySelectorAll('*')].every(e => [...e.attributes].every(a => !a.name.startsWith('on') && a.name !== 'style'))"
    )
    shown = page.locator("body").inner_text()
    assert "\u202e" not in shown
    assert "\\u202eevil\\u2066\\x00\\x1b[31m" in shown
    assert "{{ 7*7 }}{% raw %} &lt;b&gt; &amp;amp;" in shown
    assert server.asked == []
    # Whether a request would have been noticed at all.
    probe = browser.new_context().new_page()
    probe.goto(f"{server.url}/probe")
    probe.close()
    assert "/probe" in server.asked


def test_the_policy_stops_what_the_escaping_would_let_through(
    browser: Any, tmp_path: Path, everything_page: str, server: Server
) -> None:
    injected = (
        f"<script>window.pwned = 1</script><script src='{server.url}/script'></script>"
        f"<img src='{server.url}/img'><style>h1 {{ display: none }}</style>"
        f"<p id=styled style='display: none'>seen</p><iframe src='{server.url}/frame'></iframe>"
    )
    html = everything_page.replace("<main>", f"<main>{injected}")
    page = opened(browser, tmp_path / "page.html", html)
    assert page.evaluate("window.pwned === undefined")
    assert page.locator("h1").is_visible()
    assert page.locator("#styled").is_visible()
    assert page.locator("form.scripted").is_visible()  # our own script ran
    assert server.asked == []


THIN_OUT = """
const kind = one => `${one.tagName} ${one.className} ${one.querySelectorAll("*").length}`;
document.querySelectorAll("*").forEach(parent => {
  const seen = {};
  [...parent.children].forEach(one => {
    seen[kind(one)] = (seen[kind(one)] || 0) + 1;
    if (seen[kind(one)] > 10) one.remove();
  });
});
"""
"""Leaves ten lines of a kind where there are hundreds: they differ in their words alone."""


@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 800), ("light", 2000)])
def test_it_is_accessible_and_fits(
    browser: Any, tmp_path: Path, everything_page: str, scheme: str, width: int
) -> None:
    view = {"width": width, "height": 900}
    page = opened(
        browser, tmp_path / "page.html", everything_page, viewport=view, color_scheme=scheme
    )
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate(THIN_OUT)
    axe = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    page.evaluate(axe.read_text("utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    assert [
        (one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"]
    ] == []


def test_it_prints_without_what_is_only_for_the_screen(
    browser: Any, tmp_path: Path, everything_page: str
) -> None:
    page = opened(browser, tmp_path / "page.html", everything_page, at=LIE)
    page.emulate_media(media="print")
    assert not page.locator("form.scripted").is_visible()
    assert page.locator("h1").is_visible()
    assert page.locator("text=Better sources that were lost").first.is_visible()
    assert page.pdf().startswith(b"%PDF")


def test_agents_that_ran_the_same_tests_have_a_column_each(browser: Any, tmp_path: Path) -> None:
    tests, runs = [], []
    for name in ("a", "b"):
        for agent, outcome in (("codex", "passed"), ("gemini", "failed")):
            test = f"t.py::test_{name}[{agent}]"
            tests.append(told_test(test, outcome, agent=agent, cause=f"{agent} is wrong"))
            runs.append(run_entry(test, agent=agent))
    page = opened(
        browser, tmp_path / "page.html", render(document(tests, runs, agents=["codex", "gemini"]))
    )
    assert texts(page, "table.matrix thead th") == ["test", "gemini", "codex"]
    first = texts(page, "table.matrix tbody tr")[0]
    assert first.startswith("test_a t.py ✗ failed success · file 1 change · 1.2 s gemini is wrong")
    assert "✓ passed success · file" in first


def test_a_thousand_runs_fit_into_eight_megabytes_and_work(browser: Any, tmp_path: Path) -> None:
    html = render(many())
    assert len(html.encode()) < 8_000_000
    page = opened(browser, tmp_path / "page.html", html)
    page.fill("#filter", "[777]")
    assert page.inner_text("#shown") == "1 of 1000 shown"
    page.locator("#tests tbody tr:visible a").click()
    opened_one = "#details > .case[open]"  # or each text of the page is looked at
    page.locator(f"{opened_one} >> text=Fix the parser on empty input >> visible=true").wait_for()


def test_a_page_without_anything_says_so(browser: Any, tmp_path: Path) -> None:
    page = opened(browser, tmp_path / "page.html", render({"format": 1, "runs": []}))
    assert page.inner_text("h1") == "No test delegated anything."
