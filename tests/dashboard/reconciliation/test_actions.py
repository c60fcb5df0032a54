"""What a person decides: once, with the amount named, with its audit row, and nobody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.models import AuditEvent
from dashboard.reconciliation import actions
from dashboard.shared.text_validation import INVISIBLE_CHARACTER
from proxyapi import ledger
from proxyapi.models import (
    ChargeState,
    LedgerConflict,
    LedgerEntry,
    LedgerMirror,
    MatchConfidence,
    MonthlyPriceCount,
)
from proxyapi.refusals import Refusal, StaleData
from tests.reconciliation import build_reconciliation


def address(charge, what):
    return f"/reconciliation/charges/{charge.pk}/{what}/"


def test_the_question_names_the_amount(client_of, thea, unknown_charge, ledger):
    shown = client_of(thea).get(address(unknown_charge, "write-offs")).content.decode()
    assert "Write off 42 cr?" in shown
    assert "The 46 cr held are released" in shown.replace("\n", " ")


def test_a_write_off_frees_the_hold_and_leaves_its_row(client_of, thea, unknown_charge, ledger):
    before = unknown_charge.account.held_credits()
    answer = client_of(thea).post(
        address(unknown_charge, "write-offs"), {"reason": "Never  booked."}
    )
    assert answer.status_code == 302
    unknown_charge.refresh_from_db()
    assert (unknown_charge.state, unknown_charge.cost, unknown_charge.reason) == (
        ChargeState.WRITTEN_OFF,
        None,
        "Never booked.",
    )
    assert unknown_charge.decided_by == thea.user
    assert before - unknown_charge.account.held_credits() == 46
    event = AuditEvent.objects.get(action="charge.write_off")
    assert (event.actor_id, event.details["hold"]) == (str(thea.user_id), "46.0000")
    assert event.details["reason"] == "Never booked."


def test_a_write_off_wants_a_reason(client_of, thea, unknown_charge, ledger):
    url, too_long = address(unknown_charge, "write-offs"), "x" * 301
    answer = client_of(thea).post(url, {"reason": "  "})
    assert answer.status_code == 422
    assert actions.WRITE_OFF_REASON_REQUIRED in answer.content.decode()
    said = client_of(thea).post(url, {"reason": too_long}).content.decode()
    assert "At most 300 characters are allowed (now 301)." in said and too_long in said
    said = client_of(thea).post(url, {"reason": "Never\u202e booked."}).content.decode()
    assert INVISIBLE_CHARACTER in said
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.UNKNOWN
    assert not AuditEvent.objects.exists()


def test_an_entry_settles_what_was_unknown(client_of, mira, unknown_charge, add_entry):
    entry = add_entry(-42, timezone.now() - timedelta(minutes=59))
    other = add_entry(-96, timezone.now() - timedelta(minutes=50))
    shown = client_of(mira).get(address(unknown_charge, "matches")).content.decode()
    assert shown.index(f'value="{entry.position} 42') < shown.index(f'value="{other.position} 96')
    assert shown.count("Matches the quoted price exactly.") == 1
    client_of(mira).post(address(unknown_charge, "matches"), {"entry": f"{entry.position} 42"})
    unknown_charge.refresh_from_db()
    entry.refresh_from_db()
    assert (unknown_charge.state, unknown_charge.cost, entry.charge) == (
        ChargeState.MATCHED,
        42,
        unknown_charge,
    )
    event = AuditEvent.objects.get(action="charge.match")
    assert (event.details["cost"], event.details["position"]) == ("42.0000", entry.position)


def test_a_match_is_taken_back_and_the_debit_offered_again(
    client_of, mira, vera, unknown_charge, add_entry
):
    entry = add_entry(-42, timezone.now() - timedelta(minutes=59))
    choice = {"entry": f"{entry.position} 42"}
    checks = address(unknown_charge, "checks")
    assert checks in client_of(mira).get("/reconciliation/").content.decode()
    client_of(mira).post(address(unknown_charge, "matches"), choice)
    page, removal = f"/ledger/{entry.account_id}/{entry.position}/", "match-removals"
    assert address(unknown_charge, removal) in client_of(mira).get(page).content.decode()
    assert address(unknown_charge, removal) not in client_of(vera).get(page).content.decode()
    shown = client_of(mira).get(address(unknown_charge, removal)).content.decode()
    assert "Remove the match of 42 cr?" in shown

    client_of(mira).post(address(unknown_charge, removal))

    unknown_charge.refresh_from_db()
    entry.refresh_from_db()
    found = (unknown_charge.state, unknown_charge.cost, unknown_charge.booked_at)
    assert found == (ChargeState.UNKNOWN, None, None)
    assert (entry.charge, entry.confidence, entry.member, entry.operation) == (None, "", None, "")
    assert unknown_charge.account.held_credits() == 46
    assert not MonthlyPriceCount.objects.filter(times__gt=0).exists()
    event = AuditEvent.objects.get(action="charge.unmatch")
    assert (event.details["cost"], event.details["position"]) == ("42.0000", entry.position)
    shown = client_of(mira).get("/reconciliation/").content.decode()
    assert "A member removed its match with a debit." in shown and checks not in shown
    client_of(mira).post(address(unknown_charge, "matches"), choice)
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.MATCHED


@pytest.mark.parametrize(
    ("fields", "again", "sentence"),
    [
        ({"cost_from_debit": False}, False, "The service itself reported what this charge cost."),
        ({"refunded_at": timezone.now()}, False, "This charge was refunded"),
        ({}, True, "The same was requested again"),
    ],
)
def test_a_match_that_must_stay_shows_no_button_and_says_why(
    fields, again, sentence, client_of, mira, make_charge, add_entry
):
    given = {"cost_from_debit": True, "settled_at": timezone.now(), **fields}
    charge = make_charge(42, state="matched", **given)
    entry, browser = add_entry(-42, charge=charge), client_of(mira)
    if again:
        make_charge(job=charge.job, state="unknown")
    page = browser.get(f"/ledger/{entry.account_id}/{entry.position}/").content.decode()
    assert address(charge, "match-removals") not in page
    answer = browser.post(address(charge, "match-removals"))
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    charge.refresh_from_db()
    assert charge.state == ChargeState.MATCHED


def test_a_debit_matched_again_after_the_service_changed_its_row_can_be_taken_back(
    client_of, mira, make_charge, add_entry
):
    charge = make_charge(42, state="matched", cost_from_debit=True, settled_at=timezone.now())
    entry = add_entry(-42, timezone.now())
    ledger.link_entry_to_charge(entry, charge, MatchConfidence.CERTAIN, "Exactly its 42 cr.")
    page = f"/ledger/{entry.account_id}/{entry.position}/"
    assert address(charge, "match-removals") in client_of(mira).get(page).content.decode()
    client_of(mira).post(address(charge, "match-removals"))
    charge.refresh_from_db()
    assert (charge.state, charge.cost_from_debit) == (ChargeState.UNKNOWN, False)


@pytest.mark.parametrize(
    "position", ["", "x", "²", "-1", "99999", pytest.param("9" * 4301, id="4301 digits")]
)
def test_only_an_entry_of_the_ledger_settles(position, client_of, thea, unknown_charge, add_entry):
    add_entry(-42)
    answer = client_of(thea).post(address(unknown_charge, "matches"), {"entry": f"{position} 42"})
    assert answer.status_code == 422
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.UNKNOWN


@pytest.mark.parametrize("seen", ["96", "", "x"])
def test_a_row_that_reads_differently_by_now_settles_nothing(
    seen, client_of, thea, unknown_charge, add_entry
):
    """Somebody took the service's version of it while the question stood open."""
    entry = add_entry(-42)
    answer = client_of(thea).post(
        address(unknown_charge, "matches"), {"entry": f"{entry.position} {seen}"}
    )
    assert answer.status_code == 422
    unknown_charge.refresh_from_db()
    assert unknown_charge.state == ChargeState.UNKNOWN


def test_an_entry_that_has_a_charge_is_no_candidate(
    client_of, thea, unknown_charge, add_entry, make_charge
):
    taken = add_entry(-42, charge=make_charge(42))
    shown = client_of(thea).get(address(unknown_charge, "matches")).content.decode()
    assert "No unmatched debit was recorded" in shown
    answer = client_of(thea).post(
        address(unknown_charge, "matches"), {"entry": f"{taken.position} 42"}
    )
    assert answer.status_code == 422


def test_what_was_settled_meanwhile_is_not_decided_again(thea, unknown_charge, ledger):
    actions.write_off_unknown_charge(by=thea, charge=unknown_charge, reason="Gone.")
    with pytest.raises(StaleData):
        actions.write_off_unknown_charge(by=thea, charge=unknown_charge, reason="Gone again.")
    assert AuditEvent.objects.count() == 1


@pytest.fixture
def ledger_conflict(account, add_entry):
    add_entry(-96)
    words = {"label": "Render", "content_type": "", "transaction_type": "Debit"}
    when = {"created_at": timezone.now().isoformat()}
    return LedgerConflict.objects.create(
        account=account,
        position=0,
        before={**words, **when, "credit_spend": "-96"},
        after={**words, **when, "credit_spend": "-90"},
    )


def test_the_services_version_is_taken(client_of, thea, ledger_conflict, account):
    url = f"/reconciliation/conflicts/{ledger_conflict.pk}/acceptances/"
    shown = client_of(thea).get(url).content.decode()
    assert "−96 Render" in shown
    assert "−90 Render" in shown
    assert client_of(thea).post(url).status_code == 302
    assert LedgerEntry.objects.get(account=account, position=0).amount == -90
    event = AuditEvent.objects.get(action="ledger.accept")
    assert event.target == "row 1"
    assert event.before["credit_spend"] == "-96"
    assert event.after["credit_spend"] == "-90"
    assert client_of(thea).post(url).status_code == 404


def test_a_row_is_accepted_once(thea, ledger_conflict):
    actions.accept_ledger_conflict(by=thea, conflict=ledger_conflict)
    with pytest.raises(StaleData):
        actions.accept_ledger_conflict(by=thea, conflict=ledger_conflict)


@pytest.fixture
def shifted_rows(account, add_entry):
    """A row was taken out of the middle: all behind it read differently."""
    now = timezone.now().isoformat()

    def words(amount):
        kind = {"label": "Render", "content_type": "", "transaction_type": "Debit"}
        return {**kind, "credit_spend": str(amount), "created_at": now}

    for position, amount in enumerate((-96, -90, -84)):
        add_entry(amount)
        LedgerConflict.objects.create(
            account=account, position=position, before=words(amount), after=words(amount + 6)
        )


def test_all_rows_that_moved_are_taken_at_once(client_of, thea, shifted_rows, account):
    browser, url = client_of(thea), f"/reconciliation/accounts/{account.pk}/acceptances/"
    assert url in browser.get(f"/reconciliation/?account={account.pk}").content.decode()
    assert "3 rows changed." in browser.get(url).content.decode()
    seen = ledger.count_open_conflicts(account).fingerprint
    said = browser.post(url, {"seen": seen}, follow=True).content.decode()
    assert "3 rows replaced with the service’s version." in said
    amounts = LedgerEntry.objects.filter(account=account).order_by("position")
    assert list(amounts.values_list("amount", flat=True)) == [-90, -84, -78]
    assert not LedgerConflict.objects.filter(accepted_at=None).exists()
    assert AuditEvent.objects.get(action="ledger.accept_all").after == {"rows": 3, "gone": 0}
    again = browser.post(url, {"seen": seen}).content.decode()
    assert "These rows were reviewed already. Nothing was changed." in again
    assert "Nothing left to accept" in again


@pytest.mark.parametrize("seen", ["2", "", "4", "3"])
def test_other_rows_than_were_asked_about_are_not_taken(
    client_of, thea, shifted_rows, account, seen
):
    url = f"/reconciliation/accounts/{account.pk}/acceptances/"
    answer = client_of(thea).post(url, {"seen": seen})
    assert "More changed rows were found." in answer.content.decode()
    assert LedgerConflict.objects.filter(accepted_at=None).count() == 3


def test_as_many_rows_of_another_page_are_other_rows(client_of, thea, shifted_rows, account):
    """The page beneath differs as well, by as many rows, while the question stands open."""
    seen = ledger.count_open_conflicts(account).fingerprint
    words = LedgerConflict.objects.values("account", "position", "before", "after")
    again = [LedgerConflict(**{**row, "account": account}) for row in words]
    LedgerConflict.objects.update(accepted_at=timezone.now())
    LedgerConflict.objects.bulk_create(again)
    url = f"/reconciliation/accounts/{account.pk}/acceptances/"
    assert "More changed rows" in client_of(thea).post(url, {"seen": seen}).content.decode()
    assert LedgerConflict.objects.filter(accepted_at=None).count() == 3


def test_removed_rows_are_shown_by_their_number(client_of, thea, shifted_rows, account, add_entry):
    """Not all of them are written down."""
    for _ in range(4):
        add_entry(-1)
    LedgerMirror.objects.update_or_create(account=account, defaults={"high": 7, "total": 7})
    LedgerConflict.objects.filter(position=2).update(after=None)
    browser, url = client_of(thea), f"/reconciliation/accounts/{account.pk}/acceptances/"
    asked = browser.get(url).content.decode()
    assert "2 rows changed." in asked
    assert "5 rows no longer shown by the service are removed from our copy." in asked
    seen = ledger.count_open_conflicts(account).fingerprint
    said = browser.post(url, {"seen": seen}, follow=True).content.decode()
    assert "2 rows replaced with the service’s version. 5 rows removed from our copy." in said
    assert LedgerEntry.objects.filter(account=account).count() == 2


@pytest.fixture
def unexplained_gap(add_entry, set_checkpoint, account):
    """700 at the start, 96 spent, and the service shows 600: 4 cr are missing."""
    add_entry(-96)
    set_checkpoint(600, opening=700)
    return f"/reconciliation/accounts/{account.pk}/opening-balances/"


FORM = {"seen": "-4.0000", "reason": "The  plan renewed."}


def test_the_question_says_what_the_opening_balance_becomes(client_of, mira, unexplained_gap):
    shown = client_of(mira).get(unexplained_gap).content.decode()
    assert "Accept a difference of 4 cr?" in shown
    assert "The balance fell by 4 cr more than the ledger shows" in shown
    assert [f'value="{cr}"' in shown for cr in (700, -4, 696, -96, 600)] == [True] * 5


def test_the_opening_balance_is_rebased_and_the_ledger_reconciles(
    client_of, mira, unexplained_gap, account
):
    assert client_of(mira).post(unexplained_gap, FORM).status_code == 302
    kept = build_reconciliation(account)
    assert (kept.opening_balance, kept.difference) == (696, 0)
    assert (kept.entries_sum, kept.balance_exact) == (-96, 600)
    event = AuditEvent.objects.get(action="ledger.rebase")
    assert (event.actor_id, event.target) == (str(mira.user_id), str(account.pk))
    assert event.details == {
        "difference": "-4.0000",
        "balance": "600.0000",
        "row": 1,
        "reason": "The plan renewed.",
    }


def test_what_was_let_go_stays_on_the_page_with_who_and_why(client_of, mira, vera, unexplained_gap):
    client_of(mira).post(unexplained_gap, FORM)
    page = client_of(vera).get("/reconciliation/?part=let-go").content.decode()
    for said in ("Accepted differences", str(mira.user), "The plan renewed.", 'value="-4"'):
        assert said in page


def test_a_difference_is_not_let_go_without_a_reason(client_of, mira, unexplained_gap, account):
    answer = client_of(mira).post(unexplained_gap, {**FORM, "reason": " "})
    assert answer.status_code == 422
    assert actions.REBASE_REASON_REQUIRED in answer.content.decode()
    assert build_reconciliation(account).difference == -4


@pytest.mark.parametrize("seen", ["-3.0000", "4", "", "much", "NaN", "-4e99"])
def test_only_the_difference_that_was_seen_is_let_go(
    seen, client_of, mira, unexplained_gap, account
):
    answer = client_of(mira).post(unexplained_gap, {**FORM, "seen": seen})
    assert answer.status_code == 422
    said = answer.content.decode()
    assert "Nothing was changed" in said and 'value="The  plan renewed."' in said
    assert 'name="seen" value="-4' in said
    assert build_reconciliation(account).difference == -4
    assert not AuditEvent.objects.exists()


def test_nothing_is_let_go_twice(client_of, mira, unexplained_gap):
    client_of(mira).post(unexplained_gap, FORM)
    again = client_of(mira).post(unexplained_gap, FORM)
    assert "match now. Nothing was changed." in again.content.decode()
    assert AuditEvent.objects.count() == 1


@pytest.mark.parametrize("name", ["jonas", "priya", "vera"])
def test_nobody_else_decides_by_hand_made_calls(
    name, request, unknown_charge, ledger, ledger_conflict
):
    member = request.getfixturevalue(name)
    for act in (
        lambda: actions.write_off_unknown_charge(by=member, charge=unknown_charge, reason="Mine."),
        lambda: actions.match_charge_to_entry(
            by=member, charge=unknown_charge, position=0, seen=None
        ),
        lambda: actions.accept_ledger_conflict(by=member, conflict=ledger_conflict),
        lambda: actions.accept_ledger_conflicts(
            by=member, account=ledger_conflict.account, seen="1"
        ),
        lambda: actions.rebase_opening_balance(
            by=member, account=unknown_charge.account, seen=None, reason="Mine."
        ),
    ):
        with pytest.raises(PermissionDenied):
            act()
    assert not AuditEvent.objects.exists()


def test_no_reason_is_a_refusal_of_its_own_field(thea, unknown_charge, ledger):
    with pytest.raises(Refusal) as refused:
        actions.write_off_unknown_charge(by=thea, charge=unknown_charge, reason="")
    assert refused.value.field == "reason"
