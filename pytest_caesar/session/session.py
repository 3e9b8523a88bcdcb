"""What a test session accumulates about agents, and the hooks that need it."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.outcomes import Failed

from pytest_caesar.session.item_state import STATE, TestState
from pytest_caesar.session.plugin_hooks import PluginHooks
from pytest_caesar.settings.settings import (
    REPEATED,
    from_environment,
    how_to_give_an_agent,
    read_settings,
    refuse_separate_paths,
    select_agents,
)
from pytest_caesar.settings.trial_parameter import trial_number
from pytest_caesar.snapshots.executed_tests import EXECUTED, ExecutedTests

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from _pytest.terminal import TerminalReporter

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.orchestrator.orchestrator import Orchestrator
    from pytest_caesar.runs.prices import Prices
    from pytest_caesar.runs.run import Run
    from pytest_caesar.session.results import SessionResults
    from pytest_caesar.session.spending import Spending
    from pytest_caesar.session.trial_ledger import TrialLedger

SPENDING = "caesar_spending"
"""Under which a worker is told the file with what the session has spent."""

UNDER_TEST = "caesar_agent_under_test"

NAME = "caesar-session"
"""What the session is called among pytest's plugins."""


def open_session(config: pytest.Config) -> CaesarSession:
    """Return the session of this run, made and registered at the first call.

    Raises:
        pytest.UsageError: an option is wrong, or an agent cannot be selected.
    """
    session: CaesarSession | None = config.pluginmanager.get_plugin(NAME)
    if session is None:
        session = CaesarSession(config)
        config.pluginmanager.register(session, NAME)
    return session


class NoAgentError(Failed):
    """A test needs an agent, and none was given."""

    __module__ = "pytest_caesar"

    def __init__(self) -> None:
        super().__init__(
            f"this test needs an agent under test: {how_to_give_an_agent()}", pytrace=False
        )


class NoAgent:
    """Stands for the agent under test where none was given; cannot be used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoAgentError


class CaesarSession:
    """The agents of a session and every run; registered once something is used.

    Attributes:
        header_lines: told at the head of the session, beside the agents.
        orchestrator_type: makes the orchestrator of a test in the place of ``Orchestrator``; it
            takes the folder of the test as ``tmp_path`` too.
        annotations: each gives fields that the record of a run has beside its own.
        summaries: each gives lines for the end of the session, from the records of all runs.
        document_parts: what ``--caesar-json`` has beside the runs: names, and what gives the
            values at the end; None for nothing.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.is_worker = hasattr(config, "workerinput")
        if not self.is_worker:
            arguments = (*from_environment(), *config.invocation_params.args)
            refuse_separate_paths(arguments, config.invocation_params.dir)
        self.settings = read_settings(config)
        self.problems: list[str] = []
        self.hooks = PluginHooks(config.pluginmanager, self.problems)
        self.agents: tuple[AgentTarget, ...] = self._selected()
        self.records: list[dict[str, Any]] = []
        self.header_lines: list[str] = []
        self.orchestrator_type: Callable[..., Orchestrator] | None = None
        self.annotations: list[Callable[[Run], Mapping[str, object]]] = []
        self.summaries: list[Callable[[Sequence[Mapping[str, Any]]], Iterable[str]]] = []
        self.document_parts: dict[str, Callable[[], Any]] = {}
        self.results: SessionResults | None = None
        self.spending = self._spending()
        self.prices = self.hooks.with_prices(self._prices())
        self._github: list[str] = []
        self.ledger: TrialLedger | None = None
        self._executions: dict[str, int] = {}
        self._kept_snapshots: list[str] = []
        self._gone_snapshots: list[str] = []
        self._executed = config.stash[EXECUTED] = ExecutedTests()
        self._current: TestState | None = None
        self._item: pytest.Item | None = None
        if self.settings.whole_runs:
            from pytest_caesar.session.results import SessionResults  # noqa: PLC0415 - only then

            self.results = SessionResults(config, self.settings, self.agents, self._agent_of)
            config.pluginmanager.register(self.results.recorder, "caesar-recorder")

    def _selected(self) -> tuple[AgentTarget, ...]:
        """Select the agents under test; where they cannot be, plugins have added nothing."""
        try:
            return select_agents(self.settings) if self.settings.agents else ()
        except BaseException:
            self.hooks.close()
            raise

    def _spending(self) -> Spending | None:
        """Return the account of what the session spends, one for all workers; None without bounds."""
        settings = self.settings
        if settings.max_tokens is None and settings.max_cost is None:
            return None
        from pytest_caesar.runs.budget import Limits  # noqa: PLC0415 - seldom needed
        from pytest_caesar.session.spending import Spending  # noqa: PLC0415 - seldom needed

        limits = Limits(max_tokens=settings.max_tokens, max_cost_usd=settings.max_cost)
        path = getattr(self.config, "workerinput", {}).get(SPENDING)
        return Spending.create(limits) if path is None else Spending(Path(path), limits)

    def _prices(self) -> Prices | None:
        path = self.settings.prices
        if path is None:
            return None
        from pytest_caesar.runs.prices import (  # noqa: PLC0415 - seldom needed
            PricesError,
            read_prices,
        )

        try:
            return read_prices(path)
        except PricesError as error:
            raise pytest.UsageError(f"--caesar-prices: {error}") from error

    # --- agents under test -------------------------------------------------------------

    def agent_for(self, request: pytest.FixtureRequest) -> AgentTarget:
        """Return the agent under test for one request.

        Raises:
            NoAgentError: none was given, and the test itself asks for it.
        """
        if hasattr(request, "param"):
            index: int = request.param
            return self.agents[index]
        if len(self.agents) == 1:
            return self.agents[0]
        if self.agents:
            names = ", ".join(agent.id for agent in self.agents)
            many = f"{len(self.agents)} agents are under test ({names}), and this test"
            if "unittest" in sys.modules and _is_of_unittest(request.node):
                problem = (
                    f"{many} is a method of unittest.TestCase, which pytest runs once alone: "
                    "select one agent, or write it as a function or in a class of its own kind"
                )
            else:
                problem = (
                    f"{many} does not say which: it overrides {UNDER_TEST}, or asks for it with "
                    "getfixturevalue; name the fixture as an argument of the test, or select one "
                    "agent"
                )
            pytest.fail(problem, pytrace=False)
        function = getattr(request.node, "function", None)
        if function is not None and UNDER_TEST in inspect.signature(function).parameters:
            raise NoAgentError
        return NoAgent()  # type: ignore[return-value]

    def _agent_of(self, item: pytest.Item) -> str | None:
        """Return the id of the agent under test of a test, or None where it has none."""
        if UNDER_TEST not in getattr(item, "fixturenames", ()):
            return None
        index = getattr(getattr(item, "callspec", None), "params", {}).get(UNDER_TEST, 0)
        known = isinstance(index, int) and index < len(self.agents)
        return self.agents[index].id if known else None

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run tests once for each agent, when there are two or more."""
        if len(self.agents) < 2 or UNDER_TEST not in metafunc.fixturenames:
            return
        definitions = metafunc._arg2fixturedefs.get(UNDER_TEST, ())  # noqa: SLF001 - no public way
        if definitions and definitions[-1].func.__module__ != "pytest_caesar.plugin":
            return
        for mark in metafunc.definition.iter_markers("parametrize"):
            names = mark.args[0] if mark.args else mark.kwargs.get("argnames", "")
            if UNDER_TEST in (names.split(",") if isinstance(names, str) else names):
                return
        metafunc.parametrize(
            UNDER_TEST,
            range(len(self.agents)),
            ids=[agent.id for agent in self.agents],
            indirect=True,
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of pytest-xdist what stood on the command line."""
        node.workerinput[REPEATED] = list(self.settings.repeated)
        if self.spending is not None:
            node.workerinput[SPENDING] = str(self.spending.path)

    def pytest_report_header(self) -> list[str]:
        """Name the agents under test, and say when they are treated badly."""
        lines = []
        if self.agents:
            from pytest_caesar.reporting.summary import (  # noqa: PLC0415 - only with agents
                header_line,
            )

            lines.append(header_line(self.agents))
        return [*lines, *self.header_lines]

    def open_ledger(self) -> TrialLedger:
        """Return what takes up trials, made at the first call."""
        if self.ledger is None:
            from pytest_caesar.session.trial_ledger import (  # noqa: PLC0415 - only with trials
                TrialLedger,
            )

            self.ledger = TrialLedger(self.config)
            self.document_parts["trials"] = self.ledger.as_json
        return self.ledger

    # --- one test ----------------------------------------------------------------------

    def state_of(self, item: pytest.Item) -> TestState:
        """Return what the current execution of a test has used; new at each set-up."""
        state = item.stash.get(STATE, None)
        if state is None:
            state = self._current = item.stash[STATE] = TestState()
            self._item = item
        return state

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Forget what an earlier execution of the same test used."""
        if STATE in item.stash:
            del item.stash[STATE]
        self._executed.discard(item)
        item.user_properties[:] = [pair for pair in item.user_properties if pair[0] != "caesar.run"]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Turn findings about a test's runs into its failure."""
        self._current = item.stash.get(STATE, None)
        try:
            result = yield
        finally:
            self._finish(item)
        state = item.stash.get(STATE, None)
        if state is not None and (state.runs or state.judges):
            from pytest_caesar.session.verdicts import verdict  # noqa: PLC0415 - only with runs

            problems = [verdict(item, state.runs, self.settings)]
            problems += [judge() for judge in state.judges]
            found = [problem for problem in problems if problem]
            if found:
                state.raised = True
                pytest.fail("\n\n".join(found), pytrace=False)
        return result

    def _finish(self, item: pytest.Item) -> None:
        """Cancel what a test has started and not waited for, so that its report tells of it."""
        state = item.stash.get(STATE, None)
        for orchestrator in state.orchestrators if state is not None else ():
            orchestrator.finish()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Put what is known about a test's runs into its report."""
        report = yield
        if report.when == "call" and report.outcome == "passed":
            self._executed.add(item)
        elif report.when == "call":
            self._executed.discard(item)  # a subtest had passed before
            kept = self._executed.keep_recorded(item)
            if kept:
                report.caesar_kept = kept  # type: ignore[attr-defined]
        state = item.stash.get(STATE, None)
        if state is not None:
            if state.rates:
                report.caesar_rates, state.rates = state.rates, []  # type: ignore[attr-defined]
            self._send(item, state, report)
            if report.failed:
                state.describe(report)
            if report.when == "teardown":
                self._current = None
                del item.stash[STATE]  # items live as long as the session, runs are large
        return report

    def pytest_keyboard_interrupt(self) -> None:
        """Count the runs of the test that was broken off: no report comes that would bring them."""
        if self._item is None or STATE not in self._item.stash:
            return
        item = self._item
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", None, "call")
        self._send(item, item.stash[STATE], report)
        if not self.is_worker:
            self.take(report)

    def _send(self, item: pytest.Item, state: TestState, report: pytest.TestReport) -> None:
        new = state.runs[state.sent :]
        if not new:
            return
        from pytest_caesar.session.records import (  # noqa: PLC0415 - as above
            junit_property,
            keep,
            record,
        )

        if self.settings.keep is not None:
            self.problems += keep(new, self.settings.keep, report)
        report.caesar_runs = [  # type: ignore[attr-defined]
            record(
                run,
                number=state.sent + index,
                report=report,
                whole=self.settings.whole_runs,
                trial=trial_number(item),
            )
            for index, run in enumerate(new, 1)
        ]
        for annotate in self.annotations:
            for run, told in zip(new, report.caesar_runs, strict=True):
                told.update(annotate(run))
        if self.settings.junit and self.config.getoption("xmlpath", None):
            item.user_properties.extend(junit_property(run) for top in new for run in top.tree)
        state.sent += len(new)

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> list[str] | None:
        """Explain comparisons of runs, reports, statuses, sources and snapshots."""
        from pytest_caesar.reporting.explanations.comparison import (  # noqa: PLC0415 - only on failure
            explain,
        )

        state = self._current
        if state is None:
            return explain(op, left, right, runs=[])
        lines = explain(op, left, right, runs=state.runs, kept=state.kept)
        if lines:
            state.headlines.append(lines[0])
        return lines

    # --- the whole session -------------------------------------------------------------

    def take(self, report: pytest.TestReport) -> None:
        """Take up the runs and the outcome that a report brings; also from another worker."""
        if report.when == "setup":
            # Another plugin may execute a test again: its runs and its outcome are its own.
            self._executions[report.nodeid] = self._executions.get(report.nodeid, 0) + 1
        if getattr(report, "caesar_kept", 0):
            self._kept_snapshots.append(report.nodeid)
        execution = self._executions.get(report.nodeid, 1)
        runs = getattr(report, "caesar_runs", ())
        self.records.extend({**item, "execution": execution} for item in runs)
        if self.results is not None:
            self.results.recorder.take(report)
        if self.is_worker:
            return
        if hasattr(report, "caesar_trial"):
            self.open_ledger().take(report)
        if hasattr(report, "caesar_rates"):
            self.open_ledger().note(report.caesar_rates)

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Refuse a plugin that comes too late for what it adds."""
        self.hooks.refuse_late(plugin)

    def pytest_unconfigure(self) -> None:
        """End the process that watches over agents, if one was started."""
        self.hooks.close()
        reaper = sys.modules.get("pytest_caesar.supervision.reaper")
        if reaper is not None:
            reaper.close()
        if self.spending is not None and not self.is_worker:
            self.spending.remove()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write what was asked for of the whole session."""
        if self.is_worker or self.results is None:
            return
        document = self.results.document(
            self.records, exit_status=int(exitstatus), parts=self.document_parts
        )
        problems = self.results.write(document)
        if self.settings.export is not None:
            problems += self.hooks.export(document, self.settings.export)
        if problems:
            self.problems += problems
            session.exitstatus = exitstatus or pytest.ExitCode.TESTS_FAILED
        if self.settings.ci and (self.records or self.agents):
            self._github = self.results.tell_github(document)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter, exitstatus: int) -> None:
        """Count the runs, and say what to do when nothing was collected."""
        if self.is_worker:
            return
        from caesar_agent.console import one_line  # noqa: PLC0415 - once
        from pytest_caesar.reporting.summary import (  # noqa: PLC0415 - once
            nothing_collected,
            summary_lines,
        )

        # Those of the conformance kit have a table of their own.
        own = [told for told in self.records if "scenario" not in told]
        lines = summary_lines(own)
        if own:
            lines += [line for summarise in self.summaries for line in summarise(own)]
        lines += self.ledger.lines() if self.ledger is not None else []
        nothing = exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED
        if nothing and self.agents and not terminalreporter.stats.get("deselected"):
            lines = nothing_collected(
                self.settings.agents, conformance=hasattr(self.config.option, "caesar_conformance")
            )
        if self.settings.json_path is not None and self.settings.json_path.is_file():
            lines.append(f"every run: {self._shown(self.settings.json_path)}")
        if self.settings.html_path is not None and self.settings.html_path.is_file():
            lines.append(f"the page: {self._shown(self.settings.html_path)}")
        lines += self._snapshot_lines()
        lines += [f"problem: {one_line(problem, limit=400)}" for problem in self.problems]
        if lines:
            terminalreporter.write_sep("-", "caesar")
            for line in lines:
                terminalreporter.write_line(line)
        self._write_github(terminalreporter)

    def _snapshot_lines(self) -> list[str]:
        """Tell of snapshots that nothing compares with, and of those that were left alone."""
        lines: list[str] = []
        if getattr(self.config, "_syrupy", None) is not None:
            from pytest_caesar.snapshots.unused import unused_lines  # noqa: PLC0415 - with snapshots

            lines += unused_lines(self.config)
        if self._gone_snapshots:
            from pytest_caesar.snapshots.deleted_tests import gone_lines  # noqa: PLC0415 - seldom

            lines += gone_lines(self.config, self._gone_snapshots)
        if self._kept_snapshots:
            from pytest_caesar.snapshots.unused import kept_lines  # noqa: PLC0415 - seldom

            lines += kept_lines(self._kept_snapshots)
        return lines

    def tell_gone_snapshots(self, files: Iterable[str]) -> None:
        """Tell of snapshots whose tests are gone, or delete them with ``--snapshot-update``."""
        self._gone_snapshots = sorted(files)
        if self.config.option.update_snapshots:
            from pytest_caesar.snapshots.deleted_tests import remove_files  # noqa: PLC0415 - as above

            self._gone_snapshots = remove_files(self._gone_snapshots)

    def _write_github(self, terminalreporter: TerminalReporter) -> None:
        for command in self._github:
            terminalreporter.ensure_newline()
            terminalreporter.write_line(command)

    def _shown(self, path: Path) -> str:
        start = self.config.invocation_params.dir
        return str(path.relative_to(start) if path.is_relative_to(start) else path)


def _is_of_unittest(node: object) -> bool:
    """Tell whether a test is a method of unittest, which takes no parameters."""
    kind = getattr(node, "cls", None)
    return isinstance(kind, type) and issubclass(kind, sys.modules["unittest"].TestCase)
