"""Change an account's automatic top-up: asked for as a row, sent once by a worker.

The service has no version of the preference, and the last write wins (pitfall 79). So it is read
again right before: when it is not what the person saw, nothing is sent, and they are told what
changed. A PUT whose answer got lost is settled by reading, never sent again: switching top-up on
may buy credits at once.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, AccountPlan, Token, TopUpChange, TopUpChangeState
from proxyapi.models.top_up_change import TopUpChangeQuerySet
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.refusals import AlreadyInProgress, NotReady, TokenRefused
from proxyapi.top_up import messages, preference_sync
from proxyapi.top_up.setting import TopUpSetting
from proxyapi.upstream import errors

CHANGE_PERMIT_WAIT_S = 5.0  # seconds to wait for a request of the token's allowance
CHANGE_ABANDONED_AFTER = timedelta(seconds=150)  # longer than a read, a PUT and their waits
# A PUT may still arrive after its answer was given up: "not there" counts only so long after that.
PUT_OPERATION = "top_up.put"
MAX_PUT_ARRIVAL = timedelta(seconds=get_operation(PUT_OPERATION).max_duration_s) + timedelta(
    seconds=30
)
MAX_PERMIT_WAIT = timedelta(minutes=2)  # nobody wants a setting of money to change much later
MAX_CHANGE_AGE = timedelta(minutes=15)  # without a worker; one that died in between is waited for
CHANGE_RECHECK_DELAY = timedelta(seconds=15)


@transaction.atomic
def request_change(
    token: Token, member_id: int, nonce: UUID, wanted: TopUpSetting, seen: TopUpSetting
) -> tuple[TopUpChange, bool]:
    """The row of a change, and whether it is new: one nonce is one change.

    Raises `Refusal` for what the service would refuse anyway, or while another one is on its way.
    """
    account = Account.objects.select_for_update().get(pk=token.account_id)
    if earlier := account.top_up_changes.filter(nonce=nonce).first():
        return earlier, False
    if account.pause_reason:
        raise NotReady(f"Not saved. {account.pause_reason}")
    if account.plan != AccountPlan.PAID:
        raise NotReady(
            f"Not saved. {preference_sync.PLAN_REQUIRED_MESSAGES[AccountPlan(account.plan)]}"
        )
    if account.top_up_changes.open().exists():
        raise AlreadyInProgress(messages.CHANGE_IN_PROGRESS)
    change = TopUpChange.objects.create(
        account=account,
        token=token,
        member_id=member_id,
        nonce=nonce,
        wanted=wanted.to_dict(),
        seen=seen.to_dict(),
    )
    publish_event(account.tenant_id, EventType.TOP_UP, account.pk)
    return change, True


def process_change(change_id: UUID) -> None:
    """Go on with one change: send it, or find out what became of it. May run twice."""
    changes = TopUpChange.objects.select_related("account", "token__account")
    change = changes.get(pk=change_id)
    if change.state == TopUpChangeState.SENDING and change.due_at <= timezone.now():
        recover_abandoned_change(change)
    if change.state == TopUpChangeState.UNKNOWN:
        settle_unknown_change(change)
    elif change.state == TopUpChangeState.ASKED:
        if timezone.now() - change.requested_at > MAX_CHANGE_AGE:
            refuse_change(change, messages.CHANGE_TOO_OLD)
            return
        due_at = timezone.now() + CHANGE_ABANDONED_AFTER
        if TopUpChange.objects.transition(change, TopUpChangeState.SENDING, due_at=due_at):
            send_change(change)


def recover_abandoned_change(change: TopUpChange) -> None:
    """Its worker died: before the PUT nothing was sent, afterwards nobody knows."""
    to = TopUpChangeState.UNKNOWN if change.sent_at else TopUpChangeState.ASKED
    same_send_attempt(change).transition(change, to, due_at=timezone.now())


def same_send_attempt(change: TopUpChange) -> TopUpChangeQuerySet:
    """What was sent since we read the change is another worker's: neither ended nor sent again."""
    return TopUpChange.objects.filter(sent_at=change.sent_at)


def send_change(change: TopUpChange) -> None:
    wanted = TopUpSetting.from_mapping(change.wanted)
    try:
        if reread_setting(change) is None:
            return
        put_setting(change, wanted)
    except RateLimitExhausted as exhausted:
        postpone_unsent_change(change, exhausted.wait, exhausted.user_message)
    except errors.RateLimited as error:
        postpone_unsent_change(change, error.retry_delay_s(60), error.user_message)
    except errors.OutcomeUnknown:
        mark_change_unknown(change)
    except errors.UpstreamError as error:
        refuse_change(change, messages.change_refusal_message(error, wanted))


def reread_setting(change: TopUpChange) -> TopUpSetting | None:
    """The preference as it is now; None when that decides already."""
    try:
        found, requested_at = preference_sync.fetch_preference(
            change.token, Priority.PERSON, CHANGE_PERMIT_WAIT_S
        )
    except errors.OutcomeUnknown:
        refuse_change(change, messages.REREAD_FAILED)
        return None
    preference_sync.store_preference(change.account, found, requested_at)
    seen = TopUpSetting.from_mapping(change.seen)
    if found.setting != seen:
        refuse_change(change, messages.changed_meanwhile_message(seen, found.setting))
        return None
    return found.setting


def put_setting(change: TopUpChange, wanted: TopUpSetting) -> None:
    grant = calls.acquire_permit(change.token, Priority.PERSON, CHANGE_PERMIT_WAIT_S)
    sent_at = timezone.now()
    # A worker frozen for longer than its time lost the change to another, who may have sent it.
    still_ours = TopUpChange.objects.filter(
        pk=change.pk, state=TopUpChangeState.SENDING, due_at=change.due_at
    )
    if not still_ours.update(sent_at=sent_at):
        return
    change.sent_at = sent_at
    reply = calls.send_request(change.token, PUT_OPERATION, grant, json=wanted.to_request_body())
    left = preference_sync.parse_preference(reply.data)
    if left.setting.satisfies(wanted):
        mark_change_saved(change, left, sent_at)
    else:
        # It answered something else than was asked for: what it shows when asked decides.
        mark_change_unknown(change)


def mark_change_unknown(change: TopUpChange) -> None:
    """The answer got lost, the PUT perhaps not: read it back at once, later again."""
    fields = {
        "reason": messages.CHANGE_OUTCOME_UNKNOWN,
        "due_at": timezone.now() + CHANGE_RECHECK_DELAY,
    }
    if TopUpChange.objects.transition(change, TopUpChangeState.UNKNOWN, **fields):
        settle_unknown_change(change)


def settle_unknown_change(change: TopUpChange) -> None:
    """Reading tells: it is as wanted, or it never arrived. A failed reading tells nothing."""
    wanted, sent_at = (
        TopUpSetting.from_mapping(change.wanted),
        change.sent_at or change.requested_at,
    )
    try:
        # Its own token may have stopped since; any that opens the account reads the same.
        token = pick_account_token(change.account, change.member_id)
        found, requested_at = preference_sync.fetch_preference(
            token, Priority.PERSON, CHANGE_PERMIT_WAIT_S
        )
    except (errors.UpstreamError, RateLimitExhausted, TokenRefused):
        reschedule_change(change, CHANGE_RECHECK_DELAY)
        return
    if found.setting.satisfies(wanted):
        mark_change_saved(change, found, requested_at)
        return
    preference_sync.store_preference(change.account, found, requested_at)
    if requested_at - sent_at > MAX_PUT_ARRIVAL:
        refuse_change(change, messages.not_applied_message(found.setting))
    else:
        reschedule_change(change, CHANGE_RECHECK_DELAY)


@transaction.atomic
def mark_change_saved(
    change: TopUpChange, left: preference_sync.PreferenceReading, at: datetime
) -> None:
    if finish_change(change, TopUpChangeState.SAVED, messages.change_saved_message(left.setting)):
        preference_sync.store_preference(change.account, left, at, ours=True)


def refuse_change(change: TopUpChange, sentence: str) -> None:
    finish_change(change, TopUpChangeState.REFUSED, sentence)


def finish_change(change: TopUpChange, state: TopUpChangeState, sentence: str) -> bool:
    fields = {"reason": sentence, "settled_at": timezone.now()}
    if not same_send_attempt(change).transition(change, state, **fields):
        return False
    publish_event(change.account.tenant_id, EventType.TOP_UP, change.account_id)
    return True


def postpone_unsent_change(change: TopUpChange, seconds: float, sentence: str) -> None:
    """Nothing was sent: again soon, unless it has waited long enough."""
    if timezone.now() - change.requested_at > MAX_PERMIT_WAIT:
        refuse_change(change, f"Not saved. {sentence}")
        return
    due_at = timezone.now() + timedelta(seconds=max(1.0, seconds))
    same_send_attempt(change).transition(
        change, TopUpChangeState.ASKED, due_at=due_at, sent_at=None
    )


def reschedule_change(change: TopUpChange, after: timedelta) -> None:
    TopUpChange.objects.filter(pk=change.pk).open().update(due_at=timezone.now() + after)


def pick_account_token(account: Account, member_id: int) -> Token:
    """The member's own token of the account, else any that opens it; of both the newest."""
    usable = account.tokens.usable().select_related("account").order_by("-created_at")
    token = token_vault.first_decryptable(
        sorted(usable, key=lambda token: token.owner_id != member_id)
    )
    if token is None:
        raise TokenRefused(preference_sync.ACCOUNT_UNREADABLE)
    return token
