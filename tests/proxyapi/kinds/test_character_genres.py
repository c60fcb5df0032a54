"""The genres of characters: a list of their own, read once a day for each account."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi.kinds.character_genres import parse_genres, read_genres, request_genres
from proxyapi.models import Account, CharacterGenres
from proxyapi.polling import due_work
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

pytestmark = pytest.mark.postgresql

GENRES = [{"id": 301, "name": "Studio Portrait", "slug": "x"}, {"id": 302, "name": "Aquarelle"}]


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory.create(options={"mandatory": {"genres": [{"id": 941}]}})
    TokenFactory.create(account=account)
    return account


def test_pitfall_117_genres_of_characters_are_read_and_kept_apart(
    account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/characters/genres", make_response(GENRES))
    request_genres(account)
    (due,) = due_work.lease_due_account_reads(CharacterGenres)
    assert list(due_work.lease_due_account_reads(CharacterGenres)) == []
    read_genres(due)
    row = request_genres(account)
    assert [genre["id"] for genre in row.genres] == [301, 302]
    assert (row.due_at, len(upstream.requests)) == (None, 1)


def test_genres_older_than_a_day_are_read_again_and_stay_until_then(account: Account) -> None:
    old = timezone.now() - timedelta(days=2)
    CharacterGenres.objects.create(account=account, genres=GENRES, read_at=old)
    row = request_genres(account)
    assert row.due_at is not None
    assert row.genres == GENRES


def test_without_an_answer_the_reason_is_kept_and_it_is_not_asked_at_each_look(
    account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/characters/genres", httpx.ConnectError)
    request_genres(account)
    read_genres(account.pk)
    row = request_genres(account)
    assert row.message.startswith("The service")
    assert row.due_at is None


def test_an_account_without_a_token_says_so(db: None) -> None:
    account = AccountFactory.create()
    request_genres(account)
    read_genres(account.pk)
    assert "No working token" in CharacterGenres.objects.get().message


@pytest.mark.parametrize(
    "data", [None, 7, "x", [], {}, [None], [{"name": "x"}], {"genres": [{"id": None}]}]
)
def test_an_answer_of_any_shape_gives_no_genres_without_ids(data: object) -> None:
    assert parse_genres(data) == []


def test_genres_below_a_name_are_found() -> None:
    assert parse_genres({"genres": GENRES})[1] == {"id": 302, "name": "Aquarelle"}
