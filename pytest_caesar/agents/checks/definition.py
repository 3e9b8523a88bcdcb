"""Everything that can be said about one definition on its own."""

from __future__ import annotations

from pytest_caesar.agents.checks.block import check_block
from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.fields import check_fields
from pytest_caesar.agents.checks.profiles import SYSTEM, HostProfile
from pytest_caesar.agents.checks.schema import check_output
from pytest_caesar.agents.checks.source import read_source
from pytest_caesar.agents.checks.tools import check_spawns, check_tools


def check_definition(
    data: bytes, *, path: str, profile: HostProfile = SYSTEM
) -> tuple[Complaint, ...]:
    """Check one file. Never raises; linear in the size of the file.

    Args:
        data: the bytes of the file.
        path: named in the complaints.
        profile: the host whose behaviour counts.

    Returns:
        Complaints in the order of their lines.
    """
    source = read_source(data, path=path)
    found = [*check_block(source)]
    if source.front.present:
        found += check_fields(source, profile)
        found += check_tools(source, profile)
        found += check_spawns(source)
        found += check_output(source)
    return tuple(sorted(found, key=lambda complaint: complaint.line or 0))
