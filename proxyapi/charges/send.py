"""Send: claim a held charge, send it at most once, and settle what the answer says.

The claim is one conditional update, so a task that runs twice sends once. Only what provably did
not start (no connection, 429) goes back to `held`; a lost answer is `unknown` and is never sent
again. Calls may take minutes: workers make them, never a web request.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import calls, drafts, failpoints
from proxyapi.allowance import AllowanceExhausted, AllowanceUnknown, Grant, Lane
from proxyapi.charges import effect, evidence, log_records, outcome, recovery, waits
from proxyapi.charges.crash import counted
from proxyapi.charges.sender import waiting
from proxyapi.durable import durable
from proxyapi.models import Charge, ChargeState, JobKind, JobState
from proxyapi.upstream import errors
from proxyapi.upstream.catalog import operation
from proxyapi.upstream.envelope import Files

PATIENCE = 2.0  # seconds to wait for a turn; longer waits are the row's, not a worker's
GIVE_UP_AFTER = timedelta(minutes=15)


@counted
def send(charge_id: UUID) -> None:
    """Send the charge if it is held and nobody else does."""
    charge = Charge.objects.loaded(charge_id)
    if charge.state != ChargeState.HELD:
        return
    try:
        if recovery.recover_if_restored():
            return  # it may have been sent; if not, it is due as before
    except AllowanceExhausted as error:
        wait(charge, error)
        return
    if timezone.now() - (charge.held_at or charge.created_at) > GIVE_UP_AFTER:
        outcome.never_sent(charge)  # whatever kept it: nobody expects it to be sent any more
        return
    if not charge.account.is_of_current_upstream:
        wait(charge, calls.TokenOfAnother())
        return
    try:
        record = sync(charge)
        if ended_as_begun(charge, record):
            return
        before = evidence.before(charge, record)
        grant = calls.admit(charge.token, Lane.PERSON, PATIENCE, charge.operation)
    except (errors.Refused, errors.Unsendable) as error:
        outcome.refused(charge, error)
    except (errors.UpstreamError, AllowanceExhausted) as error:
        wait(charge, error)
    else:
        if claim(charge, before):
            post(charge, grant)


def sync(charge: Charge) -> dict[str, Any]:
    """The resource as it is just before sending, with the settings the person saw the price of."""
    job = charge.job
    if job is None or job.kind != JobKind.FACELESS or job.state == JobState.COMPLETED:
        return evidence.look(charge, Lane.PERSON)
    record = drafts.sync(job, Lane.PERSON, PATIENCE)
    # A PATCH need not answer the whole record.
    whole = evidence.is_whole(charge, record)
    return record if whole else evidence.look(charge, Lane.PERSON)


def ended_as_begun(charge: Charge, record: dict[str, Any]) -> bool:
    """End a charge whose video the service renders already, or did: the render would be paid again,
    a retry be refused. It is watched then, and never sent."""
    sight = evidence.begun(charge, record)
    if sight is None:
        return False
    with transaction.atomic():
        outcome.lock_account(charge)
        charge.reread()
        if charge.state == ChargeState.HELD:  # else another worker sends it
            outcome.free(charge, effect.found_begun(charge, sight), None)
    return True


def claim(charge: Charge, before: dict[str, object]) -> bool:
    """Durably: a power failure after the request must not find it held, and send it again. By the
    token that was admitted; another one that took it over since has its own turn."""
    now = timezone.now()
    with durable():
        return Charge.objects.filter(token=charge.token).move(
            charge,
            ChargeState.SENDING,
            before=before,
            tries=charge.tries + 1,
            reason="",
            sent_at=now,
            alive_at=now,
            due_at=now + waits.silence(),
        )


def abandoned(charge: Charge) -> bool:
    """Whether a charge in `sending` has nobody any more who waits for its answer."""
    last = charge.alive_at or charge.sent_at or charge.created_at
    return last + waits.silence() <= timezone.now()


def post(charge: Charge, grant: Grant) -> None:
    """The one request of a charge."""
    try:
        with waiting(charge):
            if not is_ours(charge):
                return
            if not log_records.log_request(charge):
                recovery.mark_sent_before(charge)
                return
            reply = calls.send(
                charge.token,
                charge.operation,
                grant,
                path=path_of(charge),
                as_of=charge.sent_at,
                **body(charge),
            )
    except AllowanceUnknown as error:  # the charge log has no record of it, so it was not sent
        unsend(charge, error)
    except errors.Unsendable as error:  # it will be no other in a minute
        outcome.refused(charge, error)
    except errors.UpstreamError as error:
        failpoints.reach("answered")
        if error.outcome is errors.Outcome.NOT_SENT:
            unsend(charge, error)
        elif error.outcome is errors.Outcome.REFUSED:
            outcome.refused(charge, error)
        else:
            outcome.unknown(charge, error)
    else:
        failpoints.reach("answered")
        log_records.log_answer(charge, reply)
        outcome.answered(charge, reply)


def is_ours(charge: Charge) -> bool:
    """Whether it still waits for this very sending. A worker that was frozen since its claim, with
    its machine for example, lost it: it may have been settled as never charged, and done anew."""
    claimed = Charge.objects.filter(pk=charge.pk, state=ChargeState.SENDING, tries=charge.tries)
    return claimed.exists()


def path_of(charge: Charge) -> dict[str, str]:
    """Its own parameters, and the job's id for the one that is left."""
    path = dict(charge.path)
    if charge.job and charge.job.remote_id:
        for name in operation(charge.operation).parameters:
            path.setdefault(name, charge.job.remote_id)
    return path


def body(charge: Charge) -> dict[str, Any]:
    """As a form where files go with it, else as JSON; a retry takes none, not even an empty one."""
    files: Files = [
        (upload.field, (upload.name, bytes(upload.content), upload.content_type))
        for upload in charge.uploads.order_by("pk")
    ]
    if files:
        return {"data": charge.body, "files": files}
    return {"json": charge.body or None}


def unsend(charge: Charge, error: Exception) -> None:
    """It provably did not start: back in line."""
    if Charge.objects.move(charge, ChargeState.HELD, due_at=again_at(charge, error)):
        outcome.delayed(charge, error)


def wait(charge: Charge, error: Exception) -> None:
    """Nothing was sent yet; the sweep comes back to it, for a quarter of an hour."""
    held = Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD)
    held.update(due_at=again_at(charge, error))
    outcome.delayed(charge, error)


def again_at(charge: Charge, error: Exception) -> datetime:
    """When it is worth trying again, or when it is given up, if that is sooner."""
    given_up_at = (charge.held_at or charge.created_at) + GIVE_UP_AFTER
    return min(timezone.now() + pause(error), given_up_at + timedelta(seconds=1))


def pause(error: Exception) -> timedelta:
    if isinstance(error, AllowanceExhausted):
        return timedelta(seconds=max(1.0, error.wait))
    untold = waits.again_after()
    if isinstance(error, errors.UpstreamError):
        return timedelta(seconds=error.wait(untold.total_seconds()))
    return untold
