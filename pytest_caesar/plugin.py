"""The pytest plugin: options, ini keys, the marker, hooks and the shells of the fixtures.

Nothing but pytest is imported here. What a hook or a fixture needs beyond it is
imported when it is used, so that a project that does not use the plugin does not pay
for it. A test holds this module to it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from pathlib import Path

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.answers.scripted_answers import ScriptedAnswers
    from pytest_caesar.conformance.mutations import Mutations
    from pytest_caesar.fake_agent.agent import FakeAgents
    from pytest_caesar.model.scripted_model import ScriptedModel
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.programs.programs import Programs
    from pytest_caesar.recovery.evidence import Recovered
    from pytest_caesar.runs.run import Run
    from pytest_caesar.session.document_clock import Clock
    from pytest_caesar.session.session import CaesarSession
    from pytest_caesar.session.trial_fixture import CaesarTrials
    from pytest_caesar.snapshots.deleted_tests import CollectedModules
    from pytest_caesar.snapshots.fixture import CaesarSnapshot
    from pytest_caesar.workspace.repository import Repository

# --- options, ini keys, marker ---------------------------------------------------------


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Add the options and ini keys."""
    _stay_registered_once(pluginmanager)
    group = parser.getgroup("caesar", "agents under test (pytest-caesar)")
    group.addoption(
        "--caesar-agent",
        action="append",
        dest="caesar_agent",
        metavar="AGENT",
        help="the agent under test: a script, module:function, the name of an agent, or a "
        "command line; may be repeated, tests then run once for each; write it with '='",
    )
    group.addoption(
        "--caesar-runner",
        dest="caesar_runner",
        metavar="NAME",
        help="what runs agents that are definitions: a known CLI, an [[agent]], a script or a "
        "command line; write it with '='",
    )
    group.addoption(
        "--caesar-subprocess",
        action="store_true",
        dest="caesar_subprocess",
        help="run an agent given as module:function in a process of its own",
    )
    group.addoption(
        "--caesar-sandbox",
        dest="caesar_sandbox",
        metavar="NAME",
        help="in what agents run: none, auto (what was proved here), bubblewrap, or one of a "
        "plugin",
    )
    group.addoption(
        "--caesar-pass-env",
        action="append",
        dest="caesar_pass_env",
        metavar="NAME",
        help="let agents see this variable of the environment; may be repeated",
    )
    group.addoption(
        "--caesar-user-config",
        action="store_true",
        dest="caesar_user_config",
        help="read the user's own agents and configuration too",
    )
    group.addoption(
        "--caesar-keep",
        dest="caesar_keep",
        metavar="DIR",
        help="copy the task directory of every run to DIR",
    )
    group.addoption(
        "--caesar-json",
        dest="caesar_json",
        metavar="PATH",
        help="write every run of the session to PATH as JSON",
    )
    group.addoption(
        "--caesar-html",
        dest="caesar_html",
        metavar="PATH",
        help="write a page about the session to PATH: one HTML file that loads nothing",
    )
    group.addoption(
        "--caesar-export",
        dest="caesar_export",
        metavar="DIR",
        help="let plugins that export write the session into DIR; ours are "
        "-p pytest_caesar.exporters.atif and -p pytest_caesar.exporters.otel",
    )
    group.addoption(
        "--caesar-baseline",
        dest="caesar_baseline",
        metavar="PATH",
        help="let the page show what this file of --caesar-json had beside it",
    )
    # Two words of their own, since an optional value would swallow a path that comes after it.
    group.addoption(
        "--caesar-conformance=va",
        action="append_const",
        const="va",
        dest="caesar_conformance",
        help="check them against va-agent-protocol: what they do with task units",
    )
    group.addoption(
        "--caesar-conformance",
        action="append_const",
        const="oacp",
        dest="caesar_conformance",
        help="check the agents under test against the contract; without a path nothing else runs",
    )
    group.addoption(
        "--caesar-conformance-report",
        dest="caesar_conformance_report",
        metavar="PATH",
        help="write what became of each requirement to PATH as JSON",
    )
    group.addoption(
        "--caesar-hostile",
        action="store_true",
        dest="caesar_hostile",
        help="run every delegation in hostile surroundings: GIT_* pointing elsewhere, the C "
        "locale, stdin closed, few open files, odd paths",
    )
    group.addoption(
        "--caesar-definitions",
        action="store_true",
        dest="caesar_definitions",
        help="check agent definitions (.claude/agents/*.md and the like), each as a test; "
        "without a path nothing else runs",
    )
    group.addoption(
        "--caesar-record",
        dest="caesar_record",
        choices=("none", "once", "all", "off"),
        help="play recorded agents back: none never records, once records where there is "
        "nothing yet, all records anew; off lets agents work",
    )
    group.addoption(
        "--caesar-trials",
        type=int,
        dest="caesar_trials",
        metavar="N",
        help="run every test that delegates N times, and show the rate of success; a marker "
        "with trials= keeps its min_rate; 1 repeats nothing",
    )
    group.addoption(
        "--caesar-jobs",
        type=int,
        dest="caesar_jobs",
        metavar="N",
        help="how many delegations of caesar_trials run at once, in the whole session",
    )
    group.addoption(
        "--caesar-max-tokens",
        dest="caesar_max_tokens",
        metavar="N",
        help="start no more delegations once the session has used so many tokens",
    )
    group.addoption(
        "--caesar-max-cost",
        dest="caesar_max_cost",
        metavar="USD",
        help="start no more delegations once the session has cost so many US dollars",
    )
    group.addoption(
        "--caesar-prices",
        dest="caesar_prices",
        metavar="FILE",
        help="prices of tokens, as the JSON that LiteLLM keeps, for agents that do not say what "
        "they cost",
    )
    parser.addini("caesar_max_tokens", "tokens of a whole session", default="")
    parser.addini("caesar_max_cost", "US dollars of a whole session", default="")
    group.addoption(
        "--caesar-executor",
        dest="caesar_executor",
        metavar="EXECUTOR",
        help="where caesar_trials sends its delegations: dask:ADDRESS of a scheduler, or "
        "module:function that returns a concurrent.futures.Executor",
    )
    parser.addini("caesar_agent", "agents under test, one a line", type="linelist", default=[])
    parser.addini("caesar_runner", "what runs agents that are definitions", default="")
    parser.addini(
        "caesar_subprocess",
        "run agents given as module:function in a process of their own",
        type="bool",
        default=False,
    )
    parser.addini("caesar_sandbox", "in what agents run, as --caesar-sandbox", default="")
    parser.addini("caesar_pass_env", "variables that agents may see", type="linelist", default=[])
    parser.addini(
        "caesar_strict", "findings of the harness fail their test", type="bool", default=False
    )
    parser.addini(
        "caesar_allow",
        "codes of findings that never fail a test, one a line",
        type="linelist",
        default=[],
    )
    parser.addini(
        "caesar_junit", "write runs into the JUnit report as properties", type="bool", default=True
    )
    parser.addini(
        "caesar_definitions", "folders of agent definitions, one a line", type="paths", default=[]
    )
    parser.addini(
        "caesar_main_spawns", "agents that the main session may start, as in spawns", default="*"
    )
    parser.addini(
        "caesar_ci", "auto: a summary and annotations in GitHub Actions; off: none", default="auto"
    )
    parser.addini("caesar_record", "as --caesar-record", default="off")
    parser.addini("caesar_jobs", "as --caesar-jobs", default="")
    parser.addini(
        "caesar_shard", "which part of the suite this session runs, such as 2/4", default=""
    )
    parser.addini(
        "caesar_linger", "how long an agent may go on after its report, such as 10s", default=""
    )


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let others implement our hooks."""
    from pytest_caesar import hooks  # noqa: PLC0415 - what is imported at the top is pytest alone

    pluginmanager.add_hookspecs(hooks)


def _stay_registered_once(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let ``-p`` and ``pytest_plugins`` name the module beside the entry point.

    pytest refuses a plugin that comes a second time under another name.
    """
    name = pluginmanager.get_name(sys.modules[__name__])
    for other in ("caesar", __name__):
        if name is not None and other != name and not pluginmanager.has_plugin(other):
            pluginmanager.set_blocked(other)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker; resolve the agents when some are given."""
    config.addinivalue_line(
        "markers",
        "caesar(strict=None, allow=(), record=None, trials=None, min_rate=None, "
        "confidence=None, undecided='fail', stop=True): strict=True makes findings of the "
        "harness fail the test, strict=False does not; allow lists codes that never do; record "
        "is none, once, all or off; trials runs the test so often and judges its rate",
    )
    options = config.option
    if (
        options.caesar_agent
        or options.caesar_json is not None
        or options.caesar_html is not None
        or options.caesar_baseline is not None
        or options.caesar_export is not None
        or options.caesar_keep is not None
        or options.caesar_pass_env
        or options.caesar_conformance
        or options.caesar_hostile
        or options.caesar_conformance_report is not None
        or options.caesar_trials is not None
        or options.caesar_jobs is not None
        or options.caesar_executor is not None
        or _is_set(config)
    ):
        _open(config)
    if options.caesar_conformance or options.caesar_conformance_report is not None:
        from pytest_caesar.conformance.collection import install  # noqa: PLC0415 - only with it

        install(config, _open(config))
    if options.caesar_definitions:
        from pytest_caesar.session.definition_items import (  # noqa: PLC0415 - only with it
            Definitions,
        )

        config.pluginmanager.register(Definitions(config), "caesar-definitions")
    config.pluginmanager.register(_Listener(config), "caesar-listener")


INI = {
    "caesar_agent": [],
    "caesar_pass_env": [],
    "caesar_allow": [],
    "caesar_strict": False,
    "caesar_junit": True,
    "caesar_subprocess": False,
    "caesar_sandbox": "",
    "caesar_record": "off",
    "caesar_ci": "auto",
    "caesar_shard": "",
    "caesar_linger": "",
    "caesar_jobs": "",
}
"""Keys of the ini file that are checked before anything is collected, and their defaults."""


def _is_set(config: pytest.Config) -> bool:
    """Tell whether the ini file says something, be it wrong."""
    try:
        return any(config.getini(key) != default for key, default in INI.items())
    except pytest.UsageError:
        return True


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Refuse a marker that says something wrong where its test is collected; add trials."""
    repeated = metafunc.config.option.caesar_trials is not None
    for mark in metafunc.definition.iter_markers("caesar"):
        from pytest_caesar.settings.marker import (  # noqa: PLC0415 - only with a marker
            problem_of_marker,
        )

        problem = problem_of_marker(mark)
        if problem:
            pytest.fail(f"{metafunc.definition.nodeid}: {problem}", pytrace=False)
        repeated = repeated or mark.kwargs.get("trials") is not None
    if repeated:
        from pytest_caesar.session.trial_items import repeat  # noqa: PLC0415 - only with trials

        repeat(metafunc, _open(metafunc.config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Refuse what cannot be: trials of methods of ``unittest.TestCase``, recording in CI."""
    if getattr(config.option, "update_snapshots", False):
        from pytest_caesar.snapshots.unused import refuse_in_ci  # noqa: PLC0415 - only then

        refuse_in_ci(items)
    unittest = sys.modules.get("unittest.case")
    if unittest is None:
        return
    found = [
        item.nodeid
        for item in items
        if issubclass(getattr(item, "cls", None) or object, unittest.TestCase)
        and any(mark.kwargs.get("trials") for mark in item.iter_markers("caesar"))
    ]
    if found:
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        raise pytest.UsageError(
            f"{', '.join(found[:3])}{more}: a method of unittest.TestCase cannot have trials, "
            "because it takes no parameters; write a function, or a method of a plain class"
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Have the harness keep what it needs before a fixture of the test may fake it: processes."""
    if not {"caesar_repo", "caesar_orchestrator"}.isdisjoint(getattr(item, "fixturenames", ())):
        import pytest_caesar.supervision.reaper  # noqa: PLC0415 - only for tests that delegate
        import pytest_caesar.workspace.git  # noqa: F401, PLC0415 - as above


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Never look for tests in what an orchestrator keeps: worktrees hold copies of them."""
    return True if collection_path.name == ".caesar" else None


def _open(config: pytest.Config) -> CaesarSession:
    from pytest_caesar.session.session import open_session  # noqa: PLC0415 - only when it is used

    new = not config.pluginmanager.has_plugin("caesar-session")
    session = open_session(config)
    if new:
        _add_conformance(session)
    return session


def _add_conformance(session: CaesarSession) -> None:
    """Let the conformance kit add what a session is to tell, or to make, by its options."""
    if session.config.option.caesar_hostile:
        from pytest_caesar.conformance.hostile import install  # noqa: PLC0415 - only with it

        install(session)
    if session.config.get_verbosity() > 0:
        session.annotations.append(_requirements)
        session.summaries.append(_coverage)


def _requirements(run: Run) -> dict[str, object]:
    from pytest_caesar.conformance.contract_coverage import exercised  # noqa: PLC0415 - with -v

    return {"requirements": sorted(exercised(run))}


def _coverage(records: Sequence[Mapping[str, Any]]) -> list[str]:
    from pytest_caesar.conformance.contract_coverage import coverage_lines  # noqa: PLC0415 - with -v

    return coverage_lines(name for told in records for name in told.get("requirements", ()))


class _Listener:
    """Takes up what comes with the reports, also when only the workers use the plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._recorded: dict[Path, bool] = {}
        self._modules: CollectedModules | None = None
        self._gone: set[str] = set()

    def _modules_beside(self, path: Path) -> CollectedModules | None:
        """Return what notes the modules of a folder, where it has snapshots of ours."""
        folder = path.parent
        if folder not in self._recorded:
            self._recorded[folder] = (folder / "__caesar__").is_dir()
        if not self._recorded[folder] or not hasattr(self._config, "_syrupy"):
            return None
        if self._modules is None:
            from pytest_caesar.snapshots.deleted_tests import (  # noqa: PLC0415 - with snapshots
                CollectedModules,
            )

            self._modules = CollectedModules()
        return self._modules

    def pytest_itemcollected(self, item: pytest.Item) -> None:
        """Note which tests there are, so that snapshots of others can be told."""
        modules = self._modules_beside(item.path)
        if modules is not None:
            modules.add(item)

    def pytest_make_collect_report(self, collector: pytest.Collector) -> None:
        """Note a module, which may have no test any more."""
        if isinstance(collector, pytest.Module):
            modules = self._modules_beside(collector.path)
            if modules is not None:
                modules.add_module(collector.path)

    def pytest_exception_interact(self, node: pytest.Item | pytest.Collector) -> None:
        """Note a module that could not be collected."""
        if isinstance(node, pytest.Module) and self._modules is not None:
            self._modules.add_broken(node.path)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take up what a worker of pytest-xdist has found."""
        self._gone.update(getattr(node, "workeroutput", {}).get("caesar_gone", ()))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Show an error of ours where the test called for it, and say why a run failed."""
        if call.excinfo is None or "caesar_agent.errors" not in sys.modules:
            return
        item_state = sys.modules.get("pytest_caesar.session.item_state")
        if item_state is not None and item_state.STATE in item.stash:
            item.stash[item_state.STATE].reword(call.excinfo)
        if not self._config.getoption("fulltrace", default=False):
            from pytest_caesar.reporting.tracebacks import (  # noqa: PLC0415 - only on failure
                without_harness,
            )

            call.excinfo = without_harness(call.excinfo)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Judge the trials that nothing more comes of, before pytest looks for failures."""
        stopped = True
        try:
            result = yield
            stopped = False
        finally:
            session: CaesarSession | None = self._config.pluginmanager.get_plugin("caesar-session")
            if session is not None and session.ledger is not None:
                session.ledger.close(stopped=stopped)
        return result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Open the session when only workers compared with snapshots: it names unused ones."""
        report = getattr(getattr(self._config, "_syrupy", None), "report", None)
        ignored = getattr(report, "disable_unused_snapshots", False)  # syrupy 5 lacks it
        if report is not None and not ignored and report.num_unused:
            _open(self._config)
        if self._modules is not None:
            self._gone.update(self._modules.files_of_gone_tests(self._config))
        if self._gone and hasattr(self._config, "workeroutput"):
            self._config.workeroutput["caesar_gone"] = sorted(self._gone)
        elif self._gone:
            _open(self._config).tell_gone_snapshots(self._gone)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Open the session when the first run arrives."""
        session: CaesarSession | None = self._config.pluginmanager.get_plugin("caesar-session")
        if session is None and (
            getattr(report, "caesar_runs", None)
            or hasattr(report, "caesar_trial")
            or hasattr(report, "caesar_kept")
        ):
            session = _open(self._config)
        if session is not None:
            session.take(report)


def _delegates(item: pytest.Item) -> bool:
    names = getattr(item, "fixturenames", ())
    return "caesar_orchestrator" in names or "caesar_trials" in names


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> None:
    """Note when pytest-timeout will end a test that delegates; it still does its work."""
    if _delegates(item):
        from pytest_caesar.session import item_deadline  # noqa: PLC0415 - only for tests that delegate

        item_deadline.pytest_timeout_set_timer(item, settings)


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_timeout_cancel_timer(item: pytest.Item) -> None:
    """Forget it again."""
    if _delegates(item):
        from pytest_caesar.session import item_deadline  # noqa: PLC0415 - as above

        item_deadline.pytest_timeout_cancel_timer(item)


def pytest_enter_pdb() -> None:
    """Give the terminal to a breakpoint in an agent that runs in this process."""
    in_process = sys.modules.get("pytest_caesar.orchestrator.in_process.function_run")
    if in_process is not None:
        in_process.enter_debugger()


def pytest_leave_pdb() -> None:
    """Take it back."""
    in_process = sys.modules.get("pytest_caesar.orchestrator.in_process.function_run")
    if in_process is not None:
        in_process.leave_debugger()


# --- fixtures --------------------------------------------------------------------------


@pytest.fixture
def caesar_repo(request: pytest.FixtureRequest, tmp_path: Path) -> Repository:
    """Make a temporary git repository: ``commit({...})``, ``path``, ``head``, ``git(...)``."""
    from pytest_caesar.workspace.repository import Repository  # noqa: PLC0415 - see above

    if request.config.getoption("caesar_hostile"):
        from pytest_caesar.conformance.hostile import PLACE  # noqa: PLC0415 - only with it

        return Repository.create(tmp_path / PLACE / "a repo")
    return Repository.create(tmp_path / "caesar" / "repo")


@pytest.fixture
def caesar_agent_under_test(request: pytest.FixtureRequest) -> AgentTarget:
    """Return the agent that ``--caesar-agent`` or the ini key ``caesar_agent`` selected."""
    return _open(request.config).agent_for(request)


@pytest.fixture
def caesar_orchestrator(
    request: pytest.FixtureRequest,
    caesar_repo: Repository,
    caesar_agent_under_test: AgentTarget,
) -> Orchestrator:
    """Delegate tasks to the agent under test, on ``caesar_repo``: ``delegate(objective, ...)``."""
    from pytest_caesar.session.fixtures import make_orchestrator  # noqa: PLC0415 - see above

    session = _open(request.config)
    return make_orchestrator(
        session, request, project=caesar_repo.path, agent=caesar_agent_under_test
    )


@pytest.fixture
def _caesar_trial(request: pytest.FixtureRequest) -> int:
    """Return which trial of its test this is."""
    number: int = request.param
    return number


@pytest.fixture
def caesar_trials(
    request: pytest.FixtureRequest,
    caesar_repo: Repository,
    caesar_agent_under_test: AgentTarget,
) -> CaesarTrials:
    """Delegate one task many times, some at once: ``caesar_trials(objective, n=20).rate(...)``."""
    from pytest_caesar.session.trial_fixture import CaesarTrials  # noqa: PLC0415 - see above

    session = _open(request.config)
    return CaesarTrials(session, request, repository=caesar_repo, agent=caesar_agent_under_test)


@pytest.fixture
def caesar_answers(request: pytest.FixtureRequest) -> ScriptedAnswers:
    """Answer an agent that asks: ``on(question, answer)``; using it opens the return channel."""
    from pytest_caesar.session.fixtures import make_answers  # noqa: PLC0415 - see above

    return make_answers(_open(request.config), request)


@pytest.fixture
def caesar_model(request: pytest.FixtureRequest) -> Iterator[ScriptedModel]:
    """Be the model that a coding CLI talks to: ``shell(...)``, ``write(...)``, ``report(...)``."""
    from pytest_caesar.session.fixtures import make_model  # noqa: PLC0415 - see above

    with make_model(_open(request.config), request) as model:
        yield model


@pytest.fixture
def caesar_programs(request: pytest.FixtureRequest) -> Programs:
    """Fake or watch programs on the agent's PATH: ``fake("gh", stdout=...)``, ``watch("npm")``."""
    from pytest_caesar.session.fixtures import make_programs  # noqa: PLC0415 - see above

    return make_programs(_open(request.config), request)


@pytest.fixture
def caesar_fake_agent(request: pytest.FixtureRequest, tmp_path: Path) -> FakeAgents:
    """Make agents from a short script of behaviours; see ``pytest_caesar.fake_agent.agent``."""
    from pytest_caesar.fake_agent.agent import FakeAgents  # noqa: PLC0415 - see above

    return FakeAgents(tmp_path / "caesar" / "agents", salt=request.node.nodeid)


@pytest.fixture
def caesar_mutations() -> Mutations:
    """Tell lies of a run, to see whether assertions notice: ``unnoticed(run, check)``."""
    from pytest_caesar.conformance.mutations import Mutations  # noqa: PLC0415 - see above

    return Mutations()


@pytest.fixture
def caesar_clock() -> Clock:
    """Decide what time the documents of a run tell: ``set(...)``, ``tick(...)``."""
    from pytest_caesar.session.document_clock import Clock  # noqa: PLC0415 - see above

    return Clock()


@pytest.fixture
def caesar_recover(request: pytest.FixtureRequest) -> Callable[..., Recovered]:
    """Recover a report from what is kept of a run: log, files, exit code, diff."""
    from pytest_caesar.session.kept_logs import recover_into  # noqa: PLC0415 - see above

    return recover_into(_open(request.config).state_of(request.node).kept)


@pytest.fixture
def caesar_snapshot_rules() -> tuple[tuple[str, str], ...]:
    """Return rules of your own for what varies: pairs of pattern and replacement."""
    return ()


@pytest.fixture
def caesar_snapshot(
    request: pytest.FixtureRequest, caesar_snapshot_rules: tuple[tuple[str, str], ...]
) -> CaesarSnapshot:
    """Compare runs, reports, patches and events with what was recorded in ``__caesar__``."""
    from pytest_caesar.session.fixtures import make_snapshot  # noqa: PLC0415 - see above

    return make_snapshot(_open(request.config), request, caesar_snapshot_rules)
