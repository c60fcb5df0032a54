"""The search for leaked tokens finds what it is there to find."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest

from tests.leaks import Canaries

TOKEN = "sbx_" + "Q7w" * 8
ODD = "sbx_7|a/b+c&d<e>" + "\"f'g=h~harmless_12"


@pytest.mark.parametrize(
    "said",
    [
        f"Authorization: Bearer {TOKEN}",
        json.dumps({"token": TOKEN}),
        html.escape(f"<input value='{TOKEN}'>"),
        f"/tokens/?token={quote(TOKEN)}",
        TOKEN[::-1],
        TOKEN.upper(),
        TOKEN.encode().hex(),
        *(base64.b64encode(f"{'x' * n}{TOKEN}{'y' * n}".encode()) for n in range(4)),
        *(base64.urlsafe_b64encode(f"{'?' * n}{TOKEN}>>".encode()) for n in range(4)),
    ],
)
def test_a_token_is_found_however_it_was_written_down(said):
    canaries = Canaries()
    canaries.plant(TOKEN)
    canaries.scan("a log", "nothing here", said)
    assert canaries.leaked_tokens()
    assert all(TOKEN not in sentence for sentence in canaries.leaked_tokens())


@pytest.mark.parametrize(
    "write",
    [
        json.dumps,
        lambda token: json.dumps(token).replace("/", "\\/"),
        lambda token: json.dumps(json.dumps(token)),
        lambda token: json.dumps(html.escape(token)),
        html.escape,
        lambda token: html.escape(json.dumps(token)),
        quote,
        lambda token: quote(token, safe=""),
        lambda token: quote(quote(token, safe=""), safe=""),
        lambda token: base64.b64encode(f"Bearer {token}".encode()).decode(),
        lambda token: f"{token}, and more"[:30],
    ],
)
def test_a_token_that_is_written_otherwise_everywhere_is_found(write):
    canaries = Canaries()
    canaries.plant(ODD, TOKEN)
    canaries.scan("a page", "nothing", write(ODD))
    assert [told for told in canaries.leaked_tokens() if ODD[-4:] in told]
    assert canaries.scanned_summary().startswith(
        "2 tokens looked for in 28 writings, in 1 kinds of places"
    )


def test_nothing_is_found_where_nothing_is():
    canaries = Canaries()
    canaries.plant(TOKEN)
    canaries.scan("a page", f"Luca’s token …{TOKEN[-4:]}", TOKEN[:12])
    assert canaries.leaked_tokens() == []
