"""What waits for a person: every kind of it is found, and nobody else's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.models import AgentApproval, ApprovalRequest, Batch
from dashboard.overview.queries import attention
from dashboard.overview.queries.attention import find_attention_items
from proxyapi.gateway.keys import create_key
from proxyapi.models import Account, KeyScope, LedgerConflict, TokenState
from proxyapi.models.job import MAX_JOB_CRASHES
from tests.dashboard.overview.conftest import ago, video
from tests.factories import AccountFactory, TokenFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def every_concern(account, token, ledger, add_entry, make_charge, luca, northlight):
    """One of each kind."""
    make_charge(42, luca, state="unknown", quote=Decimal(42))
    make_charge(98, luca, state="matched", unidentified_at=ago(days=1))
    make_charge(98, luca, refund_owed_at=ago(minutes=6))
    ApprovalRequest.objects.create(
        team=northlight, member=luca.user, charge=make_charge(0, luca, state="draft", hold=106)
    )
    agent = create_key(northlight.tenant, luca.user_id, "Claude", [KeyScope.RENDER])
    AgentApproval.objects.create(key=agent.key, item_count=5, credits=100, hours=24)
    Batch.objects.create(
        team=northlight, member=luca.user, name="Tides", approval_requested_at=ago(hours=1)
    )
    TokenFactory.create(account=account, owner=luca.user, state=TokenState.REVOKED)
    TokenFactory.create(account=account, owner=luca.user, state=TokenState.PAUSED)
    LedgerConflict.objects.create(account=account, position=3, before={}, after={})
    video(token, state="failed", title="The seventh scene", finished_at=ago(hours=2))
    video(
        token,
        title="Parked",
        state="running",
        failures=MAX_JOB_CRASHES,
        polled_at=ago(hours=3),
        next_poll_at=ago(hours=3),
    )
    add_entry(-96)


def found(team, account):
    now = timezone.now()
    return find_attention_items(team, [account.pk], now - timedelta(days=20), now)


def test_every_kind_is_found_with_what_a_person_reads(
    every_concern, northlight, account, django_assert_num_queries
):
    with django_assert_num_queries(12):
        items = found(northlight, account)
    titles = {item.kind: item.title for item in items if item.kind != "ask"}
    assert titles == {
        "rewrite": "One ledger row is different now",
        "unknown": "A charge of Luca is unknown",
        "orphan": "98 cr were charged, but the result is missing",
        "refund": "The service owes 98 cr back",
        "token": "Luca’s token stopped working",
        "plan": "The plan of Northlight Films lapsed today",
        "left_alone": "Status checks stopped for “Parked”",
        "failed": "One render failed",
        "outside": "96 cr spent outside the portal",
    }
    assert {item.title for item in items if item.kind == "ask"} == {
        "Luca requests 106 cr",
        "Claude requests up to 100 cr",
        "Luca asks to start a batch",
    }
    by_kind = {item.kind: item for item in items}
    assert "Luca’s render “How to read a glacier”, sent" in by_kind["unknown"].text
    assert by_kind["unknown"].amount.value == 42
    assert by_kind["failed"].text.startswith("“The seventh scene” of ")
    texts = " ".join(item.text for item in items)
    assert "An agent asks once for 5 items." in texts
    assert "“Tides”" in texts


def test_spend_outside_leads_to_the_ledger_with_the_filters_that_show_it(
    every_concern, northlight, account
):
    item = next(one for one in found(northlight, account) if one.kind == "outside")
    page, _, query = item.url.partition("?")
    filters = parse_ledger_filters(dict(parse_qsl(query)))
    assert page == reverse("ledger")
    assert (filters.account, filters.match, filters.direction) == (account.pk, "no", "out")
    assert filters.period == f"{timezone.localtime(item.since):%Y-%m}"


def test_many_small_ones_of_long_ago_do_not_hide_a_great_one_of_today(
    northlight, account, ledger, make_charge, monkeypatch
):
    monkeypatch.setattr(attention, "MAX_ITEMS", 3)
    for days in range(20, 15, -1):
        make_charge(98, refund_owed_at=ago(days=days))
    make_charge(42, state="unknown", quote=Decimal(42))
    shown = found(northlight, account)
    assert [one.kind for one in shown] == ["unknown", "refund", "refund"]
    assert shown[1].since < shown[2].since < ago(days=18)
    TokenFactory.create(tenant=account.tenant, account=account, state="revoked")
    assert [one.kind for one in found(northlight, account)] == ["unknown", "refund", "token"]


def test_another_team_sees_nothing_of_it(every_concern, account, otto):
    now = timezone.now()
    assert find_attention_items(otto.team, [], now - timedelta(days=20), now) == []


@pytest.mark.parametrize(
    ("fields", "title", "text"),
    [
        ({"plan": "trial"}, "Northlight is on a trial", "paid plans only, not on trials."),
        ({"plan": "none"}, "The plan of Northlight lapsed today", "Nothing is lost"),
        ({"plan": "none", "plan_name": ""}, "Northlight has no paid plan", "paid plans only."),
        (
            {"plan": "none", "plan_ends_at": datetime(2026, 1, 5, tzinfo=UTC)},
            "The plan of Northlight lapsed on 5 Jan",
            "Nothing is lost",
        ),
    ],
)
def test_a_plan_that_never_was_or_ended_before_did_not_lapse_today(
    fields, title, text, northlight, priya
):
    account = AccountFactory.create(tenant=northlight.tenant, name="Northlight", **fields)
    TokenFactory.create(account=account, owner=priya.user, state=TokenState.PAUSED)
    (item,) = found(northlight, account)
    assert item.title.startswith(title)
    assert text in item.text


def test_an_unverified_address_is_told_wherever_its_token_is(token, vera, client_of):
    Account.objects.update(email_verified=False)
    browser = client_of(vera)
    for page in ("/", "/tokens/", "/members/"):
        assert "not verified" in browser.get(page).content.decode(), page
    assert ">Working<" not in browser.get("/tokens/").content.decode()


def test_what_was_settled_waits_for_nobody(
    northlight, account, ledger, token, add_entry, make_charge
):
    make_charge(98, refund_owed_at=ago(days=1), refunded_at=ago(hours=1))
    make_charge(98, state="matched", unidentified_at=ago(days=1), refunded_at=ago(hours=1))
    make_charge(42, state="matched")
    add_entry(-42, charge=make_charge(42))
    video(token, state="failed", hidden_at=ago(hours=1), finished_at=ago(hours=2))
    video(token, state="failed", finished_at=ago(days=30))
    video(token, state="failed", finished_at=ago(hours=2), origin="import", started_at=None)
    add_entry(-42, job=video(token, origin="import"))
    assert found(northlight, account) == []


def test_an_imported_video_that_fails_when_it_is_retried_here_needs_attention(
    northlight, account, ledger, token
):
    times = {"started_at": ago(hours=3), "finished_at": ago(hours=2)}
    video(token, state="failed", origin="import", **times)
    assert [row.kind for row in found(northlight, account)] == ["failed"]


def test_spending_from_before_the_account_was_added_needs_no_attention(
    northlight, account, add_entry
):
    add_entry(-96, ago(days=401))
    now = timezone.now()
    assert find_attention_items(northlight, [account.pk], now - timedelta(days=500), now) == []
