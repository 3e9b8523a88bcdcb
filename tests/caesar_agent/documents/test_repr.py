"""What a document shows of itself is what it says."""

from __future__ import annotations

from caesar_agent.documents import Report


def test_what_is_at_its_default_is_left_out() -> None:
    report = Report(protocol="caesar.report/v1", status="success", summary="Done.")
    assert repr(report) == (
        "Report(protocol='caesar.report/v1', status='success', summary='Done.')"
    )


def test_unknown_fields_are_shown() -> None:
    report = Report.from_value(
        {"protocol": "caesar.report/v1", "status": "failed", "summary": "No.", "mood": "low"}
    )
    assert "mood='low'" in repr(report)
