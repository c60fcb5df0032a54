"""The search for leaked tokens finds what it is there to find."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest

from tests.leaks import Canaries

TOKEN = "sbx_" + "Q7w" * 8


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
def test_f1_a_token_is_found_however_it_was_written_down(said):
    canaries = Canaries()
    canaries.plant(TOKEN)
    canaries.hear("a log", "nothing here", said)
    assert canaries.found()
    assert all(TOKEN not in sentence for sentence in canaries.found())


def test_nothing_is_found_where_nothing_is():
    canaries = Canaries()
    canaries.plant(TOKEN)
    canaries.hear("a page", f"Luca’s token …{TOKEN[-4:]}", TOKEN[:12])
    assert canaries.found() == []
