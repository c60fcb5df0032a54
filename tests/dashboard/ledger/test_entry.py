"""One entry: the service's own words beside what we found out, and nobody else's."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi.models import ApiCall, CallOutcome, LedgerConflict, LedgerEntry
from tests.dashboard.ledger.conftest import days_ago
from tests.factories import EntryFactory


def address(entry: LedgerEntry) -> str:
    return f"/ledger/{entry.account_id}/{entry.position}/"


def shown(browser, entry: LedgerEntry) -> str:
    answer = browser.get(address(entry))
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_entry_keeps_the_services_own_words(add_entry, client_of, thea):
    """pitfall_60: the signed string is not made pretty."""
    entry = add_entry("-0.6800", transaction_type="Debit", booked_at="2026-11-20T12:00:00+01:00")
    html = shown(client_of(thea), entry)
    for word in ("-0.6800", "Faceless video", "ai-visuals", "2026-11-20T12:00:00+01:00", "Debit"):
        assert word in html
    assert "\N{MINUS SIGN}0.68" in html  # the figure, for people


def test_an_entry_leads_to_its_charge_job_and_member(add_entry, client_of, thea):
    entry = add_entry()
    ApiCall.objects.create(
        tenant=entry.account.tenant, token=entry.charge.token, operation="faceless.render",
        outcome=CallOutcome.ANSWERED, status=202, milliseconds=640, sent_at=entry.charge.sent_at,
    )  # fmt: skip
    html = shown(client_of(thea), entry)
    assert f"/videos/{entry.job_id}/" in html
    assert f"/ledger/?job={entry.job_id}&amp;period=all" in html
    assert f"/ledger/?member={entry.member_id}" in html
    assert "The amount fits this charge alone." in html
    for word in ("Certain", "Confirmed", str(entry.charge_id), "202", "640 ms", "Priya&#x27;s"):
        assert word in html, word


def test_a_call_that_left_long_after_is_another_one(add_entry, client_of, thea):
    entry = add_entry()
    ApiCall.objects.create(
        tenant=entry.account.tenant, token=entry.charge.token, operation="faceless.render",
        outcome=CallOutcome.ANSWERED, status=202, milliseconds=640, sent_at=timezone.now(),
    )  # fmt: skip
    assert "640 ms" not in shown(client_of(thea), entry)


def test_a_debit_and_its_refund_lead_to_each_other(add_entry, client_of, thea):
    debit = add_entry()
    given = {name: getattr(debit, name) for name in ("account", "charge", "member", "job")}
    refund = EntryFactory.create(
        **given, credit_spend="+96", amount=Decimal(96), label="Refund", confidence="certain"
    )
    browser = client_of(thea)
    assert "Refunded by" in shown(browser, debit)
    assert address(refund) in shown(browser, debit)
    assert "Refund of" in shown(browser, refund)
    assert address(debit) in shown(browser, refund)


def test_what_is_outside_the_portal_says_so(add_entry, client_of, thea):
    html = shown(client_of(thea), add_entry(by=None))
    assert "Outside the portal" in html
    assert "another program" in html


def test_an_entry_the_service_changed_shows_both_versions(add_entry, client_of, thea):
    entry = add_entry()
    LedgerConflict.objects.create(
        account=entry.account, position=entry.position,
        before={"credit_spend": "-96"}, after={"credit_spend": "-42"},
    )  # fmt: skip
    html = shown(client_of(thea), entry)
    assert "credit_spend -96" in html
    assert "credit_spend -42" in html


@pytest.mark.parametrize("position", [1, 99, 2**70])
def test_a_place_that_no_row_has_does_not_exist(position, add_entry, client_of, thea):
    entry = add_entry()
    assert client_of(thea).get(f"/ledger/{entry.account_id}/{position}/").status_code == 404


def test_a_hidden_video_is_named_and_not_linked(add_entry, client_of, thea):
    entry = add_entry()
    entry.job.hidden_at = days_ago(hours=1)
    entry.job.save()
    html = shown(client_of(thea), entry)
    assert "How to read a glacier" in html
    assert f"/videos/{entry.job_id}/" not in html
