"""What a person decides: once, with the amount named, with its audit row, and nobody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.actions import books
from dashboard.models import AuditEvent
from proxyapi.models import ChargeState, Entry, Rewrite
from proxyapi.refusals import Refusal, Stale


def address(charge, what):
    return f"/reconciliation/charges/{charge.pk}/{what}/"


def test_the_question_names_the_amount(client_of, thea, lost, ledger):
    shown = client_of(thea).get(address(lost, "write-offs")).content.decode()
    assert "Write off 42 cr?" in shown
    assert "The 46 cr held are free again" in shown.replace("\n", " ")


def test_a_write_off_frees_the_hold_and_leaves_its_row(client_of, thea, lost, ledger):
    before = lost.account.held()
    answer = client_of(thea).post(address(lost, "write-offs"), {"reason": "Never  booked."})
    assert answer.status_code == 302
    lost.refresh_from_db()
    assert (lost.state, lost.cost, lost.reason) == (ChargeState.WRITTEN_OFF, None, "Never booked.")
    assert lost.decided_by == thea.user
    assert before - lost.account.held() == 46
    event = AuditEvent.objects.get(action="charge.write_off")
    assert (event.actor, event.details["hold"]) == (thea.user, "46.0000")
    assert event.details["reason"] == "Never booked."


def test_a_write_off_wants_a_reason(client_of, thea, lost, ledger):
    answer = client_of(thea).post(address(lost, "write-offs"), {"reason": "  "})
    assert answer.status_code == 422
    assert books.NO_REASON in answer.content.decode()
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN
    assert not AuditEvent.objects.exists()


def test_an_entry_settles_what_was_unknown(client_of, mira, lost, book):
    entry = book(-42, timezone.now() - timedelta(minutes=59))
    other = book(-96, timezone.now() - timedelta(minutes=50))
    shown = client_of(mira).get(address(lost, "matches")).content.decode()
    assert shown.index(f'value="{entry.position}"') < shown.index(f'value="{other.position}"')
    assert shown.count("Exactly the price that was shown.") == 1
    client_of(mira).post(address(lost, "matches"), {"position": entry.position})
    lost.refresh_from_db()
    entry.refresh_from_db()
    assert (lost.state, lost.cost, entry.charge) == (ChargeState.MATCHED, 42, lost)
    event = AuditEvent.objects.get(action="charge.match")
    assert (event.details["cost"], event.details["position"]) == ("42.0000", entry.position)


@pytest.mark.parametrize("position", ["", "x", "²", "-1", "99999"])
def test_only_an_entry_of_the_ledger_settles(position, client_of, thea, lost, book):
    book(-42)
    answer = client_of(thea).post(address(lost, "matches"), {"position": position})
    assert answer.status_code == 422
    lost.refresh_from_db()
    assert lost.state == ChargeState.UNKNOWN


def test_an_entry_that_has_a_charge_is_no_candidate(client_of, thea, lost, book, charged):
    taken = book(-42, charge=charged(42))
    shown = client_of(thea).get(address(lost, "matches")).content.decode()
    assert "No debit without a charge was booked" in shown
    answer = client_of(thea).post(address(lost, "matches"), {"position": taken.position})
    assert answer.status_code == 422


def test_what_was_settled_meanwhile_is_not_decided_again(thea, lost, ledger):
    books.write_off(by=thea, charge=lost, reason="Gone.")
    with pytest.raises(Stale):
        books.write_off(by=thea, charge=lost, reason="Gone again.")
    assert AuditEvent.objects.count() == 1


@pytest.fixture
def rewrite(account, book):
    book(-96)
    words = {"label": "Render", "content_type": "", "transaction_type": "Debit"}
    when = {"created_at": timezone.now().isoformat()}
    return Rewrite.objects.create(
        account=account,
        position=0,
        before={**words, **when, "credit_spend": "-96"},
        after={**words, **when, "credit_spend": "-90"},
    )


def test_the_services_version_is_taken(client_of, thea, rewrite, account):
    url = f"/reconciliation/rewrites/{rewrite.pk}/acceptances/"
    shown = client_of(thea).get(url).content.decode()
    assert "−96 Render" in shown
    assert "−90 Render" in shown
    assert client_of(thea).post(url).status_code == 302
    assert Entry.objects.get(account=account, position=0).amount == -90
    event = AuditEvent.objects.get(action="ledger.accept")
    assert event.details["before"]["credit_spend"] == "-96"
    assert event.details["after"]["credit_spend"] == "-90"
    assert client_of(thea).post(url).status_code == 404


def test_a_row_is_accepted_once(thea, rewrite):
    books.take_version(by=thea, rewrite=rewrite)
    with pytest.raises(Stale):
        books.take_version(by=thea, rewrite=rewrite)


def test_the_books_start_anew_and_say_what_was_let_go(client_of, mira, book, weighed, account):
    book(-96)
    weighed(600, opening=700)
    url = f"/reconciliation/accounts/{account.pk}/anchors/"
    assert "Let 4 cr go unexplained?" in client_of(mira).get(url).content.decode()
    client_of(mira).post(url)
    account.ledger.refresh_from_db()
    assert account.ledger.anchor_balance is None
    assert AuditEvent.objects.get(action="ledger.anchor").details["difference"] == "-4.0000"


@pytest.mark.parametrize("name", ["jonas", "priya", "vera"])
def test_nobody_else_decides_by_hand_made_calls(name, request, lost, ledger, rewrite):
    member = request.getfixturevalue(name)
    for act in (
        lambda: books.write_off(by=member, charge=lost, reason="Mine."),
        lambda: books.settle_with(by=member, charge=lost, position=0),
        lambda: books.take_version(by=member, rewrite=rewrite),
        lambda: books.start_anew(by=member, account=lost.account),
    ):
        with pytest.raises(PermissionDenied):
            act()
    assert not AuditEvent.objects.exists()


def test_no_reason_is_a_refusal_of_its_own_field(thea, lost, ledger):
    with pytest.raises(Refusal) as refused:
        books.write_off(by=thea, charge=lost, reason="")
    assert refused.value.field == "reason"
