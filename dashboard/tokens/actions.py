"""Actions on members' tokens, added after a check and removed permanently, and on accounts
without one."""

from __future__ import annotations

from hashlib import sha256
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditAction, AuditEvent, Membership, Team
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import AuditActor, record_audit_event, system_actor
from dashboard.shared.notices import notify_users
from dashboard.shared.roles import Permission
from proxyapi import tasks, tokens
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, Charge, JobState, Token
from proxyapi.refusals import NotReady
from proxyapi.upstream.secret import Secret


def add_member_token(
    *, by: Membership, pasted: Secret, name: str = "", recorded_as: AuditActor | None = None
) -> Token:
    """Check the token with the service and store it encrypted. The audit log names `recorded_as`
    instead of `by` if it is given. Raises `TokenRefused` or `TooManyAttempts`."""
    check_permission(by, Permission.KEEP_TOKEN)

    def record(token: Token) -> None:
        after = {"fingerprint": token.fingerprint, "account": token.account.upstream_id}
        record_audit_event(recorded_as or by, AuditAction.TOKEN_ADD, token.pk, after=after)

    token = tokens.store_token(by.team.tenant, by.user_id, pasted, also=record, name=name)
    tasks.enqueue_task_after_commit(tasks.refresh_account_task, token.account_id)
    return token


@transaction.atomic
def rename_token(token: Token, name: str) -> None:
    """Give the token a name for people; "" removes it."""
    token.name = name
    token.save(update_fields=["name"])
    publish_event(token.tenant_id, EventType.TOKEN, token.pk)


@transaction.atomic
def remove_member_token(*, by: Membership, token: Token) -> None:
    """Destroy the token's value at once. Its owner is notified if another member removed it."""
    tokens.destroy_token(token)
    is_own = token.owner_id == by.user_id
    before = {"fingerprint": token.fingerprint, "owner": token.owner.email}
    record_audit_event(by, AuditAction.TOKEN_REMOVE, token.pk, before=before)
    notify_users(
        by.team,
        [] if is_own else [token.owner],
        title=f"{by.user} removed your token …{token.last_four}",
        text="Its stored value was deleted. Add a token to continue creating videos.",
        url=reverse("tokens"),
    )


@transaction.atomic
def archive_account(*, by: Membership, account: Account) -> None:
    """Take an account without a token out of all lists and sums; its ledger and videos stay.

    Adding a token for it restores it. Raises `NotReady` if it has a token, an open charge or a
    video that renders.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    Account.objects.lock_upstream_account(account.pk)
    if account.tokens.not_removed().exists():
        raise NotReady("Remove the tokens of this account first.")
    running = account.jobs.filter(state=JobState.RUNNING)
    if running.exists() or Charge.objects.open().filter(account=account).exists():
        raise NotReady("Something of this account is still in progress. Archive it when it ended.")
    if Account.objects.not_archived().filter(pk=account.pk).update(archived_at=timezone.now()):
        record_audit_event(by, AuditAction.ACCOUNT_ARCHIVE, account.pk)
        publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)


@transaction.atomic
def restore_account(*, by: Membership, account: Account) -> None:
    """List an archived account again."""
    check_permission(by, Permission.MANAGE_MONEY)
    archived = Account.objects.filter(pk=account.pk, archived_at__isnull=False)
    if archived.update(archived_at=None):
        record_audit_event(by, AuditAction.ACCOUNT_RESTORE, account.pk)
        publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)


def record_undecryptable_tokens(team_id: UUID) -> None:
    """Record each token of the team that cannot be decrypted: once, and again only if its
    ciphertext changes and still cannot be decrypted."""
    team = Team.objects.get(pk=team_id)
    for token in Token.objects.not_removed().filter(tenant=team.tenant_id).select_related("owner"):
        if not token_vault.can_decrypt(token):
            record_undecryptable_token(team, token)


@transaction.atomic
def record_undecryptable_token(team: Team, token: Token) -> None:
    """The portal is the actor, because it is unknown who changed the ciphertext."""
    Token.objects.select_for_update().get(pk=token.pk)  # two concurrent checks write one row
    action, ciphertext_hash = (
        AuditAction.TOKEN_UNDECRYPTABLE,
        sha256(token.ciphertext).hexdigest()[:16],
    )
    rows = AuditEvent.objects.filter(team_id=team.pk, action=action, target=str(token.pk))
    if not rows.filter(after__ciphertext_hash=ciphertext_hash).exists():
        after = {"fingerprint": token.fingerprint, "ciphertext_hash": ciphertext_hash}
        actor = system_actor(team, "token check")
        record_audit_event(actor, action, token.pk, after=after, owner=token.owner.email)
