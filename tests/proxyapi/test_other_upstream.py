"""A token is sent only to the upstream it was sealed for: two real sandboxes, one portal.

The first one is reached at an address that is no sandbox's for the portal, as the service itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import httpx
import pytest
from django.utils import timezone

from proxyapi import calls, ledger, tasks, tokens, top_up
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.kinds import faceless_draft
from proxyapi.ledger.sync_schedule import sync_account
from proxyapi.models import (
    Account,
    AutoTopUp,
    Charge,
    ChargeState,
    Job,
    JobState,
    LedgerMirror,
    Token,
    TokenState,
)
from proxyapi.operations import OPERATIONS
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job
from proxyapi.refusals import TokenRefused
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.secret import Secret
from tests.factories import ChargeFactory, JobFactory, TenantFactory, UserFactory
from tests.proxyapi.money.conftest import sandbox, started_sandbox
from tests.proxyapi.money.sandbox_account import ACCOUNT_DATA

__all__ = ["sandbox"]
HOSTS = ["127.0.0.1", "127.0.0.2"]
pytestmark = [pytest.mark.django_db, pytest.mark.allow_hosts(HOSTS), pytest.mark.postgresql]
Move = Callable[[str], None]


class SandboxServer(NamedTuple):
    """`address` is the portal's way to it; `control` the way of a test."""

    address: str
    control: httpx.Client

    def requests(self) -> int:
        return len(self.control.get("journal").json())


@pytest.fixture
def first_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxServer]:
    every_name = "0.0.0.0"  # noqa: S104
    with (
        started_sandbox(tmp_path_factory.mktemp("first"), every_name) as base,
        httpx.Client(base_url=f"{base}/_sandbox/") as control,
    ):
        yield SandboxServer(f"{base.replace('127.0.0.1', '127.0.0.2')}/v2", control)


@pytest.fixture
def second_sandbox(sandbox: str) -> Iterator[SandboxServer]:
    with httpx.Client(base_url=f"{sandbox}/_sandbox/") as control:
        control.post("reset", json={})
        yield SandboxServer(f"{sandbox}/v2", control)


@pytest.fixture
def set_upstream_url(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Move]:
    """Set VIDEO_API_BASE_URL."""
    clients: list[UpstreamClient] = []

    def set_address(address: str) -> None:
        settings.VIDEO_API_BASE_URL = address
        clients.append(UpstreamClient(address, OPERATIONS))
        monkeypatch.setattr(calls, "upstream_client", lambda: clients[-1])

    yield set_address
    for client in clients:
        client.close()


@pytest.fixture
def token(first_sandbox: SandboxServer, set_upstream_url: Move) -> Token:
    """Of an account of the first service, with a video that renders there."""
    account = first_sandbox.control.post("accounts", json=ACCOUNT_DATA).json()
    set_upstream_url(first_sandbox.address)
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(account["token"]))
    tokens.refresh_account_profile(token.account)
    token.refresh_from_db()
    return token


@pytest.fixture
def job(token: Token) -> Job:
    chosen = token.account.options["mandatory"]
    ids = {"voice_id": chosen["voices"][0]["id"], "genre_id": chosen["genres"][0]["id"]}
    wanted = {"type": "ai-visuals", "title": "Ice", "script": "Ice moves. Slowly.", **ids}
    job: Job = JobFactory(token=token, account=token.account, draft__settings=wanted)
    faceless_draft.quote_draft(job)
    charge = ChargeFactory(job=job, hold=Decimal(100))
    dispatch_charge(charge.pk)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    return job


def make_due(account: Account) -> None:
    """Everything of the account, as after an hour."""
    past = timezone.now() - timedelta(hours=1)
    Job.objects.update(next_poll_at=past, polled_at=past)
    Charge.objects.filter(state=ChargeState.UNKNOWN).update(due_at=past)
    Account.objects.update(refreshed_at=past)
    LedgerMirror.objects.update(due_at=past, read_at=past, lease_expires_at=None)
    AutoTopUp.objects.update(due_at=past)
    assert account.tokens.exists()


def do_all(account: Account) -> None:
    """What workers do, whatever rang for it: before the address changed, or since."""
    for job in Job.objects.all():
        poll_job(job.pk)
        faceless_draft.quote_draft(job)
    for charge in Charge.objects.all():
        dispatch_charge(charge.pk)
        reconcile_charge(charge.pk)
    tasks.refresh_account_task(str(account.pk))
    sync_account(account.pk)
    top_up.refresh_preference(account)


def lost(job: Job) -> Charge:
    """A charge whose answer got lost half an hour ago."""
    sent_at = timezone.now() - timedelta(minutes=30)
    charge: Charge = ChargeFactory(
        job=JobFactory(token=job.token, account=job.account, remote_id=None),
        operation="faceless.scripts",
        state=ChargeState.UNKNOWN,
        sent_at=sent_at,
        lost_at=sent_at,
    )
    return charge


def test_no_token_reaches_another_upstream_and_going_back_resumes_without_pasting(
    token: Token,
    job: Job,
    first_sandbox: SandboxServer,
    second_sandbox: SandboxServer,
    set_upstream_url: Move,
) -> None:
    unknown, waiting = lost(job), ChargeFactory(job=JobFactory(token=token, account=token.account))
    asked_before = first_sandbox.requests()
    set_upstream_url(second_sandbox.address)
    make_due(token.account)
    do_all(token.account)
    assert (second_sandbox.requests(), first_sandbox.requests()) == (0, asked_before)
    assert [
        *due_work.lease_due_jobs(),
        *due_work.lease_due_quotes(),
        *due_ids(),
        *ledger.accounts_due_for_sync(timezone.now()),
    ] == []
    token.refresh_from_db()
    job.refresh_from_db()
    unknown.refresh_from_db()
    waiting.refresh_from_db()
    assert (token.state, job.state, job.poll_error) == (TokenState.WORKING, JobState.RUNNING, "")
    assert (unknown.state, waiting.state) == (ChargeState.UNKNOWN, ChargeState.HELD)
    set_upstream_url(first_sandbox.address)
    make_due(token.account)
    do_all(token.account)
    job.refresh_from_db()
    unknown.refresh_from_db()
    assert job.polled_at is not None
    assert job.polled_at > timezone.now() - timedelta(minutes=1)
    assert unknown.state == ChargeState.REFUSED, "read back, and never charged"
    assert Token.objects.get().state == TokenState.WORKING
    assert (second_sandbox.requests(), first_sandbox.requests() > asked_before) == (0, True)


def due_ids() -> list[Any]:
    """Everything else that the beat would ring for, but for what was never sent."""
    charges = [id for id, state in due_work.lease_due_charges() if state != ChargeState.HELD]
    old = Account.objects.of_current_upstream().values_list("pk", flat=True)
    return [*charges, *old, *top_up.accounts_due_for_preference_read(timezone.now())]


def test_what_was_not_sent_is_given_up_after_its_quarter_of_an_hour(
    token: Token, second_sandbox: SandboxServer, set_upstream_url: Move
) -> None:
    charge = ChargeFactory(job=JobFactory(token=token, account=token.account))
    set_upstream_url(second_sandbox.address)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    assert charge.reason.startswith("This token belongs to a different address of the service")
    Charge.objects.update(held_at=timezone.now() - timedelta(minutes=16))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, second_sandbox.requests()) == (ChargeState.REFUSED, 0)
    assert charge.reason.endswith("Nothing was charged.")


def test_a_price_is_asked_when_the_upstream_is_back(
    token: Token, second_sandbox: SandboxServer, set_upstream_url: Move
) -> None:
    now = timezone.now()
    wanted = {"type": "ai-visuals", "title": "Ice", "script": "Ice.", "voice_id": 1, "genre_id": 1}
    job = JobFactory(
        token=token, account=token.account, draft__settings=wanted, draft__quote_due_at=now
    )
    home = token.account.environment
    set_upstream_url(second_sandbox.address)
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert (job.draft.quote_due_at, job.draft.quote_error, job.draft.sent_settings) == (now, "", {})
    assert (list(due_work.lease_due_quotes()), second_sandbox.requests()) == ([], 0)
    set_upstream_url(home)
    assert list(due_work.lease_due_quotes()) == [job.pk]


def test_a_charge_whose_worker_died_is_unknown_and_waits_for_its_upstream(
    token: Token, second_sandbox: SandboxServer, set_upstream_url: Move
) -> None:
    past = timezone.now() - timedelta(minutes=30)
    job = JobFactory(token=token, account=token.account)
    charge = ChargeFactory(job=job, state=ChargeState.SENDING, sent_at=past, due_at=past)
    set_upstream_url(second_sandbox.address)
    assert list(due_work.lease_due_charges()) == [(charge.pk, ChargeState.SENDING)]
    reconcile_charge(charge.pk)
    Charge.objects.update(due_at=past)
    assert list(due_work.lease_due_charges()) == []
    charge.refresh_from_db()
    assert (charge.state, second_sandbox.requests()) == (ChargeState.UNKNOWN, 0)


def test_a_stored_token_that_is_pasted_at_another_upstream_is_not_sent_there(
    token: Token, second_sandbox: SandboxServer, set_upstream_url: Move
) -> None:
    pasted = calls.decrypt_for_call(token)
    set_upstream_url(second_sandbox.address)
    for state in (TokenState.WORKING, TokenState.REVOKED):
        Token.objects.update(state=state)
        with pytest.raises(
            TokenRefused, match=r"another address of the service \(http://127.0.0.2"
        ):
            tokens.store_token(token.tenant, token.owner_id, pasted)
    assert second_sandbox.requests() == 0
    tokens.destroy_token(token)
    with pytest.raises(TokenRefused, match="does not recognize this token"):
        tokens.store_token(token.tenant, token.owner_id, pasted)


def test_a_sandbox_on_another_port_is_the_same_upstream_and_its_account_the_same_row(
    second_sandbox: SandboxServer, set_upstream_url: Move
) -> None:
    account = second_sandbox.control.post("accounts", json=ACCOUNT_DATA).json()
    set_upstream_url(second_sandbox.address)
    tenant, owner = TenantFactory(), UserFactory()
    known = tokens.store_token(tenant, owner.pk, Secret(account["token"]))
    Account.objects.update(environment="http://localhost:8081/v2")
    path = f"accounts/{account['account_id']}/tokens"
    another = second_sandbox.control.post(path, json={}).json()["token"]
    added = tokens.store_token(tenant, owner.pk, Secret(another))
    assert added.account_id == known.account_id
    tokens.refresh_account_profile(added.account)
    assert Token.objects.filter(state=TokenState.WORKING).count() == 2


@pytest.mark.parametrize(
    ("sealed_for", "address", "is_same"),
    [
        ("https://api.example/v2", "https://api.example/v2", True),
        ("https://api.example/v2", "https://api2.example/v2", False),
        ("https://api.example/v2", "http://127.0.0.1:8001/v2", False),
        ("http://127.0.0.1:8001/v2", "https://api.example/v2", False),
        ("http://127.0.0.1:8001/v2", "http://localhost:8081/v2", True),
        ("http://[::1]/v2", "http://127.0.0.1:8081/v2", True),
        ("http://sandbox:8001/v2", "http://sandbox:8002/v2", True),
        ("http://sandbox:8001/v2", "http://127.0.0.1:8001/v2", False),
        ("http://127.0.0.1:8001/v2", "http://sandbox:8001/v2", False),
        ("http://127.0.0.1.example:8001/v2", "http://127.0.0.1:8001/v2", False),
        ("http://127.0.0.1:8001@api.example/v2", "http://127.0.0.1:8001/v2", False),
        ("https://localhost/v2", "http://localhost/v2", False),
    ],
)
def test_only_a_sandbox_may_move_to_another_port(
    sealed_for: str, address: str, is_same: bool, settings: Any
) -> None:
    settings.VIDEO_API_BASE_URL = address
    account = JobFactory(account__environment=sealed_for).account
    assert account.is_of_current_upstream is is_same
    assert Account.objects.of_current_upstream().exists() is is_same
    assert Token.objects.usable().exists() is is_same
