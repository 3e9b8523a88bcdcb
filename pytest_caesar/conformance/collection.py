"""The checks as items of the virtual module ``caesar-conformance``."""

from __future__ import annotations

import itertools
import re
from collections.abc import Generator, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.conformance.items import CheckItem, Module, Shared
from pytest_caesar.conformance.judging import CHECKS, scenario_for
from pytest_caesar.conformance.known_failures import BASELINE_NAME, load_known_failures
from pytest_caesar.conformance.profile import PROFILE_NAME, load_profile
from pytest_caesar.conformance.requirements import (
    AREAS,
    EVERY,
    LEVELS,
    TITLES,
    VA_AREA,
    Requirement,
    of_contract,
)
from pytest_caesar.conformance.result import Result, completed, with_variation
from pytest_caesar.conformance.result_file import as_capped, as_json, write_report
from pytest_caesar.conformance.scenario_cache import ScenarioCache
from pytest_caesar.conformance.scenario_run import ScenarioRun
from pytest_caesar.conformance.scenarios import SCENARIOS
from pytest_caesar.conformance.verdict_lines import verdict_lines
from pytest_caesar.session import item_deadline
from pytest_caesar.session.records import junit_property, keep, record
from pytest_caesar.settings.settings import how_to_give_an_agent, orchestrator_settings

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from pytest_caesar.agents.target import AgentTarget
    from pytest_caesar.session.session import CaesarSession

MODULE = "caesar-conformance"
"""Name of the module that the items belong to; there is no such file."""

MARKS = (
    *LEVELS,
    *(area.lower() for area in (*AREAS, VA_AREA)),
    *("mandatory", "conditional", "advisory"),
)
"""Marks that the items bear, for ``-m``."""


def install(config: pytest.Config, session: CaesarSession) -> None:
    """Make the kit part of this session.

    Raises:
        pytest.UsageError: no agent is given, or a file of the kit is wrong.
    """
    if not session.agents:
        raise pytest.UsageError(f"--caesar-conformance needs an agent: {how_to_give_an_agent()}")
    kit = Conformance(config, session)
    session.document_parts["conformance"] = kit.document
    config.pluginmanager.register(kit, "caesar-conformance")


def _nearest(config: pytest.Config, name: str) -> Path:
    """Return the nearest folder that holds a file, from where pytest was started to rootdir."""
    start = config.invocation_params.dir
    for folder in (start, *start.parents):
        if (folder / name).exists():
            return folder
        if folder == config.rootpath:
            break
    return config.rootpath


class Conformance:
    """The kit within one session: its items, and what became of them."""

    def __init__(self, config: pytest.Config, session: CaesarSession) -> None:
        self.config = config
        self.session = session
        self.results: dict[tuple[str, str], Result] = {}
        asked = config.option.caesar_conformance or ()
        self.contracts = [name for name in TITLES if name in asked] or ["oacp"]
        self.caches: list[ScenarioCache] = []
        self.wanted = self._take_arguments()
        try:
            self.profile = load_profile(_nearest(config, PROFILE_NAME))
            known_failures = load_known_failures(_nearest(config, BASELINE_NAME))
        except CaesarError as error:
            raise pytest.UsageError(str(error)) from error
        self.shared = Shared(known_failures=known_failures, is_worker=session.is_worker)
        for mark in MARKS:
            config.addinivalue_line("markers", f"{mark}: requirements of the conformance kit")

    def _take_arguments(self) -> frozenset[str]:
        """Take ids of our items out of the arguments; without a path only the kit runs."""
        config = self.config
        own = [arg for arg in config.args if arg.partition("::")[0] == MODULE]
        others = [arg for arg in config.args if arg not in own]
        only = list(getattr(config.option, "caesar_conformance_items", ()))
        if own:
            # Workers get the options of the controller, and not what was taken from its arguments.
            config.option.caesar_conformance_items = only = own
        given = config.args_source is pytest.Config.ArgsSource.ARGS
        config.args[:] = others if given else []
        return frozenset(arg.partition("::")[2] for arg in only)

    def document(self) -> dict[str, Any] | None:
        """Return the results for the document of the session: without transcripts."""
        if not self.results:
            return None
        value = as_json(list(self.results.values()), self.session.agents)
        for agent in value["agents"]:
            for entry in agent["requirements"]:
                entry.pop("transcript", None)
        return value

    # -- collection

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add our items, so that every way to select items holds for them too."""
        module = Module.from_parent(session, name=MODULE, nodeid=MODULE)
        several = len(self.session.agents) > 1
        found: list[pytest.Item | pytest.Collector] = []
        for agent, contract in self._judged():
            cache = self._cache(agent, contract)
            self.caches.append(cache)
            for requirement in self._ordered(contract):
                name = f"{requirement.id}[{agent.id}]" if several else requirement.id
                if self._is_wanted(requirement.id, name):
                    found.append(
                        CheckItem.from_parent(
                            module,
                            name=name,
                            requirement=requirement,
                            cache=cache,
                            shared=self.shared,
                        )
                    )
        unknown = self.wanted - {item.name for item in found} - EVERY.keys() - {""}
        if unknown:
            raise pytest.UsageError(
                f"{MODULE} has no {', '.join(sorted(unknown))}: expected an id such as REPORT-003"
            )
        report = pytest.CollectReport(MODULE, "passed", None, result=found)
        session.ihook.pytest_collectreport(report=report)  # so that they are counted
        items.extend(item for item in found if isinstance(item, CheckItem))

    def _is_wanted(self, requirement: str, name: str) -> bool:
        return not self.wanted or bool({"", requirement, name} & self.wanted)

    def _judged(self) -> Iterable[tuple[AgentTarget, str]]:
        return itertools.product(self.session.agents, self.contracts)

    def _ordered(self, contract: str) -> Iterable[Requirement]:
        """Return the requirements; on a worker those that share a scenario beside each other."""
        order = list(SCENARIOS)

        def place(one: Requirement) -> tuple[bool, int]:
            check = CHECKS[one.id]
            return check.last, order.index(check.scenario) if self.session.is_worker else 0

        return sorted(of_contract(contract).values(), key=place)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Let agents work ahead of the checks that were selected, where no other worker does."""
        if self.session.is_worker:
            return
        for item in session.items:
            if isinstance(item, CheckItem):
                scenario = scenario_for(item.requirement, item.cache)
                if isinstance(scenario, str) and scenario != item.cache.base:
                    item.cache.ahead = dict.fromkeys((*item.cache.ahead, scenario))

    def pytest_unconfigure(self) -> None:
        """End what still goes on, as after an interruption."""
        for cache in self.caches:
            cache.close()

    def _cache(self, agent: AgentTarget, contract: str) -> ScenarioCache:
        settings = self.session.settings
        factory: pytest.TempPathFactory = self.config._tmp_path_factory  # type: ignore[attr-defined] # noqa: SLF001 - items have no fixtures
        name = re.sub(r"\W+", "-", f"conformance-{agent.id}")[:40]
        return ScenarioCache(
            agent=agent,
            base="unit" if contract == "va" else "plain",
            profile=self.profile,
            folder=lambda: factory.mktemp(name),
            settings=orchestrator_settings(settings, seconds_left=item_deadline.seconds_left),
        )

    # -- time

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> None:
        """Note when pytest-timeout will end a check; it still does its work."""
        if isinstance(item, CheckItem):
            item_deadline.pytest_timeout_set_timer(item, settings)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_cancel_timer(self, item: pytest.Item) -> None:
        """Forget it again."""
        if isinstance(item, CheckItem):
            item_deadline.pytest_timeout_cancel_timer(item)

    # -- results

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send what became of a check along with the report on its item."""
        report = yield
        if isinstance(item, CheckItem) and report.when == "setup":
            _hand_on(self.session, item, report, item.cache.new_runs())
        if isinstance(item, CheckItem) and (
            report.when == "call" or (report.when == "setup" and report.outcome != "passed")
        ):
            message = str(call.excinfo.value) if call.excinfo else ""
            result = item.result(message, skipped=report.skipped)
            if report.skipped and isinstance(report.longrepr, tuple):
                # Not where in our code: so that -rs gives a reason that several share once.
                report.longrepr = (MODULE, None, report.longrepr[2])  # type: ignore[assignment]
            report.caesar_conformance = asdict(result)  # type: ignore[attr-defined]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take up a result, also from another worker."""
        found = getattr(report, "caesar_conformance", None)
        if found is not None:
            result = Result(**found)
            self.results[result.id, result.agent] = result

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say of agents that vary that they do, and write ``--caesar-conformance-report``."""
        if self.session.is_worker:
            return
        for agent in self.session.agents:
            own = [result for result in self.results.values() if result.agent == agent.id]
            for before, result in zip(own, with_variation(own), strict=True):
                if result is not before:
                    self.results[result.id, result.agent] = result
                    session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        path = self.session.settings.conformance_report
        if path is None:
            return
        try:
            write_report(path, list(self.results.values()), self.session.agents)
        except OSError as error:
            self.session.problems.append(f"--caesar-conformance-report was not written: {error}")
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Show a table and a verdict for each agent."""
        if self.session.is_worker or not self.results:
            return
        terminalreporter.write_sep("-", "caesar conformance")
        for agent, contract in self._judged():
            if len(self.session.agents) > 1:
                terminalreporter.write_line(agent.id, bold=True)
            own = completed(list(self.results.values()), agent.id, contract)
            known = self.shared.known_failures
            for line, bold in verdict_lines(own, profile=self.profile, known=known):
                terminalreporter.write_line(line, bold=bold)


def _hand_on(
    session: CaesarSession,
    item: pytest.Item,
    report: pytest.TestReport,
    seen: Iterable[ScenarioRun],
) -> None:
    """Hand on the runs of scenarios as of those of a test, with the check that asked for them first.

    Args:
        session: what it is asked for.
        item: the check.
        report: the report on the item, which takes the records along.
        seen: what was carried out for it.
    """
    settings = session.settings
    runs = [(one.scenario, run) for one in seen for run in (*one.earlier, one.run)]
    if settings.keep is not None:
        session.problems += keep((run for _, run in runs), settings.keep, report)
    if settings.whole_runs:
        report.caesar_runs = [  # type: ignore[attr-defined]
            as_capped(
                {**record(run, number=number, report=report, whole=True), "scenario": scenario}
            )
            for number, (scenario, run) in enumerate(runs, 1)
        ]
    if settings.junit and item.config.getoption("xmlpath", None):
        item.user_properties.extend(junit_property(run) for _, top in runs for run in top.tree)
