"""Changing the top-up from its page: legal values, one question, one row, its audit."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEvent, Membership
from dashboard.top_up.queries.state import displayed_setting, load_top_up_facts
from proxyapi.models import (
    Account,
    AccountPlan,
    AutoTopUp,
    CreditPack,
    TopUpChange,
    TopUpChangeState,
)
from proxyapi.top_up import TopUpSetting
from tests.dashboard.top_up.conftest import (
    HTMX,
    ON,
    ClientOf,
    confirm_change,
    form_data,
    visible_text_of,
)

CHANGES, PAGE = "/top-up/changes/", "/top-up/"


def test_a_change_that_ends_while_its_page_is_drawn_is_shown_with_what_it_left(
    account: Account, thea: Membership
) -> None:
    """The account with its setting was read before; the form would show that, and stay so."""
    read_before = Account.objects.select_related("tenant", "top_up").get(pk=account.pk)
    saved = TopUpSetting(True, "dynamic-credits", None, 50)
    AutoTopUp.objects.update(**saved.to_dict())
    TopUpChange.objects.create(
        account=account,
        token=account.tokens.get(),
        member=thea.user,
        nonce=uuid.uuid4(),
        seen=ON.to_request_body(),
        wanted=saved.to_request_body(),
        state=TopUpChangeState.SAVED,
    )
    assert displayed_setting(load_top_up_facts(read_before, [read_before])) == saved


@pytest.fixture
def browser(thea: Membership, account: Account, client_of: ClientOf) -> Client:
    return client_of(thea)


def ask(browser: Client, account: Account, **changed: Any) -> Any:
    """The question alone, as htmx fetches it."""
    return browser.get(CHANGES, form_data(account, **changed), headers=HTMX)


def test_the_question_names_the_credits_and_whose_money_buys_them(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    question = visible_text_of(ask(browser, account))
    assert "Change automatic top-up?" in question and "Type " not in question
    assert "+5,000 cr" in question and "+15,000 cr" in question
    assert "the payment method saved there without asking again" in question
    assert (enqueued, TopUpChange.objects.count()) == ([], 0)


def test_yes_makes_one_row_enqueues_a_task_and_is_audited(
    browser: Client, account: Account, thea: Membership, enqueued: list[str]
) -> None:
    answer = confirm_change(browser, account)
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}?account={account.pk}")
    change = TopUpChange.objects.get()
    assert enqueued == [str(change.pk)]
    assert TopUpSetting.from_mapping(change.wanted) == TopUpSetting(
        True, "dynamic-credits", None, 50
    )
    audit = AuditEvent.objects.get()
    assert (audit.action, audit.actor_id, audit.target) == (
        "top_up.change",
        str(thea.user_id),
        str(account.pk),
    )
    assert TopUpSetting.from_mapping(audit.before) == ON
    page = visible_text_of(browser.get(PAGE))
    assert "Saving, waiting for the service." in page
    assert "Requested by Thea at" in page


def test_while_it_is_saved_the_form_rests_and_shows_what_was_asked_for(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    confirm_change(browser, account)
    html = browser.get(PAGE).content.decode()
    assert 'value="50" checked' in html
    assert 'aria-busy="true"' in html and "disabled" in html
    assert "changed while this page was open" not in html


@pytest.mark.parametrize(
    ("state", "reason", "shown"),
    [
        (TopUpChangeState.SAVED, "Saved. Top-up is on, 5,000 cr per top-up.", "Saved."),
        (TopUpChangeState.REFUSED, "Not saved. No saved payment method.", "Not saved."),
        (TopUpChangeState.UNKNOWN, "The answer got lost.", "We do not know yet"),
    ],
)
def test_what_became_of_it_stands_above_the_page_and_in_the_history(
    state: TopUpChangeState,
    reason: str,
    shown: str,
    browser: Client,
    account: Account,
    enqueued: list[str],
) -> None:
    confirm_change(browser, account)
    ended = None if state == TopUpChangeState.UNKNOWN else timezone.now()
    TopUpChange.objects.update(state=state, reason=reason, settled_at=ended)
    page = visible_text_of(browser.get(PAGE))
    assert shown in page
    assert "Thea Lindqvist On, 2,000 cr per top-up On, 5,000 cr per top-up" in page


def test_pitfall_69_switching_off_keeps_the_rest_and_says_so(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    assert "Turn off automatic top-up?" in visible_text_of(ask(browser, account, enabled=None))
    confirm_change(browser, account, enabled=None, units="nonsense", type=None)
    wanted = TopUpSetting.from_mapping(TopUpChange.objects.get().wanted)
    assert wanted.to_request_body() == {"enabled": False}
    assert TopUpSetting.from_mapping(AuditEvent.objects.get().after) == TopUpSetting(
        False, "dynamic-credits", None, 20
    )
    assert "Turning it off changes nothing else." in visible_text_of(browser.get(PAGE))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"units": "7"}, "Choose how many units each top-up buys."),
        ({"units": None}, "Choose how many units each top-up buys."),
        ({"more": "100"}, "Enter a whole number of units from 101 to 199,999."),
        ({"more": "200000"}, "Enter a whole number of units from 101 to 199,999."),
        ({"more": "1.5"}, "Enter a whole number of units from 101 to 199,999."),
        ({"more": "1e3"}, "Enter a whole number of units from 101 to 199,999."),
        ({"more": "15,0"}, "Enter a whole number of units from 101 to 199,999."),
        ({"more": "\u0661\u0665\u0660"}, "Enter a whole number of units from 101 to 199,999."),
        ({"type": "extra-credits"}, "Choose a pack."),
        ({"type": "extra-credits", "plan_id": "999"}, "Choose a pack."),
        ({"type": None}, "Choose what a top-up buys."),
    ],
)
def test_pitfall_72_what_is_not_legal_is_said_beside_its_field_and_not_sent(
    changed: dict[str, Any], sentence: str, browser: Client, account: Account, enqueued: list[str]
) -> None:
    for answer in (ask(browser, account, **changed), confirm_change(browser, account, **changed)):
        assert sentence in visible_text_of(answer)
    assert confirm_change(browser, account, **changed).status_code == 422
    assert (enqueued, TopUpChange.objects.count()) == ([], 0)
    retargeted = ask(browser, account, **changed)
    assert retargeted["HX-Retarget"] == "#top-up-setting"


@pytest.mark.parametrize("more", ["101", "150", "199,999"])
def test_a_typed_number_goes_before_a_chosen_one(
    more: str, browser: Client, account: Account, enqueued: list[str]
) -> None:
    units = int(more.replace(",", ""))
    confirm_change(browser, account, more=more, credits=f"{100 * units:,}")
    assert TopUpChange.objects.get().wanted["units"] == units


@pytest.mark.parametrize("typed", ["", "1999990", "199999", "yes"])
def test_an_amount_far_above_the_setting_now_is_typed_to_confirm_it(
    typed: str, browser: Client, account: Account, enqueued: list[str]
) -> None:
    assert "Type 19,999,900 to confirm" in visible_text_of(ask(browser, account, more="199999"))
    answer = confirm_change(browser, account, more="199999", credits=typed)
    assert answer.status_code == 422
    assert "Type the credits that each top-up buys" in visible_text_of(answer)
    assert (enqueued, TopUpChange.objects.count()) == ([], 0)


def test_an_amount_near_that_of_the_setting_now_is_not_typed_again(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    now = TopUpSetting(True, "dynamic-credits", None, 150)
    AutoTopUp.objects.update(**now.to_dict())
    confirm_change(browser, account, seen=now, more="400")
    assert TopUpChange.objects.get().wanted["units"] == 400


def test_a_top_up_that_is_off_is_turned_on(browser: Client, account: Account) -> None:
    off = TopUpSetting(False, "dynamic-credits", None, 20)
    AutoTopUp.objects.update(**off.to_dict())
    assert "Turn on automatic top-up?" in visible_text_of(ask(browser, account, seen=off))


def test_pitfall_71_a_pack_sends_its_plan_id_alone(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    CreditPack.objects.create(
        tenant=account.tenant, plan_id=301, name="Small", credits=500, price=9, currency="EUR"
    )
    question = visible_text_of(ask(browser, account, type="extra-credits", plan_id="301"))
    assert "+500 cr" in question and "9.00 EUR" in question
    confirm_change(browser, account, type="extra-credits", plan_id="301")
    body = TopUpSetting.from_mapping(TopUpChange.objects.get().wanted).to_request_body()
    assert body == {"enabled": True, "type": "extra-credits", "plan_id": 301}


def test_two_presses_of_one_button_are_one_change(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    nonce = uuid.uuid4()
    confirm_change(browser, account, nonce=nonce)
    confirm_change(browser, account, nonce=nonce)
    assert (len(enqueued), AuditEvent.objects.count()) == (1, 1)


def test_of_two_treasurers_at_once_the_second_sees_it_and_sends_nothing(
    browser: Client, account: Account, mira: Membership, client_of: ClientOf, enqueued: list[str]
) -> None:
    confirm_change(browser, account)
    answer = confirm_change(client_of(mira), account, units="10")
    assert answer.status_code == 422
    assert "A change of this top-up is already being saved." in visible_text_of(answer)
    assert len(enqueued) == 1


def test_a_form_without_its_nonce_or_with_a_broken_memory_is_refused(
    browser: Client, account: Account
) -> None:
    for nonce in ("x", ""):
        answer = confirm_change(browser, account, nonce=nonce)
        assert answer.status_code == 422
        assert "the form key in this form is missing or damaged" in visible_text_of(answer)
    assert not TopUpChange.objects.exists()
    broken = {**form_data(account), "seen": "{", "nonce": uuid.uuid4()}
    answer = browser.post(CHANGES, broken)
    assert answer.status_code == 422
    assert "This form has expired." in visible_text_of(answer)


@pytest.mark.parametrize("plan", [AccountPlan.TRIAL, AccountPlan.NONE])
def test_without_a_paid_plan_the_question_answers_with_the_reason(
    plan: AccountPlan, browser: Client, account: Account, enqueued: list[str]
) -> None:
    Account.objects.update(plan=plan)
    answer = confirm_change(browser, account)
    assert answer.status_code == 422
    assert "Not saved." in visible_text_of(answer) and "plan" in visible_text_of(answer)
    assert enqueued == []


def test_another_teams_owner_finds_no_account_to_change(
    account: Account, otto: Membership, client_of: ClientOf
) -> None:
    assert confirm_change(client_of(otto), account).status_code == 404
    assert not TopUpChange.objects.exists()


def test_packs_are_kept_and_let_go_and_both_are_written_down(
    browser: Client, account: Account
) -> None:
    """pitfall_74: no endpoint lists packs, so a person enters the plan ids."""
    new = {"plan_id": "302", "name": "Medium", "credits": "1,000", "price": "", "currency": "USD"}
    added = browser.post(reverse("credit-packs"), {**new, "account": account.pk})
    assert added.status_code == 302
    again = browser.post(reverse("credit-packs"), {**new, "account": account.pk})
    assert "A pack with this plan ID already exists." in visible_text_of(again)
    pack = CreditPack.objects.get()
    assert "1,000 cr, plan id 302" in visible_text_of(browser.get(PAGE))
    browser.post(reverse("credit-pack-removals", args=[pack.pk]), {"account": account.pk})
    assert not CreditPack.objects.exists()
    actions = AuditEvent.objects.order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["credit_pack.add", "credit_pack.remove"]


def test_a_pack_that_nobody_described_stays_choosable_while_it_is_set(
    browser: Client, account: Account, enqueued: list[str]
) -> None:
    seen = TopUpSetting(True, "extra-credits", 777, None)
    AutoTopUp.objects.update(**seen.to_dict())
    assert "whose number of credits is not set" in visible_text_of(browser.get(PAGE))
    confirm_change(browser, account, seen=seen, type="extra-credits", plan_id="777")
    assert len(enqueued) == 1


@pytest.mark.parametrize("seen", ["[" * 200_000, '{"units": ' * 50_000, "1" * 5000])
def test_a_setting_that_no_page_drew_is_outdated(
    browser: Client, account: Account, enqueued: list[str], seen: str
) -> None:
    answer = browser.post(reverse("top-up-changes"), {**form_data(account), "seen": seen})
    assert answer.status_code == 422
    assert enqueued == []


@pytest.mark.parametrize("letter", ["\0", "\ud800", "\x1b"])
def test_a_type_that_nobody_can_print_is_nothing(
    browser: Client, account: Account, enqueued: list[str], letter: str
) -> None:
    seen = TopUpSetting(True, f"dynamic{letter}credits", None, 20)
    assert "+5,000 cr" in visible_text_of(ask(browser, account, seen=seen))
    assert confirm_change(browser, account, seen=seen).status_code == 302
    assert TopUpChange.objects.get().seen == TopUpSetting(True, "", None, 20).to_dict()
    assert len(enqueued) == 1
