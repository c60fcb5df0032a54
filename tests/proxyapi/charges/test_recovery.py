"""Recovery: what the charge log knows and a restored database does not."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from io import StringIO

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from proxyapi import charge_log
from proxyapi.charges import ChargeIntent, dispatch_charge, recovery, transitions
from proxyapi.models import (
    Charge,
    ChargeState,
    DatabaseEpoch,
    Job,
    JobState,
    Token,
    TopUpChange,
)
from proxyapi.models.charge import NEVER_CHARGED_CODE
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.redis_client import connect_redis
from tests.admission import admit_charge
from tests.external_state import empty_external_state
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")


@pytest.fixture
def sent_charge(make_held_charge: Held, upstream: ScriptedUpstream) -> Charge:
    """A render that was answered: its charge and its job are in the log."""
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED
    upstream.requests.clear()
    return charge


def forget() -> None:
    """The database of before the press, and before the draft."""
    Charge.objects.all().delete()
    Job.objects.all().delete()


def posts(upstream: ScriptedUpstream) -> int:
    return sum(request.method != "GET" for request in upstream.requests)


def test_a_charge_that_is_gone_comes_back_with_its_video_and_its_cost(sent_charge, upstream):
    forget()
    report = recovery.recover_if_restored()
    assert report is not None
    assert (report.recovered, report.lost) == ([str(sent_charge.pk)], [])
    charge = Charge.objects.get()
    assert (charge.pk, charge.state, charge.cost) == (sent_charge.pk, ChargeState.MATCHED, 92)
    assert (Job.objects.get().remote_id, Job.objects.get().state) == ("7", JobState.RUNNING)
    assert posts(upstream) == 0


def test_a_charge_that_was_called_uncharged_is_so_again_and_may_have_a_late_debit(
    make_held_charge, upstream, django_capture_on_commit_callbacks
):
    upstream.respond(*RENDER, httpx.ReadError)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    with django_capture_on_commit_callbacks(execute=True):
        transitions.release_hold(
            Charge.objects.get_with_relations(charge.pk),
            "It was never charged.",
            None,
            NEVER_CHARGED_CODE,
        )
    forget()
    recovery.recover_if_restored()
    assert Charge.objects.get().is_assumed_uncharged


def test_a_charge_that_is_held_again_is_not_sent_again(sent_charge, upstream):
    Charge.objects.filter(pk=sent_charge.pk).update(
        state=ChargeState.HELD, attempts=0, sent_at=None, cost=None, applied_at=None
    )
    Job.objects.update(state=JobState.DRAFT)
    dispatch_charge(sent_charge.pk)
    sent_charge.refresh_from_db()
    assert (sent_charge.state, sent_charge.cost) == (ChargeState.MATCHED, 92)
    assert posts(upstream) == 0


def test_a_second_press_on_the_restored_page_is_refused(sent_charge, make_held_charge, upstream):
    Charge.objects.all().delete()
    Job.objects.update(state=JobState.DRAFT)
    again = make_held_charge()
    dispatch_charge(again.pk)
    again.refresh_from_db()
    assert (again.state, again.reason) == (ChargeState.REFUSED, recovery.SUPERSEDED_REASON)
    assert Charge.objects.get(pk=sent_charge.pk).state == ChargeState.MATCHED
    assert posts(upstream) == 0


@pytest.mark.parametrize("video", ["the same", "another"])
def test_the_same_form_on_the_restored_page_is_refused(sent_charge, upstream, video):
    """A script with a quote, which is its charge's nonce, begins with a job of its own."""
    Charge.objects.all().delete()
    Job.objects.update(state=JobState.DRAFT, finished_at=None)
    job = Job.objects.get()
    if video == "another":
        job = JobFactory(account=job.account, token=job.token, tenant=job.tenant, remote_id="8")
    form = ChargeIntent(job, "faceless.render", sent_charge.nonce, Decimal(106), Decimal(96))
    again = admit_charge(form)
    for _ in range(2):
        dispatch_charge(again.pk)
    again.refresh_from_db()
    assert (again.state, again.reason) == (ChargeState.REFUSED, recovery.SUPERSEDED_REASON)
    assert Charge.objects.get(nonce=sent_charge.nonce).pk == sent_charge.pk
    assert posts(upstream) == 0


def test_the_same_attempt_is_not_sent_although_nothing_else_shows_it(sent_charge, upstream):
    """The newest record was lost with Redis; the record of the attempt was not."""
    Charge.objects.filter(pk=sent_charge.pk).update(
        state=ChargeState.HELD, attempts=0, sent_at=None, cost=None, applied_at=None
    )
    Job.objects.update(state=JobState.DRAFT)
    charge_log.append_checkpoint_record(str(DatabaseEpoch.objects.get_or_create_current().id))
    dispatch_charge(sent_charge.pk)
    sent_charge.refresh_from_db()
    assert (sent_charge.state, sent_charge.code) == (ChargeState.UNKNOWN, recovery.RESTORED_CODE)
    assert posts(upstream) == 0


def test_a_recovery_is_made_once(sent_charge):
    forget()
    assert recovery.recover_at_startup() is not None
    assert recovery.recover_at_startup() is None
    assert recovery.recover_if_restored() is None


def test_a_second_backup_of_before_the_first_recovery_is_noticed(sent_charge):
    forget()
    first = DatabaseEpoch.objects.get_or_create_current()
    recovery.recover_at_startup()
    DatabaseEpoch.objects.exclude(number=first.number).delete()
    Charge.objects.all().delete()
    assert recovery.recover_at_startup() is not None
    assert Charge.objects.get().pk == sent_charge.pk


def test_charges_that_this_database_cannot_store_are_reported_with_price_and_number(sent_charge):
    forget()
    Token.objects.all().delete()
    report = recovery.recover_if_restored()
    assert report is not None
    (told,) = report.lost
    assert "faceless.render" in told
    assert "number 7 at the service, about 96" in told
    assert told.endswith("this database does not have its token.")
    assert DatabaseEpoch.objects.get_or_create_current().report["lost"] == [told]


def test_another_token_of_the_account_takes_the_place_of_one_that_is_gone(sent_charge):
    forget()
    other = TokenFactory.create(account=sent_charge.account)
    Token.objects.exclude(pk=other.pk).delete()
    recovery.recover_if_restored()
    assert Charge.objects.get().token == other


def test_without_the_log_nothing_that_waits_is_sent(db, upstream):
    asked = ChargeFactory.create(state=ChargeState.DRAFT)
    held = ChargeFactory.create(state=ChargeState.HELD)
    report = recovery.recover_at_startup()
    assert report is not None
    assert set(report.unsure) == {str(asked.pk), str(held.pk)}
    asked.refresh_from_db()
    held.refresh_from_db()
    assert (asked.state, asked.reason) == (ChargeState.REFUSED, recovery.APPROVAL_LOST_REASON)
    assert (held.state, held.reason) == (ChargeState.UNKNOWN, recovery.MAYBE_SENT_REASON)


def test_the_log_of_another_installation_proves_nothing(sent_charge, make_held_charge):
    """A backup of the production, restored on a machine for trials that has a log of its own."""
    Charge.objects.all().delete()
    Job.objects.update(state=JobState.DRAFT)
    DatabaseEpoch.objects.update(id=uuid.uuid4())
    waiting = make_held_charge()
    recovery.recover_at_startup()
    waiting.refresh_from_db()
    assert waiting.state in (ChargeState.UNKNOWN, ChargeState.REFUSED)


def test_a_new_installation_has_nothing_to_recover(db):
    assert recovery.recover_at_startup() is None
    assert recovery.recover_at_startup() is None


def test_a_redis_that_was_emptied_is_no_older_database(sent_charge):
    files = charge_log.newest_record_on_disk()
    with_redis = charge_log.newest_record()
    assert files == with_redis
    connect_redis().flushall()
    assert recovery.recover_if_restored() is None
    assert recovery.recover_at_startup() is None


def test_a_change_of_the_top_up_that_was_not_sent_is_not_sent_after_a_restoration(sent_charge):
    token = TokenFactory.create(account=AccountFactory.create())
    change = TopUpChange.objects.create(
        account=token.account, token=token, member=token.owner, nonce=uuid.uuid4(), seen={},
        wanted={},
    )  # fmt: skip
    forget()
    recovery.recover_if_restored()
    change.refresh_from_db()
    assert (change.state, change.reason) == ("refused", recovery.TOP_UP_LOST_REASON)


def test_without_redis_nothing_is_sent(make_held_charge, upstream, settings):
    settings.REDIS_URL = "unix:///nonexistent/socket"
    charge = make_held_charge()
    with pytest.raises(RateLimiterUnavailable):
        recovery.recover_if_restored()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    assert upstream.requests == []


def test_doubting_all_is_for_a_log_that_went_back_in_time_too(sent_charge, make_held_charge):
    Charge.objects.all().delete()
    Job.objects.update(state=JobState.DRAFT)
    empty_external_state()
    charge_log.append_checkpoint_record(str(DatabaseEpoch.objects.get_or_create_current().id))
    waiting = make_held_charge()
    out = StringIO()
    call_command("recover_charges", stdout=out)
    assert "has every charge in the log" in out.getvalue()
    call_command("recover_charges", "--doubt-all", stdout=out)
    assert "may have been sent after it and are not sent again: 1" in out.getvalue()
    waiting.refresh_from_db()
    assert waiting.state == ChargeState.UNKNOWN


def test_old_files_go_and_a_line_that_was_cut_off_is_passed_over(sent_charge, settings):
    folder = settings.CHARGE_LOG_DIR
    (today,) = folder.glob("*.jsonl")
    assert today.stat().st_mode & 0o077 == 0
    old = timezone.now().date() - timedelta(days=charge_log.RETENTION_DAYS + 1)
    (folder / f"{old}.jsonl").write_text(today.read_text())
    with today.open("a") as lines:
        lines.write('{"kind":"request","epo')
    known = len(charge_log.load_log_records())
    charge_log.prune_log_files()
    assert [path.name for path in folder.glob("*.jsonl")] == [today.name]
    assert len(charge_log.load_log_records()) == known
