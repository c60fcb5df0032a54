"""Token failover: when a token stops, its work continues on another token of the same owner and
account. The work of a member who leaves or hands it over continues on a colleague's token."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from proxyapi.credentials import token_vault
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, JobState, Token, TokenState
from proxyapi.models.token import TokenQuerySet

STOPPED_TOKEN_STATES = (TokenState.REVOKED, TokenState.REMOVED)


def fail_over_token(stopped: Token) -> None:
    """Move the work to the newest working token; without one, to the next token that is added."""
    successor = find_successor_token(stopped)
    if successor is not None:
        reassign_work(successor)


def find_successor_token(stopped: Token) -> Token | None:
    """The token of the same owner and account that continues the work of this one."""
    tokens = Token.objects.usable().filter(
        tenant=stopped.tenant_id, owner=stopped.owner_id, account=stopped.account_id
    )
    token = token_vault.first_decryptable(tokens.exclude(pk=stopped.pk).order_by("-created_at"))
    return token if token is not None and token_vault.can_decrypt(token) else None


@transaction.atomic
def reassign_work(token: Token) -> None:
    """Move the work of the owner's stopped or unreadable tokens of this account to this token, if
    it works.

    Running videos become due for polling, unknown charges are read back, missing prices are
    requested, and charges that wait for an approval will be sent with this token.
    """
    other_tokens = Token.objects.filter(
        tenant=token.tenant_id, owner=token.owner_id, account=token.account_id
    ).exclude(pk=token.pk)
    stopped = [
        other
        for other in other_tokens
        if other.state in STOPPED_TOKEN_STATES or not token_vault.can_decrypt(other)
    ]
    if not stopped or not token_vault.can_decrypt(token):
        return
    jobs, charges = Job.objects.filter(token__in=stopped), Charge.objects.open()
    charges = charges.filter(token__in=stopped)
    if not jobs.exists() and not charges.exists():
        return
    Account.objects.lock_upstream_account(token.account_id)
    now = timezone.now()
    jobs.filter(state=JobState.RUNNING).update(next_poll_at=now)
    unpriced = Draft.objects.filter(job__in=jobs).exclude(quote_error="", quote_due_at=None)
    unpriced_ids = list(unpriced.values_list("pk", flat=True))
    jobs.update(token=token)  # a job is locked before its draft
    Draft.objects.filter(pk__in=unpriced_ids).update(quote_error="", quote_due_at=now)
    charges.filter(state=ChargeState.UNKNOWN).update(due_at=now)
    charges.update(token=token)


@transaction.atomic
def move_drafts_to_colleagues(
    tenant_id: UUID,
    owner_id: int,
    colleague_ids: Collection[int],
    preferred_owner_id: int | None = None,
) -> int:
    """Move drafts and failed videos of the owner's tokens to a colleague's token of the same
    account, so that they can be rendered. Return how many were moved.

    `colleague_ids` are the users whose tokens may take on work. The preferred colleague becomes the
    member of the drafts that they get; without a token of the account, another colleague's token
    is used.
    """
    moved = 0
    states = (JobState.DRAFT, JobState.FAILED)
    for jobs, tokens in jobs_by_account(tenant_id, owner_id, colleague_ids, states):
        preferred = first_usable_token(tokens.filter(owner=preferred_owner_id))
        if token := preferred or first_usable_token(tokens):
            moved += jobs.update(token=token)
            if preferred:
                drafts = Job.objects.filter(tenant=tenant_id, token=token, state=JobState.DRAFT)
                drafts.filter(member=owner_id).update(member=preferred.owner_id)
    return moved


@transaction.atomic
def move_running_jobs(tenant_id: UUID, owner_id: int, new_owner_id: int) -> int:
    """Have the running jobs of the owner's tokens polled with a colleague's token of the same
    account; return how many. They stay theirs, and those of another account are not moved."""
    moved = 0
    for jobs, tokens in jobs_by_account(tenant_id, owner_id, (new_owner_id,), (JobState.RUNNING,)):
        if token := first_usable_token(tokens):
            moved += jobs.update(token=token, next_poll_at=timezone.now())
    return moved


def jobs_by_account(
    tenant_id: UUID, owner_id: int, colleague_ids: Collection[int], states: Sequence[JobState]
) -> Iterator[tuple[QuerySet[Job], TokenQuerySet]]:
    """Yield, for each locked account, the jobs of the owner's tokens and these colleagues' usable
    tokens, best first.

    Jobs with an open charge are left out: its answer and evidence belong to the token that sent it.
    """
    jobs = Job.objects.filter(tenant=tenant_id, token__owner=owner_id, state__in=states)
    jobs = jobs.exclude(Exists(Charge.objects.open().filter(job=OuterRef("pk"))))
    accounts = jobs.order_by("account_id").values_list("account_id", flat=True).distinct()
    for account_id in list(accounts):
        Account.objects.lock_upstream_account(account_id)
        tokens = Token.objects.usable().filter(tenant=tenant_id, account=account_id)
        colleagues = tokens.filter(owner__in=colleague_ids).exclude(owner=owner_id)
        colleagues = colleagues.select_related("account").best_first()
        yield jobs.filter(account=account_id), colleagues


def first_usable_token(tokens: TokenQuerySet) -> Token | None:
    token = token_vault.first_decryptable(tokens)
    return token if token is not None and token_vault.can_decrypt(token) else None
