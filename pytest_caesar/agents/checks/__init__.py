"""Checks on agent definitions: what a host would do with a file that its author did not mean."""

from __future__ import annotations

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.definition import check_definition
from pytest_caesar.agents.checks.delegation import check_delegation
from pytest_caesar.agents.checks.profiles import SYSTEM, HostProfile
from pytest_caesar.agents.checks.together import check_files, check_together

__all__ = [
    "SYSTEM",
    "Complaint",
    "HostProfile",
    "check_definition",
    "check_delegation",
    "check_files",
    "check_together",
]
