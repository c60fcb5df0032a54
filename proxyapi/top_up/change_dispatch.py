"""Change an account's automatic top-up: requested as a row, sent once by a worker.

The upstream has no version of the preference, and the last write wins (pitfall 79). So it is read
again right before the write; if it is not what the person saw, nothing is sent and the reason
states the difference. A PUT whose answer was lost is settled by reading, never sent again:
switching top-up on may buy credits at once.
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

CHANGE_PERMIT_WAIT_S = 5.0  # seconds to wait for a permit of the token
CHANGE_ABANDONED_AFTER = timedelta(seconds=150)  # longer than a read, a PUT and their permits
# A PUT may arrive after its answer was given up; until then an unchanged setting proves nothing.
PUT_OPERATION = "top_up.put"
MAX_PUT_ARRIVAL = timedelta(seconds=get_operation(PUT_OPERATION).max_duration_s) + timedelta(
    seconds=30
)
MAX_PERMIT_WAIT = timedelta(minutes=2)  # a money setting must not change long after the request
MAX_CHANGE_AGE = timedelta(minutes=15)  # without a worker; longer than a dead worker's lease
CHANGE_RECHECK_DELAY = timedelta(seconds=15)


@transaction.atomic
def request_change(
    token: Token, member_id: int, nonce: UUID, wanted: TopUpSetting, seen: TopUpSetting
) -> tuple[TopUpChange, bool]:
    """Create the row of a change; return it and whether it is new: one nonce is one change.

    Raises a `Refusal` for what the upstream would refuse anyway, or while another change is in
    progress.
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
    """Send a requested change, or settle one whose outcome is unknown. May run twice."""
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
    """Recover a change whose worker died: before the PUT nothing was sent, after it the outcome is
    unknown."""
    state = TopUpChangeState.UNKNOWN if change.sent_at else TopUpChangeState.ASKED
    same_send_attempt(change).transition(change, state, due_at=timezone.now())


def same_send_attempt(change: TopUpChange) -> TopUpChangeQuerySet:
    """Exclude the change if another worker sent it since it was read: it is neither finished nor
    sent again here."""
    return TopUpChange.objects.filter(sent_at=change.sent_at)


def send_change(change: TopUpChange) -> None:
    requested = TopUpSetting.from_mapping(change.wanted)
    try:
        if reread_setting(change) is None:
            return
        put_setting(change, requested)
    except RateLimitExhausted as exhausted:
        postpone_unsent_change(change, exhausted.wait, exhausted.user_message)
    except errors.RateLimited as error:
        postpone_unsent_change(change, error.retry_delay_s(60), error.user_message)
    except errors.OutcomeUnknown:
        mark_change_unknown(change)
    except errors.UpstreamError as error:
        refuse_change(change, messages.change_refusal_message(error, requested))


def reread_setting(change: TopUpChange) -> TopUpSetting | None:
    """The current preference; None if reading it already finished the change."""
    try:
        reading, requested_at = preference_sync.fetch_preference(
            change.token, Priority.PERSON, CHANGE_PERMIT_WAIT_S
        )
    except errors.OutcomeUnknown:
        refuse_change(change, messages.REREAD_FAILED)
        return None
    preference_sync.store_preference(change.account, reading, requested_at)
    displayed = TopUpSetting.from_mapping(change.seen)
    if reading.setting != displayed:
        refuse_change(change, messages.changed_meanwhile_message(displayed, reading.setting))
        return None
    return reading.setting


def put_setting(change: TopUpChange, requested: TopUpSetting) -> None:
    grant = calls.acquire_permit(change.token, Priority.PERSON, CHANGE_PERMIT_WAIT_S)
    sent_at = timezone.now()
    # If this worker was frozen past its lease, another worker may have sent the change.
    unchanged = TopUpChange.objects.filter(
        pk=change.pk, state=TopUpChangeState.SENDING, due_at=change.due_at
    )
    if not unchanged.update(sent_at=sent_at):
        return
    change.sent_at = sent_at
    reply = calls.send_request(change.token, PUT_OPERATION, grant, json=requested.to_request_body())
    saved = preference_sync.parse_preference(reply.data)
    if saved.setting.satisfies(requested):
        mark_change_saved(change, saved, sent_at)
    else:
        # The answer is not the requested setting: a read of the preference decides.
        mark_change_unknown(change)


def mark_change_unknown(change: TopUpChange) -> None:
    """The answer was lost, but perhaps not the PUT: read the preference back now, and again
    later."""
    fields = {
        "reason": messages.CHANGE_OUTCOME_UNKNOWN,
        "due_at": timezone.now() + CHANGE_RECHECK_DELAY,
    }
    if TopUpChange.objects.transition(change, TopUpChangeState.UNKNOWN, **fields):
        settle_unknown_change(change)


def settle_unknown_change(change: TopUpChange) -> None:
    """Read the preference back: it shows the requested setting, or the PUT did not arrive. A failed
    read decides nothing."""
    requested, sent_at = (
        TopUpSetting.from_mapping(change.wanted),
        change.sent_at or change.requested_at,
    )
    try:
        # Its own token may have stopped since; any token of the account reads the same setting.
        token = pick_account_token(change.account, change.member_id)
        reading, requested_at = preference_sync.fetch_preference(
            token, Priority.PERSON, CHANGE_PERMIT_WAIT_S
        )
    except (errors.UpstreamError, RateLimitExhausted, TokenRefused):
        reschedule_change(change, CHANGE_RECHECK_DELAY)
        return
    if reading.setting.satisfies(requested):
        mark_change_saved(change, reading, requested_at)
        return
    preference_sync.store_preference(change.account, reading, requested_at)
    if requested_at - sent_at > MAX_PUT_ARRIVAL:
        refuse_change(change, messages.not_applied_message(reading.setting))
    else:
        reschedule_change(change, CHANGE_RECHECK_DELAY)


@transaction.atomic
def mark_change_saved(
    change: TopUpChange, saved: preference_sync.PreferenceReading, at: datetime
) -> None:
    if finish_change(change, TopUpChangeState.SAVED, messages.change_saved_message(saved.setting)):
        preference_sync.store_preference(change.account, saved, at, is_own_change=True)


def refuse_change(change: TopUpChange, sentence: str) -> None:
    finish_change(change, TopUpChangeState.REFUSED, sentence)


def finish_change(change: TopUpChange, state: TopUpChangeState, sentence: str) -> bool:
    fields = {"reason": sentence, "settled_at": timezone.now()}
    if not same_send_attempt(change).transition(change, state, **fields):
        return False
    publish_event(change.account.tenant_id, EventType.TOP_UP, change.account_id)
    return True


def postpone_unsent_change(change: TopUpChange, seconds: float, sentence: str) -> None:
    """Nothing was sent: retry soon, or refuse the change after `MAX_PERMIT_WAIT`."""
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
    """The newest of the member's own tokens of the account, otherwise the newest of any member.
    Raises `TokenRefused` without one."""
    usable = account.tokens.usable().select_related("account").order_by("-created_at")
    token = token_vault.first_decryptable(
        sorted(usable, key=lambda token: token.owner_id != member_id)
    )
    if token is None:
        raise TokenRefused(preference_sync.ACCOUNT_UNREADABLE)
    return token
