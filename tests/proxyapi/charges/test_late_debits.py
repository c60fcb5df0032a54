"""Late debits: what was called uncharged and took credits all the same has its debit, its cost, and
what the service did."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi import ledger, tasks
from proxyapi.charges import charges_with_late_debit, dispatch_charge, reconcile_charge
from proxyapi.ledger.audit import audit_account
from proxyapi.models import (
    Charge,
    ChargeState,
    Draft,
    Job,
    JobState,
    LedgerEntry,
    MatchConfidence,
    ScriptVersion,
)
from proxyapi.models.charge import CHARGED_LATE_CODE, NEVER_CHARGED_CODE
from proxyapi.rate_limiter import Priority
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)
from tests.reconciliation import build_reconciliation

Held = Callable[..., Charge]
LEDGER = ("GET", "/credits/history")
VIDEO = ("GET", "/faceless/7")
SENT = timedelta(minutes=20)  # ago; half a minute later it was given up


@pytest.fixture
def uncharged_charge(make_held_charge: Held) -> Callable[..., Charge]:
    """A charge that was sent twenty minutes ago and called uncharged."""

    def make(
        operation: str = "faceless.render", *, before: str = "draft", ago: timedelta = SENT
    ) -> Charge:
        charge = make_held_charge(operation)
        sent_at = timezone.now() - ago
        Charge.objects.filter(pk=charge.pk).update(
            state=ChargeState.REFUSED,
            code=NEVER_CHARGED_CODE,
            sent_at=sent_at,
            lost_at=sent_at + timedelta(minutes=1),
            settled_at=sent_at + timedelta(minutes=2),
            before={"status": before, "script": ""},
        )
        charge.refresh_from_db()
        return charge

    return make


def debit(amount: str, ago: timedelta = timedelta(minutes=10)) -> dict[str, str]:
    booked = timezone.now() - ago
    return {"credit_spend": amount, "created_at": booked.isoformat(), "transaction_type": "Debit"}


def mirrored(job: Job, upstream: ScriptedUpstream, *rows: dict[str, str]) -> list[uuid.UUID]:
    """The ledger has these rows now; the charges that may have one of them."""
    upstream.respond(*LEDGER, history_page(*rows))
    ledger.mirror_entries(job.account, Priority.PERSON, 5)
    return charges_with_late_debit(job.account_id)


def settled(charge: Charge) -> Charge:
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_a_render_that_arrived_late_has_its_debit_its_cost_and_its_video(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    assert mirrored(job, upstream, debit("-96")) == [charge.pk]
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    settled(charge)
    entry, booked = LedgerEntry.objects.get(), LedgerEntry.objects.get().happened_at
    job.refresh_from_db()
    assert (charge.state, charge.cost, charge.code) == (ChargeState.MATCHED, 96, CHARGED_LATE_CODE)
    assert charge.reason == (
        f"It was reported as not charged, but a debit of 96 cr was recorded at {booked:%H:%M} UTC. "
        "It is probably for this charge."
    )
    assert (entry.charge, entry.member, entry.confidence) == (
        charge, job.member, MatchConfidence.LIKELY,
    )  # fmt: skip
    assert entry.reason.startswith("Probably this charge: exactly its 96 cr, recorded 10 min after")
    assert job.state == JobState.RUNNING
    assert (
        build_reconciliation(job.account).outside
        == build_reconciliation(job.account).unexplained
        == 0
    )


def test_the_reconciliation_knows_of_it(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    mirrored(job, upstream, debit("-96"))
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    settled(charge)
    found = audit_account(job.account)
    assert found.problems == ["No balance checkpoint has been taken."]
    assert dict(found.lines)["Σ charges"] == 96


def test_a_debit_of_about_its_price_counts_where_the_video_shows_it(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    mirrored(job, upstream, debit("-92"))
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    assert settled(charge).cost == 92
    assert LedgerEntry.objects.get().confidence == MatchConfidence.WEAK


@pytest.mark.parametrize(
    ("operation", "status", "amount", "state"),
    [
        ("faceless.render", "draft", "-96", ChargeState.REFUSED),  # the video shows that it was not
        ("faceless.retry", "failed", "-96", ChargeState.MATCHED),  # which the video cannot show
        ("faceless.retry", "failed", "-92", ChargeState.REFUSED),
    ],
)
def test_where_the_video_shows_nothing_only_what_a_debit_proves_alone_is_taken(
    operation: str, status: str, amount: str, state: str, job: Job, uncharged_charge: Held,
    upstream: ScriptedUpstream,
) -> None:  # fmt: skip
    charge = uncharged_charge(operation, before=status)
    mirrored(job, upstream, debit(amount))
    upstream.respond(*VIDEO, make_response(video_response(status)))
    assert settled(charge).state == state
    assert (LedgerEntry.objects.get().charge == charge) == (state == ChargeState.MATCHED)


def test_a_debit_of_exactly_its_price_is_enough_where_the_video_is_gone(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    mirrored(job, upstream, debit("-96"))
    upstream.respond(*VIDEO, error_response(404, "NOT-FOUND"))
    assert settled(charge).state == ChargeState.MATCHED


def test_a_service_that_is_away_is_asked_with_the_next_reading(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    mirrored(job, upstream, debit("-96"))
    upstream.respond(*VIDEO, error_response(500, "GEN-API-ERROR"))
    assert settled(charge).state == ChargeState.REFUSED
    assert charges_with_late_debit(job.account_id) == [charge.pk]


@pytest.mark.parametrize(
    ("sent", "booked"), [(timedelta(minutes=90), timedelta(minutes=28)), (SENT, timedelta(hours=1))]
)
def test_what_was_booked_before_it_or_more_than_an_hour_later_is_somebody_elses(
    sent: timedelta, booked: timedelta, job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    uncharged_charge(ago=sent)
    assert mirrored(job, upstream, debit("-96", ago=booked)) == []


@pytest.mark.parametrize(("minutes", "is_offered"), [(1, True), (10, False)])
def test_what_the_service_refused_itself_is_offered_a_debit_of_the_next_two_minutes(
    minutes: int, is_offered: bool, job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge()
    assert charge.sent_at is not None
    answered_at = charge.sent_at + timedelta(seconds=1)
    fields = {"code": "GEN-FORBIDDEN", "status": 403, "lost_at": None, "settled_at": answered_at}
    Charge.objects.filter(pk=charge.pk).update(**fields)
    offered = mirrored(job, upstream, debit("-96", ago=SENT - timedelta(minutes=minutes)))
    assert offered == ([charge.pk] if is_offered else [])
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    assert (settled(charge).state == ChargeState.MATCHED) is is_offered
    reason = LedgerEntry.objects.get().reason
    assert ("The response was a refusal" in reason) is is_offered


def test_of_two_presses_that_were_both_paid_both_debits_have_their_charge(
    job: Job, uncharged_charge: Held, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The second is not decided yet: the debit may be its own, and is left for it."""
    first, second = uncharged_charge(), make_held_charge()
    again_at = timezone.now() - timedelta(minutes=15)
    times = {"sent_at": again_at, "lost_at": again_at + timedelta(minutes=1)}
    Charge.objects.filter(pk=second.pk).update(state=ChargeState.UNKNOWN, **times)
    rows = debit("-96", timedelta(minutes=14)), debit("-96", timedelta(minutes=10))
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    assert mirrored(job, upstream, rows[0]) == []
    assert settled(first).state == ChargeState.REFUSED
    upstream.respond(*LEDGER, history_page(*rows))
    assert settled(second).state == ChargeState.MATCHED
    assert charges_with_late_debit(job.account_id) == [first.pk]
    assert settled(first).state == ChargeState.MATCHED
    assert {entry.charge for entry in LedgerEntry.objects.all()} == {first, second}
    assert first.reason.endswith(
        f" It was done again at {again_at:%H:%M} UTC, which is a separate charge."
    )


@pytest.mark.parametrize("page", ["", "Snow falls."])
def test_a_script_that_was_written_late_is_there_unless_the_page_has_another_one(
    page: str, job: Job, uncharged_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = uncharged_charge("faceless.scripts")
    Draft.objects.update(settings={**job.draft.settings, "script": page})
    mirrored(job, upstream, debit("-96"))
    upstream.respond(*VIDEO, make_response(video_response("draft", script="Ice flows.")))
    assert settled(charge).state == ChargeState.MATCHED
    job.refresh_from_db()
    assert job.draft.settings["script"] == (page or "Ice flows.")
    version = ScriptVersion.objects.get(charge=charge)
    assert (version.job, version.text, version.member) == (job, "Ice flows.", charge.member)
    assert ("script" in job.draft.sent_settings) == (
        not page
    )  # else the page's own goes there again


def test_a_late_answer_counts_what_was_called_uncharged(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    def meanwhile(request: httpx.Request) -> httpx.Response:
        Charge.objects.update(
            state=ChargeState.REFUSED, code=NEVER_CHARGED_CODE, lost_at=timezone.now()
        )
        return charged_response({"id": 7}, 92)

    upstream.respond("POST", "/faceless/7/render", meanwhile)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost, charge.code) == (ChargeState.MATCHED, 92, CHARGED_LATE_CODE)
    assert charge.reason == (
        "It was reported as not charged, but the service responded later: it cost 92 cr."
    )
    assert job.state == JobState.RUNNING


def test_each_reading_of_a_ledger_asks_for_the_charges_with_a_late_debit(
    job: Job, uncharged_charge: Held, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge, rung = uncharged_charge(), list[str]()
    monkeypatch.setattr(tasks.reconcile_charge_task, "delay", rung.append)
    monkeypatch.setattr(ledger, "sync_account", lambda _: mirrored(job, upstream, debit("-96")))
    tasks.sync_ledger_task(str(job.account_id))
    assert rung == [str(charge.pk)]
