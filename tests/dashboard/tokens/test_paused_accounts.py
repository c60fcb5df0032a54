"""Accounts of another address of the service: shown as paused everywhere, offered nowhere."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.recheck import recheck_job
from dashboard.startup_checks import run_startup_checks
from dashboard.studio.actions import start_draft
from proxyapi.charges import ChargeIntent
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, Token
from proxyapi.refusals import NotReady, TokenRefused
from tests.admission import admit_charge
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

LIVE = "https://video.example/v2"
WHY = f"belongs to another address of the service, {LIVE}"
PAGES = (
    *("overview", "tokens", "members", "studio", "library", "ledger", "reconciliation"),
    *("top-up", "costs", "forecast", "budgets", "alerts"),
)
pytestmark = pytest.mark.django_db


@pytest.fixture
def account(mira: Membership) -> Account:
    """Mira's, of the service, while the portal uses a sandbox."""
    account: Account = AccountFactory(tenant=mira.team.tenant, environment=LIVE)
    TokenFactory(account=account, owner=mira.user)
    return account


def job_of(account: Account, **more: Any) -> Job:
    token = Token.objects.get(account=account)
    job: Job = JobFactory(account=account, token=token, member=token.owner, **more)
    return job


def running_job(account: Account) -> Job:
    now = timezone.now()
    times = {"started_at": now, "polled_at": now, "next_poll_at": now}
    return job_of(account, remote_id="7", state=JobState.RUNNING, **times)


def page(client: Any, name: str, *args: Any) -> str:
    answer = client.get(reverse(name, args=args))
    assert answer.status_code == 200, name
    return str(answer.content.decode())


def test_every_page_says_that_accounts_are_paused_and_of_which_address(
    mira: Membership, client_of: Any, account: Account
) -> None:
    running, draft = running_job(account), job_of(account)
    failed = job_of(account, remote_id="8", state=JobState.FAILED, finished_at=timezone.now())
    sent = timezone.now() - timedelta(hours=1)
    ChargeFactory(job=failed, state=ChargeState.UNKNOWN, sent_at=sent, operation="faceless.retry")
    client = client_of(mira)
    pages = [page(client, name) for name in PAGES]
    pages += [page(client, "video", job.pk) for job in (running, failed)]
    pages += [page(client, "studio-step", draft.pk, step) for step in ("script", "review")]
    for html in pages:
        assert "Some accounts are paused." in html
        assert LIVE in html


def test_no_page_speaks_of_it_where_every_account_is_of_the_address_in_use(
    mira: Membership, client_of: Any
) -> None:
    TokenFactory(account__tenant=mira.team.tenant, owner=mira.user)
    assert "Some accounts are paused." not in page(client_of(mira), "overview")


def test_the_token_is_paused_and_not_called_working(
    mira: Membership, client_of: Any, account: Account
) -> None:
    for name in ("tokens", "members"):
        html = page(client_of(mira), name)
        assert "Paused: belongs to another address of the service" in html
        assert "Working" not in html


def test_a_running_video_is_paused_and_nobody_can_have_it_polled(
    mira: Membership, client_of: Any, account: Account
) -> None:
    job = running_job(account)
    html = page(client_of(mira), "video", job.pk)
    assert WHY in html
    assert "Status checks resume automatically then" in html
    with pytest.raises(TokenRefused, match=WHY):
        recheck_job(by=mira, job=job)


def test_a_lost_charge_waits_for_the_address(
    mira: Membership, client_of: Any, account: Account
) -> None:
    sent = timezone.now() - timedelta(hours=1)
    job = job_of(account)
    ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=sent, operation="faceless.scripts")
    html = page(client_of(mira), "video", job.pk)
    assert f"It will not be sent again. The outcome is checked later. This account {WHY}" in html
    assert "The outcome is checked later" in page(client_of(mira), "reconciliation")


def test_nothing_new_can_be_made_with_it(
    mira: Membership, client_of: Any, account: Account
) -> None:
    html = page(client_of(mira), "studio")
    assert "Your token is paused" in html
    assert WHY in html
    with pytest.raises(TokenRefused, match=WHY):
        start_draft(by=mira, title="Ice", chosen={"type": "ai-visuals"})


def test_a_token_of_the_address_in_use_is_taken_though_the_paused_one_is_newer(
    mira: Membership, account: Account
) -> None:
    own = TokenFactory(account__tenant=mira.team.tenant, owner=mira.user)
    Token.objects.filter(pk=own.pk).update(created_at="2026-01-01T00:00Z")
    job = start_draft(by=mira, title="Ice", chosen={"type": "ai-visuals"})
    assert job.token == own


def test_a_draft_of_it_is_neither_priced_nor_charged(
    mira: Membership, client_of: Any, account: Account
) -> None:
    job = job_of(account)
    html = page(client_of(mira), "studio-step", job.pk, "review")
    assert "This draft is paused." in html
    assert "The account belongs to another service address" in html
    intent = ChargeIntent(job, "faceless.render", uuid4(), Decimal(10), Decimal(9))
    with pytest.raises(NotReady, match=f"Not sent. This account {WHY}"):
        admit_charge(intent)
    assert not Charge.objects.exists()


def test_the_address_that_is_set_again_resumes_them(
    mira: Membership, client_of: Any, account: Account, settings: Any
) -> None:
    settings.VIDEO_API_BASE_URL = LIVE
    assert "Some accounts are paused." not in page(client_of(mira), "overview")
    assert "Working" in page(client_of(mira), "tokens")


@pytest.mark.django_db(transaction=True)
def test_a_start_with_accounts_of_another_address_says_so_and_goes_on(
    account: Account, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    TokenFactory(account__environment=settings.VIDEO_API_BASE_URL)
    run_startup_checks()
    (line,) = [it.message for it in caplog.records if it.name == "dashboard.startup_checks"]
    assert line.startswith("1 accounts are paused because they belong to another address")
    assert f"{LIVE}. Their tokens are not sent." in line
    caplog.clear()
    settings.VIDEO_API_BASE_URL = LIVE
    Account.objects.exclude(pk=account.pk).update(environment=LIVE)
    run_startup_checks()
    assert caplog.records == []
