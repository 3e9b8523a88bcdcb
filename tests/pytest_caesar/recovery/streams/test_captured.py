"""Streams that the real programs printed against a scripted model, one file a situation.

What each gives: the exit code of the program, and where a report came from. Nobody who
failed, was cut off or was stopped has reported, and nothing is made up into a success.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import recover

CAPTURED = Path(__file__).parent / "captured"

EXPECTED: dict[tuple[int, str], tuple[str, ...]] = {
    (-15, "synthesized"): (
        "codex-siggroup_sigterm_codex",
        "opencode-sig_sigterm_opencode",
        "opencode-siggroup_sigterm_opencode",
    ),
    (-9, "synthesized"): (
        "gemini-sig_sigint_gemini",
        "gemini-sig_sigterm_gemini",
    ),
    (-2, "synthesized"): ("opencode-sig_sigint_opencode",),
    (0, "extracted"): (
        "codex-cmdfail",
        "codex-edit",
        "codex-long",
        "codex-mcp",
        "codex-mcp_noapprove",
        "codex-mcp_search",
        "codex-mcp_ws",
        "codex-mcp_ws_trust",
        "codex-nested_codex",
        "codex-prose_after",
        "codex-readonly",
        "codex-reasoning",
        "codex-retry500",
        "codex-retrycut_abrupt",
        "codex-sandbox",
        "codex-schema",
        "codex-success",
        "codex-x_mcp_fake",
        "codex-x_mcpfail_fake",
        "codex-x_tmpdir",
        "gemini-badtool",
        "gemini-cmdfail",
        "gemini-edit",
        "gemini-editfail",
        "gemini-long",
        "gemini-mcp",
        "gemini-mcp_env",
        "gemini-mcp_ws",
        "gemini-mcp_ws_trustenv",
        "gemini-noapprove",
        "gemini-prose_after",
        "gemini-readonly",
        "gemini-reasoning",
        "gemini-retry500",
        "gemini-success",
        "gemini-twofinal",
        "gemini-x_norelaunch",
        "opencode-agent_unknown",
        "opencode-badtool",
        "opencode-cmdfail",
        "opencode-edit",
        "opencode-mcp",
        "opencode-mcp_env",
        "opencode-mcp_ws",
        "opencode-nested_opencode",
        "opencode-perm_ask_auto",
        "opencode-perm_deny",
        "opencode-prose_after",
        "opencode-readonly",
        "opencode-reasoning",
        "opencode-retry500",
        "opencode-retrycut",
        "opencode-retrycut_abrupt",
        "opencode-success",
        "opencode-x_logs",
        "opencode-x_nofetch",
        "opencode-x_npmoff",
        "opencode-x_pure",
        "opencode-x_title",
    ),
    (0, "synthesized"): (
        "codex-adddir",
        "codex-adddir_ro",
        "codex-badschema",
        "codex-danger",
        "codex-dashdash",
        "codex-empty",
        "codex-gitcommit",
        "codex-stdin",
        "codex-x_denied_ro",
        "codex-x_denied_text",
        "codex-x_denied_text_danger",
        "gemini-cut_mid",
        "gemini-empty",
        "gemini-gitcommit",
        "gemini-retrycut",
        "gemini-siggroup_sigterm_gemini",
        "gemini-signr_sigint_gemini",
        "gemini-signr_sigterm_gemini",
        "opencode-dashdash",
        "opencode-gitcommit",
        "opencode-stdin",
    ),
    (1, "synthesized"): (
        "codex-cut_mid",
        "codex-cut_start",
        "codex-err400",
        "codex-err401",
        "codex-err429",
        "codex-err500",
        "codex-failed_event",
        "codex-sig_sigint_codex",
        "gemini-cut_abrupt",
        "gemini-retrycut_abrupt",
        "opencode-badmodel",
        "opencode-err400",
        "opencode-err429",
        "opencode-err500",
    ),
    (144, "synthesized"): ("gemini-err400",),
    (173, "synthesized"): (
        "gemini-err429",
        "gemini-err429_fast",
    ),
    (244, "synthesized"): (
        "gemini-err500",
        "gemini-err500_fast",
    ),
}
"""Files by the exit code of the program (a signal is negative), and the source of the report."""

ROWS = [(name, code, source) for (code, source), names in EXPECTED.items() for name in names]


@pytest.mark.parametrize(("name", "code", "source"), ROWS, ids=[row[0] for row in ROWS])
def test_what_a_program_printed_gives_this_verdict(name: str, code: int, source: str) -> None:
    recovered = recover(
        Evidence(
            raw_log=(CAPTURED / f"{name}.jsonl").read_bytes(),
            dialect=name.partition("-")[0],
            exit_code=code if code >= 0 else None,
            signal=f"signal {-code}" if code < 0 else None,
            changes=(),
        )
    )
    assert recovered.source == source
    assert (recovered.status == "success") is (source == "extracted")
    assert "report-not-own-words" not in {item.code for item in recovered.diagnostics}


def test_every_file_is_looked_at() -> None:
    assert {path.stem for path in CAPTURED.iterdir()} == {row[0] for row in ROWS}
