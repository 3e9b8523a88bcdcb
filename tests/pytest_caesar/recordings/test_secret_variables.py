"""Which variables are secrets, and in which forms they are found."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.recordings.secret_variables import secrets_of


@pytest.mark.parametrize(
    ("name", "value", "counts"),
    [
        ("OPENAI_API_KEY", "sk-12345678", True),
        ("gh_token", "ghp_abcdefgh", True),
        ("DB_PASSWORD", "hunter2hunter2", True),
        ("AWS_SECRET_ACCESS_KEY", "abcdefgh", True),
        ("SESSION_COOKIE", "abcdefgh", True),
        ("SMTP_PASS", "hunter2hunter2", True),
        ("SSHPASS", "hunter2hunter2", True),
        ("DB_PWD", "hunter2hunter2", True),
        ("GITHUB_PAT", "github_pat_abc", True),
        ("SENTRY_DSN", "https://abc@sentry.invalid/1", True),
        ("SLACK_WEBHOOK_URL", "https://hooks.invalid/T0/B0/abc", True),
        ("DB_PASSWORD", "short", False),
        ("OLDPWD", "/home/ada/work", False),
        ("PWD", "/home/ada/work", False),
        ("COMPASS_BYPASS", "north-north-east", False),
        ("COMPASS", "north-north-east", False),
        ("PATH_PATTERN", "src/**/*.py", False),
        ("DATABASE_URL", "postgres://db.invalid/main", False),
        ("DATABASE_URL", "postgres://ada:short@db.invalid/main", False),
        ("MAX_OUTPUT_TOKENS", "1234567890", False),
        ("GIT_AUTHOR_NAME", "Ada Lovelace", False),
        ("KEYBOARD_LAYOUT", "qwertyuiop", False),
        ("USE_API_KEY", "disabled", False),
        ("PATH", "/usr/bin:/bin", False),
    ],
)
def test_a_variable_is_a_secret_by_its_name_and_its_value(
    name: str, value: str, *, counts: bool
) -> None:
    assert bool(secrets_of({name: value})) is counts


@pytest.mark.parametrize("name", ["DATABASE_URL", "https_proxy", "AUTH_URL"])
def test_of_an_address_the_password_is_a_secret(name: str) -> None:
    address = "postgres://ada:hunter2hunter2@db.invalid/main"
    places = Places({}, task_id="t_1", secrets=secrets_of({name: address}))
    assert places.hide(b"PGPASSWORD=hunter2hunter2") == (
        b"PGPASSWORD={{caesar:secret:" + name.encode() + b"}}"
    )


@given(
    before=st.binary(max_size=5),
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40),
    after=st.binary(max_size=5),
)
def test_a_secret_is_found_in_every_base64_around_it(
    before: bytes, secret: str, after: bytes
) -> None:
    places = Places({}, task_id="t_1", secrets={"API_KEY": secret})
    around = before + secret.encode() + after
    for encoded in (base64.b64encode(around), base64.urlsafe_b64encode(around)):
        assert places.secret_in(encoded) == "API_KEY"
        hidden = places.hide(encoded)
        assert b"{{caesar:secret:API_KEY}}" in hidden
        assert places.secret_in(hidden) is None


def test_the_header_of_basic_authentication_tells_no_secret() -> None:
    places = Places({}, task_id="t_1", secrets={"GH_TOKEN": "ghp_abcdefghij"})
    header = b"Authorization: Basic " + base64.b64encode(b"x-access-token:ghp_abcdefghij")
    assert base64.b64encode(b"ghp_abcdefghij")[2:-4] not in places.hide(header)
    assert places.secret_in(header) == "GH_TOKEN"
