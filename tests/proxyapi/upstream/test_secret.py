"""A token is not to be seen: not printed, not formatted, not pickled, not in a refusal of it."""

from __future__ import annotations

import base64
import copy
import html
import json
import pickle
import re
from urllib.parse import quote

import pytest

from proxyapi.upstream.secret import Secret, TokenMalformed, clean_token

TOKEN = "sbx_9f3kQ-mira~0001"
ODD = "12|aB/c+d&e" + "\"f<g'h=i~0001"
FORMS = {
    "raw": ODD,
    "JSON": json.dumps(ODD)[1:-1],
    "JSON, as PHP writes it": json.dumps(ODD)[1:-1].replace("/", "\\/"),
    "JSON, each character": "".join(f"\\u{ord(one):04x}" for one in ODD),
    "JSON in JSON": json.dumps(json.dumps(ODD))[3:-3],
    "an address": quote(ODD, safe=""),
    "a path": quote(ODD),
    "an address, small": re.sub("%..", lambda it: it[0].lower(), quote(ODD, safe="")),
    "an address in an address": quote(quote(ODD, safe=""), safe=""),
    "HTML": html.escape(ODD),
    "HTML, as PHP writes it": html.escape(ODD).replace("&#x27;", "&#039;"),
    "HTML in HTML": html.escape(html.escape(ODD)),
    "HTML in JSON": json.dumps(html.escape(ODD))[1:-1],
    "JSON in HTML": html.escape(json.dumps(ODD))[6:-6],
}


@pytest.fixture
def secret():
    return Secret(TOKEN)


def test_it_shows_a_mask_however_it_is_printed(secret):
    shown = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret:>40}",
        f"{secret!r}",
        "%s" % secret,  # noqa: UP031 - the old ways print too
        "{}".format(secret),  # noqa: UP032
        repr([secret]),
        repr({"headers": {"Authorization": secret}}),
        repr(ValueError(secret)),
        json.dumps({"token": secret}, default=str),
    ]
    assert [text for text in shown if TOKEN in text] == []


@pytest.mark.parametrize("way", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_not_pickled_and_not_copied(secret, way):
    with pytest.raises(TypeError, match="cannot be pickled"):
        way(secret)


def test_only_reveal_gives_it(secret):
    assert secret.reveal() == TOKEN
    assert not hasattr(secret, "__dict__")


def test_equal_tokens_are_equal_secrets(secret):
    assert secret == Secret(TOKEN)
    assert secret != Secret(TOKEN + "x")
    assert secret != TOKEN
    assert len({secret, Secret(TOKEN)}) == 1


def test_an_answer_that_quotes_the_token_loses_it(secret):
    assert secret.scrub(f"Bad token {TOKEN}!".encode()) == b"Bad token " + b"*" * 19 + b"!"
    assert Secret("abc").scrub(b"abcabc") == b"abcabc"


@pytest.mark.parametrize("written", FORMS.values(), ids=FORMS)
def test_pitfall_92_it_loses_it_however_the_answer_writes_it(written):
    answer = f'{{"message": "No {written} here \\n"}}'.encode()
    told = Secret(ODD).scrub(answer)
    assert told.startswith(b'{"message": "No ') and told.endswith(b' here \\n"}')
    assert set(told[16:-10].strip(b'"')) == {ord("*")}


@pytest.mark.parametrize("before", range(3))
def test_pitfall_92_it_loses_it_in_base64_wherever_it_begins(before):
    told = Secret(ODD).scrub(base64.b64encode(b"x" * before + ODD.encode() + b"yz"))
    assert told.count(b"*") >= len(ODD) * 4 // 3 - 2


def test_an_answer_that_does_not_quote_it_stays_as_it_is():
    for answer in (b'{"a": "\\u00e9 %20 &amp; \\/"}', base64.b64encode(b"12|abc" * 40), b"\xff"):
        assert Secret(ODD).scrub(answer) == answer


@pytest.mark.parametrize("padding", ["{}", " {}", "{}\n", "\t{}\r\n", "\u00a0{}\u2003", "\n\n{}  "])
def test_blanks_around_a_pasted_token_are_dropped(padding):
    assert clean_token(padding.format(TOKEN)).reveal() == TOKEN


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "missing"),
        (" \n\t ", "missing"),
        (f"{TOKEN}\nX-Evil: 1", "more than one line"),
        (f"{TOKEN}\rX-Evil: 1", "more than one line"),
        (f"{TOKEN}\u2028{TOKEN}", "more than one line"),
        (f"Bearer {TOKEN}", "without the word Bearer"),
        (f"{TOKEN}\u00a0b", "no spaces"),
        (f"{TOKEN}\0", "not allowed in a token"),
        (f"{TOKEN}\x7f", "not allowed in a token"),
        (f"\ufeff{TOKEN}", "not allowed in a token"),
        (f"{TOKEN}\u200b", "not allowed in a token"),
        (f"{TOKEN}ü", "not allowed in a token"),
        (f"{TOKEN}٣", "not allowed in a token"),
        (TOKEN + "x" * 10_000, "too long"),
    ],
)
def test_what_cannot_be_a_token_is_refused_without_quoting_it(text, sentence):
    with pytest.raises(TokenMalformed, match=sentence) as caught:
        clean_token(text)
    assert TOKEN not in str(caught.value)
    assert caught.value.user_message == str(caught.value)


def test_the_longest_token_is_still_taken():
    assert clean_token("x" * 512).reveal() == "x" * 512
