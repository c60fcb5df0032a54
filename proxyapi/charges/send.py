"""Send: claim a held charge, send it at most once, and settle what the answer says.

The claim is one conditional update, so a task that runs twice sends once. Only what provably did
not start (no connection, 429) goes back to `held`; a lost answer is `unknown` and is never sent
again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from proxyapi import calls, drafts
from proxyapi.allowance import AllowanceExhausted, Lane
from proxyapi.charges import evidence, outcome
from proxyapi.models import Charge, ChargeState
from proxyapi.upstream import errors

PATIENCE = 2.0  # seconds to wait for a turn; longer waits are the row's, not a worker's
AGAIN_AFTER = timedelta(seconds=10)
GIVE_UP_AFTER = timedelta(minutes=15)
# After its time-out plus this, a charge still in `sending` was abandoned by a dead worker.
ABANDONED_AFTER = timedelta(seconds=30)


def send(charge_id: UUID) -> None:
    """Send the charge if it is held and nobody else does."""
    charge = Charge.objects.select_related("job", "token__account", "account").get(pk=charge_id)
    if charge.state != ChargeState.HELD:
        return
    if timezone.now() - (charge.held_at or charge.created_at) > GIVE_UP_AFTER:
        outcome.never_sent(charge)  # whatever kept it: nobody expects it to be sent any more
        return
    try:
        before = evidence.before(sync(charge))
        calls.admit(charge.token, Lane.PERSON, PATIENCE)
    except (errors.Refused, errors.Unsendable) as error:
        outcome.refused(charge, error)
    except (errors.UpstreamError, AllowanceExhausted) as error:
        wait(charge, error)
    else:
        if claim(charge, before):
            post(charge)


def sync(charge: Charge) -> dict[str, Any]:
    """The resource as it is just before sending, with the settings the person saw the price of."""
    if charge.job is None:
        return {}
    record = drafts.sync(charge.job, Lane.PERSON, PATIENCE)
    # A PATCH need not answer the whole record.
    whole = evidence.is_whole(charge, record)
    return record if whole else drafts.read(charge.job, Lane.PERSON, PATIENCE)


def claim(charge: Charge, before: dict[str, object]) -> bool:
    charge.sent_at = timezone.now()
    return Charge.objects.move(
        charge,
        ChargeState.SENDING,
        before=before,
        tries=charge.tries + 1,
        reason="",
        sent_at=charge.sent_at,
        due_at=abandoned_at(charge),
    )


def abandoned_at(charge: Charge) -> datetime:
    """When a charge that is still in `sending` has nobody any more who waits for its answer."""
    return outcome.answer_due(charge) + ABANDONED_AFTER


def post(charge: Charge) -> None:
    """The one request of a charge."""
    try:
        reply = calls.send(
            charge.token,
            charge.operation,
            path={"faceless": str(charge.job.remote_id)} if charge.job else {},
            json=charge.body or None,  # a retry takes no body, not even an empty one
        )
    except errors.Unsendable as error:  # it will be no other in a minute
        outcome.refused(charge, error)
    except errors.UpstreamError as error:
        if error.outcome is errors.Outcome.NOT_SENT:
            unsend(charge, error)
        elif error.outcome is errors.Outcome.REFUSED:
            outcome.refused(charge, error)
        else:
            outcome.unknown(charge, error)
    else:
        outcome.answered(charge, reply)


def unsend(charge: Charge, error: errors.UpstreamError) -> None:
    """It provably did not start: back in line."""
    if Charge.objects.move(charge, ChargeState.HELD, due_at=again_at(error)):
        outcome.delayed(charge, error)


def wait(charge: Charge, error: Exception) -> None:
    """Nothing was sent yet; the sweep comes back to it, for a quarter of an hour."""
    Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD).update(due_at=again_at(error))
    outcome.delayed(charge, error)


def again_at(error: Exception) -> datetime:
    if isinstance(error, AllowanceExhausted):
        return timezone.now() + timedelta(seconds=max(1.0, error.wait))
    pause = getattr(error, "retry_after", None)
    return timezone.now() + (timedelta(seconds=float(pause)) if pause else AGAIN_AFTER)
