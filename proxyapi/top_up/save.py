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
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.refusals import AlreadyInProgress, NotReady, TokenRefused
from proxyapi.top_up import reading, words
from proxyapi.top_up.setting import Setting
from proxyapi.upstream import errors
from proxyapi.upstream.catalog import operation

PATIENCE = 5.0  # seconds to wait for a request of the token's allowance
ABANDONED_AFTER = timedelta(seconds=150)  # longer than a read, a PUT and their waits
# A PUT may still arrive after its answer was given up: "not there" counts only so long after that.
ARRIVED_WITHIN = timedelta(seconds=operation("top_up.put").longest) + timedelta(seconds=30)
GIVE_UP_AFTER = timedelta(minutes=2)  # nobody wants a setting of money to change much later
TOO_LATE = timedelta(minutes=15)  # without a worker; one that died in between is waited for
LOOK_AGAIN = timedelta(seconds=15)


@transaction.atomic
def ask(
    token: Token, member_id: int, nonce: UUID, wanted: Setting, seen: Setting
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
        raise NotReady(f"Not saved. {words.PLANLESS[AccountPlan(account.plan)]}")
    if account.top_up_changes.open().exists():
        raise AlreadyInProgress(words.ON_ITS_WAY)
    change = TopUpChange.objects.create(
        account=account,
        token=token,
        member_id=member_id,
        nonce=nonce,
        wanted=wanted.kept(),
        seen=seen.kept(),
    )
    publish_event(account.vault_id, EventType.TOP_UP, account.pk)
    return change, True


def save(change_id: UUID) -> None:
    """Go on with one change: send it, or find out what became of it. May run twice."""
    changes = TopUpChange.objects.select_related("account", "token__account")
    change = changes.get(pk=change_id)
    if change.state == TopUpChangeState.SENDING and change.due_at <= timezone.now():
        abandoned(change)
    if change.state == TopUpChangeState.UNKNOWN:
        settle(change)
    elif change.state == TopUpChangeState.ASKED:
        if timezone.now() - change.asked_at > TOO_LATE:
            refuse(change, words.TOO_LATE)
            return
        due_at = timezone.now() + ABANDONED_AFTER
        if TopUpChange.objects.transition(change, TopUpChangeState.SENDING, due_at=due_at):
            send(change)


def abandoned(change: TopUpChange) -> None:
    """Its worker died: before the PUT nothing was sent, afterwards nobody knows."""
    to = TopUpChangeState.UNKNOWN if change.sent_at else TopUpChangeState.ASKED
    as_known(change).transition(change, to, due_at=timezone.now())


def as_known(change: TopUpChange) -> TopUpChangeQuerySet:
    """What was sent since we read the change is another worker's: neither ended nor sent again."""
    return TopUpChange.objects.filter(sent_at=change.sent_at)


def send(change: TopUpChange) -> None:
    wanted = Setting.of(change.wanted)
    try:
        if reread(change) is None:
            return
        put(change, wanted)
    except RateLimitExhausted as exhausted:
        wait(change, exhausted.wait, exhausted.user_message)
    except errors.RateLimited as error:
        wait(change, error.wait(60), error.user_message)
    except errors.OutcomeUnknown:
        lost(change)
    except errors.UpstreamError as error:
        refuse(change, words.refusal(error, wanted))


def reread(change: TopUpChange) -> Setting | None:
    """The preference as it is now; None when that decides already."""
    try:
        found, asked_at = reading.read(change.token, Priority.PERSON, PATIENCE)
    except errors.OutcomeUnknown:
        refuse(change, words.UNREAD)
        return None
    reading.note(change.account, found, asked_at)
    seen = Setting.of(change.seen)
    if found.setting != seen:
        refuse(change, words.changed_meanwhile(seen, found.setting))
        return None
    return found.setting


def put(change: TopUpChange, wanted: Setting) -> None:
    grant = calls.acquire_permit(change.token, Priority.PERSON, PATIENCE)
    sent_at = timezone.now()
    # A worker frozen for longer than its time lost the change to another, who may have sent it.
    still_ours = TopUpChange.objects.filter(
        pk=change.pk, state=TopUpChangeState.SENDING, due_at=change.due_at
    )
    if not still_ours.update(sent_at=sent_at):
        return
    change.sent_at = sent_at
    reply = calls.send_request(change.token, "top_up.put", grant, json=wanted.body())
    left = reading.of(reply.data)
    if left.setting.is_what(wanted):
        saved(change, left, sent_at)
    else:
        # It answered something else than was asked for: what it shows when asked decides.
        lost(change)


def lost(change: TopUpChange) -> None:
    """The answer got lost, the PUT perhaps not: read it back at once, later again."""
    fields = {"reason": words.LOST, "due_at": timezone.now() + LOOK_AGAIN}
    if TopUpChange.objects.transition(change, TopUpChangeState.UNKNOWN, **fields):
        settle(change)


def settle(change: TopUpChange) -> None:
    """Reading tells: it is as wanted, or it never arrived. A failed reading tells nothing."""
    wanted, sent_at = Setting.of(change.wanted), change.sent_at or change.asked_at
    try:
        # Its own token may have stopped since; any that opens the account reads the same.
        token = token_for(change.account, change.member_id)
        found, asked_at = reading.read(token, Priority.PERSON, PATIENCE)
    except (errors.UpstreamError, RateLimitExhausted, TokenRefused):
        later(change, LOOK_AGAIN)
        return
    if found.setting.is_what(wanted):
        saved(change, found, asked_at)
        return
    reading.note(change.account, found, asked_at)
    if asked_at - sent_at > ARRIVED_WITHIN:
        refuse(change, words.not_taken(found.setting))
    else:
        later(change, LOOK_AGAIN)


@transaction.atomic
def saved(change: TopUpChange, left: reading.Reading, at: datetime) -> None:
    if end(change, TopUpChangeState.SAVED, words.saved(left.setting)):
        reading.note(change.account, left, at, ours=True)


def refuse(change: TopUpChange, sentence: str) -> None:
    end(change, TopUpChangeState.REFUSED, sentence)


def end(change: TopUpChange, state: TopUpChangeState, sentence: str) -> bool:
    fields = {"reason": sentence, "settled_at": timezone.now()}
    if not as_known(change).transition(change, state, **fields):
        return False
    publish_event(change.account.vault_id, EventType.TOP_UP, change.account_id)
    return True


def wait(change: TopUpChange, seconds: float, sentence: str) -> None:
    """Nothing was sent: again soon, unless it has waited long enough."""
    if timezone.now() - change.asked_at > GIVE_UP_AFTER:
        refuse(change, f"Not saved. {sentence}")
        return
    due_at = timezone.now() + timedelta(seconds=max(1.0, seconds))
    as_known(change).transition(change, TopUpChangeState.ASKED, due_at=due_at, sent_at=None)


def later(change: TopUpChange, after: timedelta) -> None:
    TopUpChange.objects.filter(pk=change.pk).open().update(due_at=timezone.now() + after)


def token_for(account: Account, member_id: int) -> Token:
    """The member's own token of the account, else any that opens it; of both the newest."""
    usable = account.tokens.usable().select_related("account").order_by("-created_at")
    token = token_vault.first_decryptable(
        sorted(usable, key=lambda token: token.owner_id != member_id)
    )
    if token is None:
        raise TokenRefused(reading.TOKENLESS)
    return token
