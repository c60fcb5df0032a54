"""Spend outside the portal is named once; then only days above its limit need attention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.models import (
    MAX_SOURCES_PER_ACCOUNT,
    AuditEvent,
    OutsideSource,
    annotate_outside_source,
)
from dashboard.operations.queries.unsettled_credits import load_unsettled_credits
from dashboard.overview.queries.attention import find_attention_items
from dashboard.reconciliation import outside_sources
from proxyapi.models import LedgerEntry

URL = "/reconciliation/"
VALID = {"name": "Nightly script", "text": "short", "via_api": "yes", "daily_limit": "50"}


def new_url(account) -> str:
    return f"/reconciliation/accounts/{account.pk}/outside-sources/new/"


def name_source(account, thea, **fields: Any) -> OutsideSource:
    values = {"name": "Nightly script", "text": "short", "daily_limit": 50, **fields}
    return OutsideSource.objects.create(account=account, created_by=thea.user, **values)


def source_of(entry) -> str | None:
    zone = entry.account.tenant.zone
    return (
        annotate_outside_source(LedgerEntry.objects.filter(pk=entry.pk), zone, "name").get().source
    )


@pytest.mark.parametrize(
    ("criteria", "fits"),
    [
        ({"text": "SHORT"}, True),
        ({"text": "faceless"}, True),  # the content type
        ({"text": "100%"}, False),
        ({"text": "s_ort"}, False),  # not a pattern
        ({"text": "", "via_api": True}, True),
        ({"text": "", "via_api": False}, False),
        ({"text": "", "from_hour": 23, "until_hour": 4}, True),  # 01:30 in Berlin
        ({"text": "", "from_hour": 0, "until_hour": 1}, False),
        ({"text": "", "from_hour": 1, "until_hour": 2}, True),
        ({"text": "", "from_hour": 2, "until_hour": 1}, False),
        ({"text": "short", "via_api": False}, False),
    ],
)
def test_a_debit_belongs_to_a_source_whose_criteria_it_meets(
    account, thea, add_entry, criteria, fits
):
    account.tenant.time_zone = "Europe/Berlin"
    account.tenant.save()
    at = datetime(2024, 11, 20, 0, 30, tzinfo=UTC)
    entry = add_entry(-5, at, label="Short 17", content_type="Faceless Video", via_api=True)
    name_source(account, thea, **criteria)
    assert source_of(entry) == ("Nightly script" if fits else None)


def test_the_first_of_two_sources_has_the_debit(account, thea, add_entry):
    entry = add_entry(-5, label="Short 17")
    name_source(account, thea)
    name_source(account, thea, name="Another", text="17")
    assert source_of(entry) == "Nightly script"


def found(account):
    now = timezone.now()
    items = find_attention_items(account.tenant.team, [account.pk], now - timedelta(days=20), now)
    outside = [item for item in items if item.kind == "outside"]
    return [
        f"{item.title}: {' '.join(item.text.split()[:2])}{named(item.text)}" for item in outside
    ]


def named(text):
    _, above, source = text.partition(" Above the daily limit: ")
    return f", {source}" if above else ""


def test_a_named_source_needs_attention_above_its_daily_limit_alone(account, thea, add_entry):
    noon = timezone.now().replace(hour=12) - timedelta(days=3)
    add_entry(-30, noon, label="Short 1")
    add_entry(-20, noon + timedelta(minutes=5), label="Short 2")
    add_entry(-51, noon - timedelta(days=1), label="Short 3")
    add_entry(-7, noon, label="Somebody")
    assert found(account) == ["108 cr spent outside the portal: 4 entries"]

    source = name_source(account, thea)
    above = ", “Nightly script”."
    assert found(account) == [f"58 cr spent outside the portal: 2 entries{above}"]
    money = load_unsettled_credits(account.tenant.team, timezone.now())
    assert (money.outside, money.outside_count) == (58, 2)

    OutsideSource.objects.filter(pk=source.pk).update(daily_limit=51)
    assert found(account) == ["7 cr spent outside the portal: One entry"]
    name_source(account, thea, name="Colleague", text="somebody", daily_limit=7)
    assert found(account) == []
    money = load_unsettled_credits(account.tenant.team, timezone.now())
    assert (money.outside, money.outside_count) == (0, 0)


def test_the_overview_says_which_source_is_above_its_limit(
    client_of, vera, account, thea, add_entry
):
    name_source(account, thea)
    add_entry(-20, label="Short 1")
    assert "spent outside the portal" not in client_of(vera).get("/").content.decode()
    add_entry(-31, label="Short 2")
    shown = client_of(vera).get("/").content.decode()
    assert "51 cr spent outside the portal" in shown
    assert "Above the daily limit: “Nightly script”." in shown


def test_a_debit_is_named_from_its_own_page(client_of, thea, account, add_entry, set_checkpoint):
    """The dialog suggests the text and source of the debit; then it has the name everywhere."""
    entry = add_entry(-12, label="Short 1", via_api=True)
    set_checkpoint(88, opening=100)
    browser = client_of(thea)
    page = browser.get(f"/ledger/{account.pk}/{entry.position}/").content.decode()
    assert f'href="{new_url(account)}?position=0"' in page
    dialog = browser.get(new_url(account), {"position": 0}).content.decode()
    assert 'value="Short 1"' in dialog and '<option value="yes" selected>' in dialog

    answer = browser.post(new_url(account), VALID, follow=True)
    assert "1 debit in 30 days, 12 cr in total, 12 cr on the highest day." in (
        answer.content.decode()
    )
    event = AuditEvent.objects.get(action="outside_source.add")
    assert (event.after["name"], event.after["daily_limit"]) == ("Nightly script", "50")
    for url in (URL, "/ledger/", f"/ledger/{account.pk}/{entry.position}/"):
        assert "Nightly script" in browser.get(url).content.decode(), url
    assert "Name this spend" not in browser.get(f"/ledger/{account.pk}/0/").content.decode()


def test_a_name_is_changed_and_removed(client_of, thea, account, add_entry, set_checkpoint):
    add_entry(-12, label="Short 1", via_api=True)
    set_checkpoint(88, opening=100)
    source = name_source(account, thea, via_api=True, from_hour=22, until_hour=4)
    browser, url = client_of(thea), f"/reconciliation/outside-sources/{source.pk}/"
    dialog = browser.get(url).content.decode()
    for part in ('value="Nightly script"', '<option value="22" selected>', 'value="50"'):
        assert part in dialog
    browser.post(url, {**VALID, "daily_limit": "1,000"})
    source.refresh_from_db()
    assert (source.daily_limit, source.from_hour, source.via_api) == (1000, None, True)
    event = AuditEvent.objects.get(action="outside_source.change")
    assert (event.before["from_hour"], event.after["from_hour"]) == ("22", "")
    browser.post(f"{url}removals/")
    assert not OutsideSource.objects.exists()
    assert AuditEvent.objects.get(action="outside_source.remove").before["name"] == "Nightly script"
    assert found(account) == ["12 cr spent outside the portal: One entry"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"name": ""}, "Enter a name."),
        ({"text": "", "via_api": ""}, outside_sources.NO_CRITERION),
        ({"from_hour": "3"}, outside_sources.ONE_HOUR_MISSING),
        ({"from_hour": "3", "until_hour": "3"}, outside_sources.EQUAL_HOURS),
        ({"from_hour": "24", "until_hour": "3"}, "Choose one from the list."),
        ({"daily_limit": ""}, "Enter a whole number of credits from 0 to 9,999,999"),
        ({"daily_limit": "-1"}, "Enter a whole number of credits from 0 to 9,999,999"),
        ({"via_api": "perhaps"}, "Choose one from the list."),
        ({"name": "Batch"}, outside_sources.NAME_TAKEN),
        ({"text": "x" * 101}, "At most 100 characters are allowed (now 101)."),
    ],
)
def test_bad_input_is_answered_with_a_sentence_and_kept(client_of, thea, account, wrong, sentence):
    name_source(account, thea, name="Batch")
    answer = client_of(thea).post(new_url(account), {**VALID, **wrong})
    assert answer.status_code == 422
    shown = answer.content.decode()
    assert sentence in shown
    assert wrong.get("text", "short") in shown
    assert OutsideSource.objects.count() == 1


def test_an_account_has_so_many_sources_at_most(client_of, thea, account):
    for number in range(MAX_SOURCES_PER_ACCOUNT):
        name_source(account, thea, name=f"Script {number}")
    answer = client_of(thea).post(new_url(account), VALID)
    assert outside_sources.TOO_MANY in answer.content.decode()
    assert OutsideSource.objects.count() == MAX_SOURCES_PER_ACCOUNT


def test_what_fits_every_debit_is_refused_by_the_database(account, thea):
    for fields in ({"text": ""}, {"from_hour": 3}, {"from_hour": 3, "until_hour": 3}):
        with pytest.raises(IntegrityError), transaction.atomic():
            name_source(account, thea, **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        name_source(account, thea, daily_limit=Decimal("-0.1"))


def test_what_is_not_outside_has_no_name(
    client_of, vera, thea, account, add_entry, make_charge, set_checkpoint
):
    add_entry(-12, charge=make_charge(12), label="Short of a charge")
    add_entry(100, label="Short credits")
    set_checkpoint(88, opening=0)
    name_source(account, thea)
    assert "Nightly script" not in client_of(vera).get("/ledger/").content.decode()
