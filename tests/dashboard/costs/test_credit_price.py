"""The price per credit: set by who manages money, and what the team sees of it."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from dashboard.models import AuditEvent
from dashboard.shared.formatting import credits
from proxyapi.models import Account, CreditPack
from tests.factories import AccountFactory

HTMX = {"HX-Request": "true"}
ESTIMATE = "the service bills by its own prices"


@pytest.fixture
def url(account: Account) -> str:
    return reverse("credit-price", args=[account.pk])


def html(answer):
    return answer.content.decode()


def set_price(account: Account, amount: str, currency: str = "EUR") -> None:
    Account.objects.filter(pk=account.pk).update(
        price_per_credit=Decimal(amount), price_currency=currency
    )


def price_of(account: Account) -> str:
    account.refresh_from_db()
    return f"{credits(account.price_per_credit)} {account.price_currency}".strip()


def audit_changes():
    rows = AuditEvent.objects.order_by("position")
    return [(row.action, row.before, row.after) for row in rows]


def test_a_treasurer_sets_and_changes_it_and_the_audit_log_names_both(
    client_of, thea, account, url
):
    browser = client_of(thea)
    answer = browser.post(url, {"amount": "0.0125", "currency": "EUR"}, follow=True)
    assert "A credit is estimated at €0.0125." in html(answer)
    assert price_of(account) == "0.0125 EUR"
    browser.post(url, {"amount": "0.02", "currency": "CHF"})
    browser.post(url, {"amount": "0.020", "currency": "CHF"})  # the same price: no entry
    assert audit_changes() == [
        ("account.price", {}, {"price": "0.0125 EUR"}),
        ("account.price", {"price": "0.0125 EUR"}, {"price": "0.02 CHF"}),
    ]
    assert "Changed the price per credit" in html(client_of(thea).get("/audit/"))


def test_removing_it_needs_no_valid_field(client_of, thea, account, url):
    set_price(account, "0.0125")
    assert "Remove price" in html(client_of(thea).get(url, headers=HTMX))
    client_of(thea).post(url, {"remove": "1"})
    assert price_of(account) == ""
    assert audit_changes() == [("account.price", {"price": "0.0125 EUR"}, {})]
    assert "Remove price" not in html(client_of(thea).get(url, headers=HTMX))


@pytest.mark.parametrize("amount", ["", "0", "-1", "0,02", "1e-3", "0.0000001", "1000.01", "much"])
def test_a_price_that_cannot_be_read_is_refused_and_stays_in_the_field(
    client_of, thea, account, url, amount
):
    answer = client_of(thea).post(url, {"amount": amount, "currency": "GBP"})
    assert answer.status_code == 422
    shown = html(answer)
    assert "Enter a price above 0 and up to 1,000, with at most 6 decimal places" in shown
    assert not amount or f'value="{amount}"' in shown
    assert '<option value="GBP" selected>' in shown
    assert price_of(account) == ""


def test_an_unknown_currency_is_refused(client_of, thea, account, url):
    answer = client_of(thea).post(url, {"amount": "1", "currency": "XXX"})
    assert "Choose one from the list." in html(answer)
    assert price_of(account) == ""


def test_the_dialog_says_once_that_it_is_an_estimate_and_has_the_present_price(
    client_of, thea, account, url
):
    set_price(account, "0.0125", "GBP")
    dialog = html(client_of(thea).get(url, headers=HTMX))
    assert dialog.lstrip().startswith("<dialog")
    assert dialog.count(ESTIMATE) == 1
    assert 'value="0.0125"' in dialog
    assert '<option value="GBP" selected>' in dialog
    assert ESTIMATE not in html(client_of(thea).get("/costs/"))


def test_a_credit_pack_with_a_price_is_a_suggestion(client_of, thea, account, url):
    packs = CreditPack.objects
    given = {"tenant": account.tenant, "currency": "EUR"}
    large = packs.create(plan_id=1, name="Large", credits=3000, price=Decimal(40), **given)
    packs.create(plan_id=2, name="Free", credits=500, price=Decimal(0), **given)
    packs.create(plan_id=3, name="Unknown", credits=500, **given)
    dialog = html(client_of(thea).get(url, headers=HTMX))
    assert "3,000 cr for 40.00 EUR" in dialog
    assert "Use €0.013333" in dialog
    assert dialog.count("Use €") == 1
    filled = html(client_of(thea).get(f"{url}?pack={large.pk}", headers=HTMX))
    assert 'value="0.013333"' in filled
    assert '<option value="EUR" selected>' in filled
    assert price_of(account) == ""


def test_without_packs_there_is_no_suggestion(client_of, thea, url):
    assert "credit packs" not in html(client_of(thea).get(url, headers=HTMX))


def test_the_costs_page_has_the_price_for_all_and_the_button_for_who_manages_money(
    client_of, thea, vera, account, url
):
    assert "Set price" in html(client_of(thea).get("/costs/"))
    assert "Price per credit" not in html(client_of(vera).get("/costs/"))
    set_price(account, "0.0125")
    assert "Change price" in html(client_of(thea).get("/costs/"))
    shown = html(client_of(vera).get("/costs/"))
    assert '<span class="card__note">€0.0125</span>' in shown
    assert url not in shown


def test_each_account_has_its_own_price_and_saving_leads_back_to_it(
    client_of, thea, account, northlight
):
    other = AccountFactory.create(tenant=northlight.tenant)
    answer = client_of(thea).post(
        reverse("credit-price", args=[other.pk]), {"amount": "2", "currency": "USD"}
    )
    assert answer.url == f"/costs/?account={other.pk}"
    assert (price_of(account), price_of(other)) == ("", "2 USD")


@pytest.mark.parametrize(
    ("amount", "currency"), [(None, "EUR"), (Decimal(1), ""), (Decimal(0), "EUR")]
)
def test_the_database_refuses_half_a_price(account, amount, currency):
    with (
        pytest.raises(IntegrityError, match="account_price_with_currency"),
        transaction.atomic(),
    ):
        Account.objects.update(price_per_credit=amount, price_currency=currency)
    set_price(account, "0.000001")
