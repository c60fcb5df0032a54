"""A search: sent at once, once for each form, at the shown price, within the budgets."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, AuditEvent, Budget, Membership
from proxyapi.models import Account, Charge, ChargeState, Token, TokenState
from proxyapi.models.charge import NEVER_CHARGED_CODE
from tests.dashboard.budgets.conftest import drawn_form_fields
from tests.dashboard.ideas.conftest import HTMX, Browser, make_ideas, make_search, text_of

SEARCHES, CHECK = "/ideas/searches/", "/ideas/searches/check/"


def form(**fields: str) -> dict[str, str]:
    usual = {"nonce": str(uuid.uuid4()), "price": "15", "keyword": "lakes", "network": "youtube"}
    return {**usual, **fields}


def check(browser: Any, **words: str) -> str:
    return text_of(browser.get(CHECK, {"keyword": "lakes", "network": "youtube", **words}))


def test_a_search_is_written_with_its_hold_before_anything_is_sent(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    response = client_of(priya).post(SEARCHES, form(keyword="  salt   lakes "))
    assert (response.status_code, response.url) == (302, "/ideas/")
    charge = Charge.objects.get()
    assert (charge.state, charge.hold, charge.quote) == (ChargeState.HELD, 15, 15)
    assert charge.body == {"keyword": "salt lakes", "network": "youtube"}
    assert (charge.job, charge.token, charge.member) == (None, token, priya.user)
    assert AuditEvent.objects.filter(action="charge.create").count() == 1


def test_a_form_that_is_sent_twice_is_one_charge(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    browser, same = client_of(priya), form()
    for _ in range(2):
        assert browser.post(SEARCHES, same).status_code == 302
    assert Charge.objects.count() == 1


@pytest.mark.parametrize(
    ("state", "keyword"),
    [
        (ChargeState.HELD, "lakes"),
        (ChargeState.SENDING, "LAKES"),
        (ChargeState.UNKNOWN, " lakes "),
    ],
)
def test_the_same_search_in_two_tabs_is_one_charge(
    state: ChargeState, keyword: str, client_of: Browser, token: Token, priya: Membership
) -> None:
    browser = client_of(priya)
    browser.post(SEARCHES, form())
    Charge.objects.update(state=state, sent_at=timezone.now())
    response = browser.post(SEARCHES, form(keyword=keyword))
    assert response.status_code == 422
    assert "already in progress. Nothing was sent twice." in text_of(response)
    assert Charge.objects.count() == 1
    assert browser.post(SEARCHES, form(network="tiktok")).status_code == 302


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"keyword": ""}, "Enter a keyword."),
        ({"keyword": "a"}, "At least 2 characters are required (now 1)."),
        ({"keyword": "x" * 101}, "At most 100 characters are allowed (now 101)."),
        ({"keyword": "la\tkes"}, "It contains an invisible character."),
        ({"keyword": "la\x00kes"}, "It contains an invisible character."),
        ({"keyword": "la\u202ekes"}, "It contains an invisible character."),
        ({"network": "myspace"}, "Choose one from the list."),
        ({"network": "other"}, "Enter the network as the service calls it."),
        ({"network": "other", "other_network": "x" * 61}, "At most 60 characters"),
        ({"price": "14"}, "Not sent. The price was 14 cr and is 15 cr now"),
        ({"price": "x"}, "the price in this form is missing or damaged"),
        ({"nonce": "x"}, "the form key in this form is missing or damaged"),
    ],
)
def test_bad_input_ends_in_a_sentence_and_charges_nothing(
    fields: dict[str, str], sentence: str, client_of: Browser, token: Token, priya: Membership
) -> None:
    response = client_of(priya).post(SEARCHES, form(**fields))
    assert response.status_code == 422
    assert sentence in text_of(response)
    assert not Charge.objects.exists()


def test_another_network_is_sent_as_it_was_entered_and_offered_from_then_on(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    browser = client_of(priya)
    browser.post(SEARCHES, form(network="other", other_network="Threads"))
    assert Charge.objects.get().body["network"] == "Threads"
    make_ideas(token.account, "Deep lakes", network="Threads")
    assert 'value="Threads"' in text_of(browser.get("/ideas/"))


def test_the_price_comes_from_the_cost_map(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    Account.objects.update(costs={"IDEA_DISCOVERY": {"credits": 21}})
    page = text_of(client_of(priya).get("/ideas/"))
    assert '<span class="btn__price">21 cr</span>' in page and 'value="21"' in page
    assert client_of(priya).post(SEARCHES, form(price="21")).status_code == 302
    assert Charge.objects.get().hold == 21


def test_without_enough_credits_nothing_is_sent(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    Account.objects.update(balance=Decimal(9))
    assert "Not enough credits: 9 cr free; 15 would be held." in check(client_of(priya))
    response = client_of(priya).post(SEARCHES, form())
    assert "Not sent. It needs 15 cr; 9 are free." in text_of(response)
    assert not Charge.objects.exists()


def test_over_budget_an_approval_is_requested(
    client_of: Browser, token: Token, priya: Membership, thea: Membership
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=10)
    browser = client_of(priya)
    shown = check(browser)
    assert "Request approval" in shown and ">Search</span>" not in shown
    refused = browser.post(SEARCHES, form())
    assert refused.status_code == 422 and "Request approval" in text_of(refused)
    assert browser.post(SEARCHES, form(ask="1")).status_code == 302
    assert Charge.objects.get().state == ChargeState.DRAFT
    assert ApprovalRequest.objects.count() == 1
    assert "15 cr were requested." in text_of(browser.get("/ideas/"))


def test_who_has_no_token_is_told_to_add_one(client_of: Browser, priya: Membership) -> None:
    browser = client_of(priya)
    page = text_of(browser.get("/ideas/"))
    assert "You have no token yet." in page and "Add a token" in page
    assert "disabled" in page
    assert "You have no token yet." in text_of(browser.post(SEARCHES, form()))


def test_a_trial_is_told_that_the_service_takes_paid_plans_only(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    Token.objects.update(state=TokenState.PAUSED)
    Account.objects.update(plan="trial")
    assert "paid plans only, not on trials" in check(client_of(priya))


def test_what_is_owned_already_is_told_while_one_types(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    make_ideas(token.account, "Deep lakes", "Salt lakes")
    make_search(token, "Lakes")
    browser = client_of(priya)
    shown = check(browser)
    assert "You own <b>2 ideas for “lakes”</b> already (free)." in shown
    assert 'href="/ideas/?keyword=lakes#ideas"' in shown
    assert re.search(r"Searched \d\d:\d\d by Priya. Searching again is charged again.", shown)
    assert "No idea for “<bdi>seas</bdi>” yet." in check(browser, keyword="seas")
    assert "charged again" not in check(browser, network="tiktok")
    Charge.objects.update(sent_at=timezone.now() - timedelta(hours=25))
    assert "charged again" not in check(browser)
    assert "Nothing is charged until you press Search." in check(browser, keyword="l")


def test_what_runs_or_is_unknown_cannot_be_searched_again(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    search = make_search(token, "lakes", state=ChargeState.SENDING, cost=None, settled_at=None)
    browser = client_of(priya)
    assert "This search is running." in check(browser)
    Charge.objects.update(state=ChargeState.UNKNOWN)
    shown = check(browser)
    assert search.sent_at is not None
    until = timezone.localtime(search.sent_at + timedelta(minutes=15))
    assert re.search(rf"Wait for the ledger, at the latest by .*{until:%H:%M}, or look at", shown)
    assert " disabled" in shown
    assert " disabled" not in check(browser, keyword="seas")


def test_the_services_sentence_about_a_network_is_shown_beside_the_same_search(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    words = "The service does not accept the network: “The selected network is invalid.”"
    make_search(token, "lakes", "threads", state=ChargeState.REFUSED, status=422, cost=None,
                reason=f"{words} Nothing was charged.")  # fmt: skip
    browser = client_of(priya)
    assert words in check(browser, network="other", other_network="threads")
    assert words in text_of(browser.get("/ideas/"))


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        (
            {"state": "held", "cost": None, "settled_at": None, "sent_at": None},
            ["Started ", "You can leave this page", "15 <abbr", "held", "1 running"],
        ),
        (
            {"state": "held", "cost": None, "settled_at": None, "reason": "The limit is used up."},
            ["The limit is used up.", "held", "1 waiting"],
        ),
        (
            {"state": "sending", "cost": None, "settled_at": None},
            ["You can leave this page", "1 min 30 s</span>, 2 min at most", "1 running"],
        ),
        (
            {"state": "unknown", "cost": None, "settled_at": None},
            ["It may have cost 15 cr. Look at what you own first", "0 or 15",
             "it will not be sent again by itself", "Look at the ideas you own</span>",
             "1 unknown"],
        ),
        ({"state": "confirmed", "cost": 0}, ["It found nothing and was free."]),
        ({"state": "refused", "status": 404}, ["It found nothing and was free."]),
        ({"state": "confirmed"}, ["No new idea: all were in the list before. 15 cr."]),
        ({"state": "matched", "booked_at": timezone.now()}, ["It was charged: 15 cr, ledger "]),
        (
            {"state": "refused", "code": NEVER_CHARGED_CODE},
            ["It was never charged. The 15 cr held are free again."],
        ),
        (
            {"state": "refused", "status": 403, "reason": "The plan lapsed. Nothing was charged."},
            ["The plan lapsed. Nothing was charged."],
        ),
    ],
)  # fmt: skip
def test_each_state_of_a_search_has_its_sentence(
    fields: dict[str, Any], texts: list[str], client_of: Browser, token: Token, priya: Membership
) -> None:
    make_search(token, "lakes", **fields)
    shown = text_of(client_of(priya).get(SEARCHES, headers=HTMX))
    assert [text for text in texts if text not in shown] == []


def test_a_search_tells_how_many_new_ideas_it_found_and_how_long_searches_take(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    for number in range(5):
        make_search(token, f"lakes {number}", created_at=timezone.now() - timedelta(hours=3),
                    settled_at=timezone.now() - timedelta(hours=2, minutes=1),
                    sent_at=timezone.now() - timedelta(hours=2, minutes=1, seconds=30))  # fmt: skip
    make_ideas(token.account, "Deep", "Salt", charge=make_search(token, "salt lakes"))
    make_search(token, "seas", state=ChargeState.SENDING, cost=None, settled_at=None)
    shown = text_of(client_of(priya).get(SEARCHES, headers=HTMX))
    assert "2 new ideas, 15 cr. Sent" in shown
    assert "usually 30 s, 2 min at most" in shown
    assert "5 earlier searches in the last 24 hours, 75 cr" in shown


def test_searches_alone_without_htmx_are_the_page(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    response = client_of(priya).get(SEARCHES)
    assert (response.status_code, response.url) == (302, reverse("ideas"))


def test_an_approver_reads_what_is_searched_and_the_search_is_sent_at_the_present_price(
    client_of: Browser, token: Token, priya: Membership, thea: Membership
) -> None:
    Budget.objects.create(team=priya.team, member=priya.user, hard=10)
    client_of(priya).post(SEARCHES, form(ask="1"))
    approval = ApprovalRequest.objects.get()
    approver = client_of(thea)
    assert "To search for ideas on “lakes”." in text_of(approver.get("/budgets/"))
    url = reverse("approval-request-approvals", args=[approval.pk])
    drawn = drawn_form_fields(approver.get(url, headers=HTMX))
    Account.objects.update(costs={"idea_discovery": {"credits": 12}})
    approver.post(url, {"how": "once", "drawn": drawn})
    charge = Charge.objects.get()
    assert (charge.state, charge.hold) == (ChargeState.HELD, 12)
