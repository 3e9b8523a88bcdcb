"""How secrets may be written, and what is known by its look."""

from __future__ import annotations

import base64
import html
import json
import shlex
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from pytest_caesar.recordings.placeholders import Places
from pytest_caesar.recordings.secret_forms import forms_in

SECRET = "Vb'9 /<n+\"x7=\\Tq&Kp"
PLACES = Places({}, task_id="t_1", secrets={"CLIENT": SECRET})


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.parametrize(
    "write",
    [
        str,
        lambda text: quote(text, safe=""),
        quote,
        lambda text: quote(text).replace("%2F", "%2f").replace("%3C", "%3c"),
        lambda text: quote(quote(text, safe=""), safe=""),
        quote_plus,
        json.dumps,
        lambda text: json.dumps(text).replace("/", "\\/"),
        lambda text: json.dumps(json.dumps(json.dumps(text))),
        html.escape,
        lambda text: html.escape(html.escape(text)),
        lambda text: "".join(f"&#{ord(char)};" for char in text),
        repr,
        lambda text: repr(text.encode()),
        shlex.quote,
        lambda text: "".join(f"\\{char}" if not char.isalnum() else char for char in text),
        lambda text: "".join(f"\\u{ord(char):04X}" for char in text),
        lambda text: text.encode().hex(),
        lambda text: text.encode().hex().upper(),
        lambda text: base64.b64encode(f"octo:{text}".encode()).decode(),
        lambda text: base64.b64encode(base64.b64encode(f"o:{text}".encode())).decode(),
        lambda text: wrapped(base64.b64encode(f"ab{text}".encode()).decode(), 7),
        lambda text: json.dumps(wrapped(base64.b64encode(text.encode()).decode(), 8)),
        lambda text: wrapped(text, 6),
    ],
    ids=range(24),
)
def test_a_secret_is_hidden_however_it_is_written(write: Callable[[str], str]) -> None:
    data = f"<<{write(SECRET)}>> and more".encode()
    hidden = PLACES.hide(data)
    assert b"{{caesar:secret:CLIENT}}" in hidden
    assert hidden.endswith(b">> and more")
    assert not any(part.encode() in hidden for part in ("9 /<n", "x7=", "Tq&Kp", "Tq"))
    assert PLACES.secret_in(data) == "CLIENT"


def test_a_secret_in_pieces_over_a_stream_is_hidden() -> None:
    pieces = ["so: " + SECRET[:5], SECRET[5:6], SECRET[6:14], SECRET[14:] + " it is"]
    lines = [json.dumps({"type": "delta", "n": at, "text": text}) for at, text in enumerate(pieces)]
    hidden = PLACES.hide("\n".join(lines).encode()).decode()
    assert [json.loads(line)["text"] for line in hidden.split("\n")] == [
        "so: {{caesar:secret:CLIENT}}", "", "", " it is"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ghp_" + "aB3" * 12, "github-token"),
        ("glpat-" + "x1Y_" * 5, "gitlab-token"),
        ("sk-ant-api03-" + "Q7w-" * 8, "model-key"),
        ("AKIA" + "Z2" * 8, "aws-key"),
        ("aws_secret_access_key = " + "aB3/" * 10, "aws-secret"),
        ("AIza" + "k" * 35, "google-key"),
        ("xoxb-1234567890-abcdef", "slack-token"),
        ("sk_live_" + "a1" * 10, "stripe-key"),
        ("npm_" + "z" * 36, "package-token"),
        ("SG." + "a" * 22 + "." + "b" * 43, "service-token"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", "jwt"),
        ("amqp://ada:hunter22@mq/v", "url-password"),
        ('{"Authorization": "Bearer abcdef123456"}', "header"),
        ("X-Api-Key: abcdef1234567890", "header"),
        ("Server=db;User=sa;Password=hunter22;", "connection-string"),
        ("-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----", "private-key"),
    ],
)
def test_what_has_a_known_form_is_hidden_and_named(text: str, name: str) -> None:
    hidden = Places({}, task_id="t_1", secrets={}).hide(f"<{text}> and more".encode())
    assert f"{{{{caesar:secret:{name}}}}}".encode() in hidden
    assert hidden.endswith(b"> and more")
    assert name in forms_in(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "the key is a token of trust: authorization is needed",
        "http://localhost:8000/a@b",
        "https://example.com/user:name",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "password=None; token=os.environ['TOKEN']",
        "sk-learn and SKU12, AKIA",
    ],
)
def test_what_only_looks_a_little_like_one_stays(text: str) -> None:
    assert Places({}, task_id="t_1", secrets={}).hide(text.encode()) == text.encode()
    assert forms_in(text.encode()) == ()
