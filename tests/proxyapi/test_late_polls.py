"""Looks that come late, tokens known late: what is newer in the row is not undone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import calls, tokens
from proxyapi.models import Account, AccountPlan, ApiCall, Charge, Job, JobState, Token, TokenState
from proxyapi.models.duration_class import DurationClass
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import Priority
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

pytestmark = pytest.mark.postgresql

GET = ("GET", "/faceless/7")
ANY_CLASS = DurationClass("ai-visuals", 60)
ME = ("GET", "/me")


@pytest.fixture
def job(db: None) -> Job:
    now = timezone.now()
    return JobFactory(remote_id="7", state=JobState.RUNNING, started_at=now, next_poll_at=now)


def respond_and_interfere(reply: httpx.Response, deed: Callable[[], Any]) -> Any:
    def handle(request: httpx.Request) -> httpx.Response:
        deed()
        return reply

    return handle


def retry_during_poll() -> None:
    """Before the poll's answer arrives, another poll reads that it failed, and it is retried."""
    job = Job.objects.get()
    job.start(timezone.now() + timedelta(seconds=1), timedelta(seconds=5), ANY_CLASS)


@pytest.mark.parametrize(
    "late",
    [
        make_response({"id": 7, "video": {"status": "failed", "failure": {"code": "OLD"}}}),
        make_response({"id": 7, "video": {"status": "completed", "url": "http://old/a.mp4"}}),
        error_response(404, "GEN-NOT-FOUND"),
    ],
)
def test_a_late_poll_of_the_run_before_says_nothing_of_the_retry(
    late: httpx.Response, job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, respond_and_interfere(late, retry_during_poll))
    poll_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.poll_error, job.failure_code) == (JobState.RUNNING, "", "")


def failed(code: str) -> httpx.Response:
    failure = {"code": code, "message": "No voice."}
    return make_response({"id": 7, "video": {"status": "failed", "failure": failure}})


def poll_due_job(job: Job) -> Any:
    """The job after a look whose time came."""
    Job.objects.update(next_poll_at=timezone.now())
    poll_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.fixture
def retried_job(db: None) -> Job:
    """A video that a paid retry started, after a failure called OLD."""
    now = timezone.now() - timedelta(seconds=10)
    job: Job = JobFactory(remote_id="7")
    job.start(now, timedelta(seconds=5), ANY_CLASS)
    before = {"failure": {"code": "OLD", "message": "No voice."}}
    ChargeFactory(job=job, operation="faceless.retry", applied_at=now, before=before)
    return job


def test_the_failure_that_a_retry_was_paid_for_does_not_end_the_run_it_started(
    retried_job: Job, upstream: ScriptedUpstream
) -> None:
    """A copy of the service that lags shows it once more."""
    upstream.respond(*GET, failed("OLD"), make_response({"id": 7, "video": {"status": "syncing"}}))
    assert (poll_due_job(retried_job).state, retried_job.raw_status) == (
        JobState.RUNNING,
        "rendering",
    )
    assert (poll_due_job(retried_job).state, retried_job.raw_status) == (
        JobState.RUNNING,
        "syncing",
    )


@pytest.mark.parametrize(
    ("code", "ago", "seen_ago"), [("NEW", 10, 10), ("OLD", 61, 61), ("OLD", 20, 10)]
)
def test_another_failure_and_the_same_a_minute_later_or_after_it_ran_are_its_own(
    retried_job: Job, upstream: ScriptedUpstream, code: str, ago: int, seen_ago: int
) -> None:
    upstream.respond(*GET, failed(code))
    started, seen = (timezone.now() - timedelta(seconds=it) for it in (ago, seen_ago))
    Job.objects.update(started_at=started, polled_at=started if ago == seen_ago else seen)
    Charge.objects.update(applied_at=started)
    assert (poll_due_job(retried_job).state, retried_job.failure_code) == (JobState.FAILED, code)


def test_a_token_that_was_removed_meanwhile_stays_removed(
    job: Job, upstream: ScriptedUpstream
) -> None:
    removed = Token.objects.get()
    gone = respond_and_interfere(
        error_response(401, "GEN-UNAUTHORIZED"), lambda: tokens.destroy_token(removed)
    )
    upstream.respond(*GET, gone)
    poll_job(job.pk)
    token = Token.objects.get()
    assert (token.state, bytes(token.ciphertext)) == (TokenState.REMOVED, b"")


def test_a_token_that_was_revoked_meanwhile_is_not_woken_by_an_older_profile(
    db: None,
) -> None:
    token = TokenFactory()
    stale = Token.objects.get()
    calls.change_token_state(token, TokenState.REVOKED)
    calls.change_token_state(stale, TokenState.PAUSED)
    stale.refresh_from_db()
    assert stale.state == TokenState.REVOKED


def profile(**more: Any) -> httpx.Response:
    plan = {"exists": True, "active": True, "trial": False, "plan": "Studio"}
    credits = {"remaining": 1000, "total": 1200, "extra": 0}
    return make_response(
        {"id": 5, "email_verified": True, "credits": credits, "subscription": plan, **more}
    )


@pytest.fixture
def account(upstream: ScriptedUpstream, db: None) -> Account:
    upstream.respond("GET", "/credits/costs", make_response({}))
    upstream.respond("GET", "/faceless/options", make_response({}))
    account = AccountFactory(upstream_id=5, balance=Decimal(1000), balance_as_of=timezone.now())
    TokenFactory(account=account)
    return account


def test_pitfall_53_a_profile_asked_before_a_render_does_not_undo_its_balance(
    account: Account, upstream: ScriptedUpstream
) -> None:
    def rendered() -> None:
        Account.objects.get().update_balance(Decimal(900), timezone.now())

    upstream.respond(*ME, respond_and_interfere(profile(), rendered))
    tokens.refresh_account_profile(account)
    account.refresh_from_db()
    assert account.balance == 900


def test_reading_an_account_is_noted_so_that_it_is_not_read_again_at_once(
    account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, profile())
    tokens.refresh_account_profile(account)
    account.refresh_from_db()
    assert account.refreshed_at is not None


@pytest.mark.parametrize(
    "odd",
    [
        make_response({"id": 5}),
        make_response(None),
        make_response([]),
        profile(credits={"remaining": "soon", "total": {}}),
        profile(credits=[7]),
        profile(email_verified=None),
        profile(subscription=None),
        profile(subscription=[]),
        profile(subscription="paid"),
        profile(subscription={"exists": True, "plan": "Studio"}),
        profile(subscription={"active": True, "trial": None}),
        profile(subscription={"active": "yes", "trial": "no"}),
        profile(id=6, email_verified=False, subscription={"active": False}),  # another account's
    ],
)
def test_an_odd_profile_leaves_what_was_known(
    odd: httpx.Response, account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, odd)
    tokens.refresh_account_profile(account)
    account.refresh_from_db()
    assert (account.balance, account.plan, account.email_verified) == (1000, AccountPlan.PAID, True)


def test_odd_costs_and_options_leave_what_was_known(
    account: Account, upstream: ScriptedUpstream
) -> None:
    Account.objects.update(costs={"A": {"credits": 4}}, options={"mandatory": {}})
    account.refresh_from_db()
    upstream.respond(*ME, profile())
    upstream.respond("GET", "/credits/costs", make_response(["A"]))
    upstream.respond("GET", "/faceless/options", make_response("none"))
    tokens.refresh_account_profile(account)
    account.refresh_from_db()
    assert (account.costs, account.options) == ({"A": {"credits": 4}}, {"mandatory": {}})


def test_a_token_that_cannot_be_decrypted_is_a_failed_poll(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    poll_job(job.pk)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert job.poll_error.startswith("The stored token cannot be decrypted. Add the token again. ")
    assert not ApiCall.objects.exists(), "nothing left, so it tells nothing of the service"


def test_a_token_that_does_not_open_is_tried_less_and_less(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    hour_ago = timezone.now() - timedelta(hours=1)
    Job.objects.update(poll_error="It was so.", poll_failing_since=hour_ago)
    poll_due_job(job)
    assert job.next_poll_at is not None
    assert job.next_poll_at > timezone.now() + timedelta(minutes=10)


def test_a_token_that_does_not_open_for_a_month_is_not_tried_on(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    Job.objects.update(started_at=timezone.now() - timedelta(days=31))
    assert poll_due_job(job).is_polling_stopped
    assert "status checks stopped" in job.poll_error


@pytest.mark.parametrize("problem", [500, 404, 403, 401, httpx.ConnectError, httpx.ReadTimeout])
def test_beside_a_paid_video_no_poll_says_that_nothing_was_charged(
    problem: Any, job: Job, upstream: ScriptedUpstream
) -> None:
    """It is true of the look alone; read of the video, somebody would render it once more."""
    reply = httpx.Response(problem) if isinstance(problem, int) else problem
    upstream.respond("GET", f"/faceless/{job.remote_id}", reply)
    poll_job(job.pk)
    job.refresh_from_db()
    assert job.poll_error.endswith(" The video has not failed. We keep checking.")
    assert "Nothing was" not in job.poll_error


@pytest.mark.parametrize("is_sandbox", [False, True])
def test_a_token_goes_to_no_other_service_than_the_one_it_was_given_for(
    is_sandbox: bool, job: Job, upstream: ScriptedUpstream, settings: Any
) -> None:
    """Pointed at another address, the portal would hand it out there, to a sandbox, too."""
    Account.objects.update(environment="https://production.example/v2")
    settings.VIDEO_API_IS_SANDBOX = is_sandbox
    poll_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.poll_error) == (JobState.RUNNING, "")
    assert upstream.requests == []
    with pytest.raises(calls.TokenOfOtherUpstream):
        calls.call_upstream(Token.objects.get(), "me.get", Priority.PERSON)
