"""A token is not to be seen: not printed, not formatted, not pickled, not in a refusal of it."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from proxyapi.upstream.secret import Secret, TokenMalformed, clean_token

TOKEN = "sbx_9f3kQ-mira~0001"


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
    with pytest.raises(TypeError, match="not pickled"):
        way(secret)


def test_only_reveal_gives_it(secret):
    assert secret.reveal() == TOKEN
    assert not hasattr(secret, "__dict__")


def test_equal_tokens_are_equal_secrets(secret):
    assert secret == Secret(TOKEN)
    assert secret != Secret(TOKEN + "x")
    assert secret != TOKEN
    assert len({secret, Secret(TOKEN)}) == 1


def test_the_tail_tells_tokens_apart_and_is_empty_for_short_ones(secret):
    assert secret.tail == "0001"
    assert Secret("short-one").tail == ""


def test_an_answer_that_quotes_the_token_loses_it(secret):
    assert secret.scrub(f"Bad token {TOKEN}!".encode()) == b"Bad token " + b"*" * 19 + b"!"
    assert Secret("abc").scrub(b"abcabc") == b"abcabc"


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
        (f"{TOKEN}\0", "no token has"),
        (f"{TOKEN}\x7f", "no token has"),
        (f"\ufeff{TOKEN}", "no token has"),
        (f"{TOKEN}\u200b", "no token has"),
        (f"{TOKEN}ü", "no token has"),
        (f"{TOKEN}٣", "no token has"),
        (TOKEN + "x" * 10_000, "longer"),
    ],
)
def test_what_cannot_be_a_token_is_refused_without_quoting_it(text, sentence):
    with pytest.raises(TokenMalformed, match=sentence) as caught:
        clean_token(text)
    assert TOKEN not in str(caught.value)
    assert caught.value.user_message == str(caught.value)


def test_the_longest_token_is_still_taken():
    assert clean_token("x" * 512).reveal() == "x" * 512
