"""Which sandbox is taken, and how it is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest

from pytest_caesar.sandboxes import choice
from pytest_caesar.sandboxes.bubblewrap import Bubblewrap
from pytest_caesar.sandboxes.choice import chosen, proof_of
from pytest_caesar.sandboxes.invariants import INVARIANTS
from pytest_caesar.sandboxes.sandbox import Sandbox, SandboxError, View


class Open(Sandbox):
    """Holds nothing."""

    name = "open"

    def version(self) -> str:
        return "1"

    def command(self, view: View) -> Sequence[str]:
        assert view.temporary.is_dir()
        return ("/usr/bin/env",)


class Broken(Open):
    name = "broken"

    def command(self, view: View) -> Sequence[str]:
        return ("/bin/false",)


@pytest.fixture(autouse=True)
def _proofs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(choice, "_proofs", {})
    offered = dict(choice.SANDBOXES)
    yield
    choice.SANDBOXES.clear()
    choice.SANDBOXES.update(offered)


def offer(*sandboxes: Sandbox) -> None:
    choice.SANDBOXES.clear()
    choice.SANDBOXES.update({sandbox.name: sandbox for sandbox in sandboxes})


def test_none_is_none() -> None:
    assert chosen("none") == (None, [])


def test_a_name_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(
        SandboxError, match=r"'bubblewrapp' cannot be used.*did you mean.*auto, bub"
    ):
        chosen("bubblewrapp")


def test_bubblewrap_holds_everything_where_it_works(bubblewrap: str) -> None:
    proof, remarks = chosen(bubblewrap)
    assert proof is not None
    assert proof.held == tuple(INVARIANTS)
    assert remarks == []
    assert chosen("auto")[0] is proof


def test_what_does_not_hold_is_named_and_refused() -> None:
    offer(Open())
    with pytest.raises(SandboxError) as refused:
        chosen("open")
    for name in INVARIANTS:
        if name not in ("hidden", "remount"):  # of no use to tell apart as root and as not
            assert name in str(refused.value) or name in ("namespaces", "ipv6", "dns")
    assert "could be written" in str(refused.value)


def test_auto_goes_on_with_the_best_and_says_what_does_not_hold() -> None:
    offer(Broken(), Open())
    proof, (remark,) = chosen("auto")
    assert proof is not None
    assert proof.sandbox.name == "open"
    assert remark.code == "sandbox-weak"
    assert "signals" in remark.message


def test_auto_goes_on_without_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(Bubblewrap())
    monkeypatch.setenv("PATH", "/nowhere")
    proof, (remark,) = chosen("auto")
    assert proof is None
    assert remark.code == "sandbox-weak"
    assert "bwrap is not on PATH" in remark.message
    with pytest.raises(SandboxError, match="apt-get install bubblewrap"):
        chosen("bubblewrap")


def test_a_sandbox_in_which_nothing_runs_is_told_with_what_it_said() -> None:
    offer(Broken())
    with pytest.raises(SandboxError, match=r"its probe gave no answer.*exit code 1"):
        proof_of("broken")


def test_forbidden_namespaces_are_told_in_one_sentence_with_the_remedy() -> None:
    said = Bubblewrap().explain("bwrap: setting up uid map: Permission denied")
    assert "user namespaces are forbidden here" in said
    assert "apparmor_restrict_unprivileged_userns" in said
    assert Bubblewrap().explain("bwrap: execvp python: No such file or directory") == ""


def test_a_plugin_adds_one_of_its_own(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from pytest_caesar.sandboxes.sandbox import Sandbox

        class Box(Sandbox):
            name = "box"
            def version(self): return "7"
            def command(self, view): return ("/usr/bin/env",)

        def pytest_caesar_sandboxes():
            return [Box()]
        """
    )
    pytester.makepyfile(
        """
        import pytest

        def test_it(caesar_repo, caesar_orchestrator, caesar_fake_agent):
            agent = caesar_fake_agent(caesar_fake_agent.report())
            run = caesar_orchestrator.delegate("x", agent=agent, sandbox="auto")
            assert "sandbox-weak" in run.codes or run.sandbox.name == "bubblewrap"
            with pytest.raises(Exception, match="'box' cannot be used: on this machine"):
                caesar_orchestrator.delegate("x", agent=agent, sandbox="box")
        """
    )
    result = pytester.runpytest("-p", "no:randomly", "--caesar-json=runs.json")
    result.assert_outcomes(passed=1)
    told = json.loads((pytester.path / "runs.json").read_text())
    assert "sandbox" in json.dumps(told)
