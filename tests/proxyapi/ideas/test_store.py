"""Ideas are stored once, with their charge, whichever answer showed them."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.ideas.records import parse_ideas
from proxyapi.ideas.store import store_ideas
from proxyapi.models import Account, Charge, ChargeState, Idea, IdeaRefresh, Token
from tests.admission import admit_charge
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
)

pytestmark = pytest.mark.postgresql

LIST, DISCOVER = ("GET", "/ideas"), ("POST", "/ideas/discover")
BODY = {"keyword": "lakes", "network": "youtube"}
ROWS = [
    {"id": 1, "title": "Deep lakes", "volume": 500},
    {"id": 2, "title": "Salt lakes", "volume": 900},
]


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory.create(balance=Decimal(1000))
    return account


@pytest.fixture
def search(account: Account) -> Charge:
    token: Token = TokenFactory.create(account=account)
    price = Decimal(15)
    intent = ChargeIntent(None, "ideas.discover", uuid.uuid4(), price, price, BODY, token=token)
    return admit_charge(intent)


def send(search: Charge) -> Charge:
    dispatch_charge(search.pk)
    search.refresh_from_db()
    return search


def test_what_a_search_found_is_stored_with_its_charge_and_ranked_by_volume(
    search: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, make_response([]))
    upstream.respond(*DISCOVER, charged_response(ROWS, 15, status=200))
    assert send(search).state == ChargeState.CONFIRMED
    ideas = Idea.objects.order_by("rank").values_list("title", "rank", "keyword", "network")
    assert list(ideas) == [
        ("Salt lakes", 1, "lakes", "youtube"), ("Deep lakes", 2, "lakes", "youtube"),
    ]  # fmt: skip
    assert set(Idea.objects.values_list("charge", flat=True)) == {search.pk}
    assert IdeaRefresh.objects.get().requested_at is not None


def test_a_search_that_found_nothing_stores_nothing(
    search: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, make_response([]))
    upstream.respond(*DISCOVER, charged_response([], 0, status=200))
    assert (send(search).state, search.cost) == (ChargeState.CONFIRMED, 0)
    assert not Idea.objects.exists()


@pytest.mark.parametrize("data", [{"ideas": ROWS}, "gone", None, [None, 3, {"id": 1}], [{}]])
def test_an_answer_of_another_shape_loses_no_charge(
    data: object, search: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, make_response([]))
    upstream.respond(*DISCOVER, charged_response(data, 15, status=200))
    assert (send(search).state, search.cost) == (ChargeState.CONFIRMED, 15)
    assert not Idea.objects.exists()


def test_a_lost_answer_stores_what_the_free_list_shows(
    search: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, make_response([]), make_response(ROWS))
    upstream.respond(*DISCOVER, httpx.ReadTimeout)
    assert send(search).state == ChargeState.UNKNOWN
    booked = {"credit_spend": "-15", "created_at": timezone.now().isoformat()}
    upstream.respond("GET", "/credits/history", history_page(booked))
    reconcile_charge(search.pk)
    search.refresh_from_db()
    assert (search.state, search.cost) == (ChargeState.MATCHED, 15)
    assert set(search.ideas.values_list("title", flat=True)) == {"Salt lakes", "Deep lakes"}
    assert len([it for it in upstream.requests if it.method == "POST"]) == 1


def test_a_lost_answer_that_was_never_booked_is_called_uncharged(
    search: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, make_response([]))
    upstream.respond(*DISCOVER, httpx.ReadTimeout)
    send(search)
    ago = timezone.now() - timedelta(minutes=10)
    Charge.objects.update(sent_at=ago, lost_at=ago, heartbeat_at=None, created_at=ago)
    upstream.respond("GET", "/credits/history", history_page())
    reconcile_charge(search.pk)
    search.refresh_from_db()
    assert (search.state, search.is_assumed_uncharged) == (ChargeState.REFUSED, True)
    assert not Idea.objects.exists()


def test_an_idea_that_came_twice_keeps_its_finder_and_takes_the_new_volume(
    account: Account, search: Charge
) -> None:
    assert store_ideas(account, parse_ideas(ROWS, BODY)) == 2
    first = Idea.objects.get(remote_id="1")
    Charge.objects.update(sent_at=timezone.now() + timedelta(minutes=1))
    search.refresh_from_db()
    louder = [{**ROWS[0], "volume": 2000}, {"id": 3, "title": "Pink lakes"}]
    assert store_ideas(account, parse_ideas(louder, BODY), search) == 1
    again = Idea.objects.get(remote_id="1")
    assert (again.pk, again.charge, again.first_seen_at) == (first.pk, None, first.first_seen_at)
    assert (again.volume, again.rank) == (2000, 1)
    assert Idea.objects.get(remote_id="3").charge == search


def test_an_idea_that_a_read_showed_before_the_answer_belongs_to_the_search(
    account: Account, search: Charge
) -> None:
    Charge.objects.update(sent_at=timezone.now() - timedelta(minutes=1))
    search.refresh_from_db()
    store_ideas(account, parse_ideas(ROWS, BODY))
    assert store_ideas(account, parse_ideas(ROWS, BODY), search) == 0
    assert set(Idea.objects.values_list("charge", flat=True)) == {search.pk}


def test_a_rank_of_the_service_is_kept(account: Account) -> None:
    rows = [{**ROWS[0], "rank": 9}, {**ROWS[1], "rank": 4}]
    store_ideas(account, parse_ideas(rows, BODY))
    assert set(Idea.objects.values_list("remote_id", "rank")) == {("1", 9), ("2", 4)}


def test_the_database_refuses_the_same_idea_twice_and_one_without_a_title(
    account: Account,
) -> None:
    Idea.objects.create(account=account, remote_id="1", title="Deep lakes")
    for fields in ({"remote_id": "1", "title": "Other"}, {"remote_id": "2", "title": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Idea.objects.create(account=account, **fields)
    Idea.objects.create(account=AccountFactory.create(), remote_id="1", title="Deep lakes")
