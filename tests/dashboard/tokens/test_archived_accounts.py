"""Accounts without a token: archived out of every list, and restored."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditAction, AuditEvent, Membership
from dashboard.tokens.actions import archive_account
from proxyapi import tokens
from proxyapi.models import Account, JobState, TokenState
from proxyapi.upstream.secret import Secret
from tests.factories import AccountFactory, EntryFactory, JobFactory, TokenFactory

MISTAKE = "Added by mistake"
LISTS = ("overview", "ledger", "costs", "forecast", "top-up", "reconciliation")


def create_mistaken_account(member: Membership) -> Account:
    """An account whose only token was removed, beside one that works."""
    TokenFactory.create(account__tenant=member.team.tenant, owner=member.user)
    account = AccountFactory.create(tenant=member.team.tenant, name=MISTAKE)
    TokenFactory.create(account=account, owner=member.user, state=TokenState.REMOVED)
    EntryFactory.create(account=account)
    return account


def pages_that_list_it(browser: Client) -> list[str]:
    return [name for name in LISTS if MISTAKE in browser.get(reverse(name)).content.decode()]


def test_an_account_added_by_mistake_is_archived_and_restored(thea, client_of, monkeypatch) -> None:
    account, browser = create_mistaken_account(thea), client_of(thea)
    assert {"overview", "forecast", "top-up"} <= set(pages_that_list_it(browser))
    url = reverse("account-archives", args=[account.pk])
    page = browser.post(url, follow=True).content.decode()
    assert "Its ledger and videos are kept" in page
    assert reverse("account-restorations", args=[account.pk]) in page
    assert pages_that_list_it(browser) == []
    browser.post(reverse("account-restorations", args=[account.pk]))
    assert "overview" in pages_that_list_it(browser)
    actions = AuditEvent.objects.filter(target=str(account.pk)).values_list("action", flat=True)
    assert set(actions) == {AuditAction.ACCOUNT_ARCHIVE, AuditAction.ACCOUNT_RESTORE}
    archive_account(by=thea, account=account)
    monkeypatch.setattr(tokens, "fetch_profile", lambda *args: {"id": account.upstream_id})
    tokens.store_token(thea.team.tenant, thea.user_id, Secret("sbx_" + "a" * 40))
    account.refresh_from_db()
    assert account.archived_at is None  # whoever adds a token for it needs it


def test_an_account_in_use_is_not_archived(thea, client_of) -> None:
    account, browser = create_mistaken_account(thea), client_of(thea)
    url = reverse("account-archives", args=[account.pk])
    job = JobFactory.create(
        account=account,
        state=JobState.RUNNING,
        next_poll_at=timezone.now(),
        remote_id="a1",
        token__state=TokenState.REMOVED,
    )
    assert "still in progress" in browser.post(url, follow=True).content.decode()
    job.delete()
    TokenFactory.create(account=account, owner=thea.user, state=TokenState.REVOKED)
    assert (
        "Remove the tokens of this account first."
        in browser.post(url, follow=True).content.decode()
    )
    assert not Account.objects.filter(archived_at__isnull=False).exists()
