"""The costs page: the service's list as it is, what was paid, and honest when there is nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dashboard.costs.queries import build_list_prices
from tests.factories import AccountFactory, TokenFactory

URL = "/costs/"
LIST = {"content_prompt_requested": {"credits": 4, "free": 10}, "CHARACTER_TRAIN": {"credits": 10}}


def page(client_of, reader, query=""):
    answer = client_of(reader).get(f"{URL}{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_pitfall_59_known_keys_have_names_in_any_case():
    assert [(one.name, one.credits, one.free) for one in build_list_prices(LIST)] == [
        ("Character training", 10, 0),
        ("Script", 4, 10),
    ]


@pytest.mark.parametrize("row", [None, 4, "4", [], {}, {"credits": "much", "free": None}])
def test_a_row_that_cannot_be_read_has_no_price(row):
    (one,) = build_list_prices({"NEW_THING": row})
    assert (one.name, one.credits, one.free) == ("New thing", None, 0)


def test_pitfall_57_free_uses_are_shown_and_the_number_left_is_not(client_of, vera, account, token):
    account.costs = LIST
    account.save()
    shown = page(client_of, vera)
    assert "The service does not show how many free uses are left." in shown


def test_what_was_paid_and_how_close_it_was(client_of, vera, make_charge):
    make_charge(101, quote=Decimal(96))
    make_charge(93, quote=Decimal(96))
    shown = page(client_of, vera)
    assert "93 to 101" in shown
    assert "−4 to +6 %" in shown


def test_without_charges_nothing_is_made_up(client_of, vera, account, token):
    shown = page(client_of, vera)
    assert "No charges since" in shown
    assert "Nothing to compare yet" in shown
    assert "The list has not been read yet" in shown


def test_the_page_takes_twelve_queries(client_of, vera, make_charge, django_assert_max_num_queries):
    make_charge(96, quote=Decimal(96))
    browser = client_of(vera)
    browser.get(URL)
    with django_assert_max_num_queries(12):
        browser.get(URL)


def test_each_account_has_its_own_list(client_of, vera, northlight, account, token, priya):
    costs = {"IDEA_DISCOVERY": {"credits": 15}}
    other = AccountFactory.create(tenant=northlight.tenant, costs=costs)
    TokenFactory.create(account=other, owner=priya.user)
    assert "Idea search" not in page(client_of, vera, f"?account={account.pk}")
    assert "Idea search" in page(client_of, vera, f"?account={other.pk}")


def test_the_list_of_another_team_does_not_exist(client_of, otto, account, token):
    assert client_of(otto).get(f"{URL}?account={account.pk}").status_code == 404


def test_a_team_without_an_account_sees_that_it_has_none(client_of, otto):
    assert "No account yet" in page(client_of, otto)
