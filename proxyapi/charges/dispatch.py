"""Dispatch: claim a held charge, send it at most once, and apply the answer.

The claim is one conditional update, so a task that runs twice sends once. Only a request for which
no connection was made returns the charge to `held`. Whatever else does not prove that nothing was
charged makes it `unknown`, also a 429: it is sent again only from there
(`transitions.end_without_evidence`), once resource and ledger were read and show nothing. Calls can
take minutes, so workers make them, never a web request.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import calls, failpoints, ledger, tokens
from proxyapi.charges import evidence, job_effects, log_records, recovery, timeouts, transitions
from proxyapi.charges.admission import cancel_held_charge
from proxyapi.charges.charge_stop import charge_stop_sentence
from proxyapi.charges.heartbeat import sender_heartbeat
from proxyapi.charges.quarantine import quarantine_failing_charge
from proxyapi.clock_offset import clock_evidence
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.durability import durable_commits
from proxyapi.kinds import KINDS
from proxyapi.media_proxy import MEDIA_EXTENSIONS
from proxyapi.models import Charge, ChargeState, JobState, StoredAnswer
from proxyapi.operations import RatePool, get_operation
from proxyapi.rate_limiter import (
    Permit,
    Priority,
    RateLimiterUnavailable,
    RateLimitExhausted,
    RatePoolExhausted,
)
from proxyapi.stored_files import read_stored_file
from proxyapi.upstream import errors
from proxyapi.upstream.envelope import UploadFiles
from proxyapi.upstream.reply import Answer

PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit; longer waits postpone the row
RATE_LIMIT_USED_UP = "The rate limit of this minute is used up. It is sent next."
STORED_FILES_UNREADABLE = (
    "A file of this request can no longer be decrypted. Remove it and add it again. Nothing was "
    "sent."
)
SCRAPING_POOL_FULL = (
    "The service is reading pages for others right now: it shares one reading queue between all "
    "its customers. It is sent again by itself, until {until:%H:%M} UTC. You can leave this page."
)
RATE_LIMITED = (
    "The service has received too many requests. It is sent again by itself, until {until:%H:%M} "
    "UTC."
)
CHECKED_FIRST = "First it is checked that this request was not charged."


class StoredFilesUnreadable(errors.UnsendableRequest):
    """A file that waits with the job does not decrypt."""

    code = "FILE-UNREADABLE"
    sentence = STORED_FILES_UNREADABLE


@quarantine_failing_charge
def dispatch_charge(charge_id: UUID) -> None:
    """Send the charge if it is held and no other worker has claimed it."""
    charge = Charge.objects.get_with_relations(charge_id)
    if charge.state != ChargeState.HELD:
        return
    try:
        if recovery.recover_if_restored():
            return  # it may have been sent; if not, it is due as before
    except RateLimitExhausted as error:
        postpone_charge(charge, error)
        return
    if sentence := charge_stop_sentence(charge.tenant):
        cancel_held_charge(charge, sentence)
        return
    if timezone.now() > transitions.give_up_at(charge):
        transitions.give_up_unsent(charge)
        return
    if not charge.account.is_of_current_upstream:
        postpone_charge(charge, calls.TokenOfOtherUpstream())
        return
    try:
        record = sync_before_send(charge)
        if doubt_if_carried_out(charge, record) or end_if_already_started(charge, record):
            return
        if charge.job:
            KINDS[charge.job.kind].check_before_send(charge, record)
        before = evidence.snapshot(charge, record)
        of_payer = Priority.GATEWAY if charge.api_key_id else Priority.PERSON
        lane = max(priority_of_job(charge), of_payer)
        permit = calls.acquire_permit(charge.token, lane, PERMIT_TIMEOUT_S, charge.operation)
    except (errors.Refused, errors.UnsendableRequest) as error:
        keep_answer(charge, error.answer)
        transitions.mark_refused(charge, error)
    except (errors.UpstreamError, RateLimitExhausted) as error:
        postpone_charge(charge, error)
    else:
        if claim_charge(charge, before):
            send_charging_request(charge, permit)


def sync_before_send(charge: Charge) -> dict[str, Any]:
    """Return the resource as it is just before sending, with the settings whose price the person
    saw. Without a draft it is only read: nothing is written over what a script set."""
    job, lane = charge.job, priority_of_job(charge)
    prepare = KINDS[job.kind].prepare if job and job.draft_or_none else None
    if job is None or prepare is None or job.state == JobState.COMPLETED:
        return evidence.fetch_evidence(charge, lane)
    record = prepare(job, lane, PERMIT_TIMEOUT_S)
    # The answer of a PATCH may omit parts of the record.
    is_complete = evidence.is_evidence_complete(charge, record)
    return record if is_complete else evidence.fetch_evidence(charge, lane)


def priority_of_job(charge: Charge) -> Priority:
    return calls.priority_of(charge.job) if charge.job else Priority.PERSON


def doubt_if_carried_out(charge: Charge, record: dict[str, Any]) -> bool:
    """Before a second sending: return a charge to `unknown` whose first attempt shows after all."""
    if charge.sent_at is None or not (
        evidence.proves_executed(charge, record) or ledger.has_possible_debit(charge)
    ):
        return False
    if Charge.objects.transition(charge, ChargeState.UNKNOWN, due_at=timezone.now(), reason=""):
        job_effects.publish_charge_events(charge)
    return True


def end_if_already_started(charge: Charge, record: dict[str, Any]) -> bool:
    """Release a charge whose video the service is rendering or has rendered: sending would pay
    again. The job is polled instead."""
    reading = evidence.already_started(charge, record)
    if reading is None:
        return False
    with transaction.atomic():
        transitions.lock_charge_account(charge)
        charge.reload()
        if charge.state == ChargeState.HELD:  # else another worker sends it
            transitions.release_hold(charge, job_effects.adopt_started_job(charge, reading), None)
    return True


def claim_charge(charge: Charge, before: dict[str, object]) -> bool:
    """Move the charge to `sending`, durably: after a power failure it must not be found held and be
    sent again. The claim fails if another token has taken over the charge, or if all charges were
    stopped."""
    now, was_delayed, first = timezone.now(), bool(charge.reason), charge.sent_at
    with durable_commits():
        allowed = Charge.objects.filter(tenant__charges_stopped_at=None, tenant__suspended_at=None)
        is_claimed = allowed.filter(token=charge.token).transition(
            charge,
            ChargeState.SENDING,
            before=charge.before if first else {**before, **clock_evidence()},
            first_sent_at=charge.first_sent_at or first,
            attempts=charge.attempts + 1,
            reason="",
            lost_at=None,
            sent_at=now,
            heartbeat_at=now,
            due_at=now + timeouts.heartbeat_timeout(),
        )
    if is_claimed and was_delayed:  # pages show what it waited for
        job_effects.publish_charge_events(charge)
    return is_claimed


def is_sender_dead(charge: Charge) -> bool:
    """Whether no process waits for the answer of a charge in `sending` any more."""
    last = charge.heartbeat_at or charge.sent_at or charge.created_at
    return last + timeouts.heartbeat_timeout() <= timezone.now()


def send_charging_request(charge: Charge, grant: Permit) -> None:
    """Send the one request of a charge and apply its outcome."""
    try:
        with sender_heartbeat(charge):
            if not is_claim_current(charge):
                return
            if not log_records.log_charge_request(charge):
                recovery.mark_already_sent(charge)
                return
            reply = calls.send_request(
                charge.token,
                charge.operation,
                grant,
                path=build_path_params(charge),
                as_of=charge.sent_at,
                **build_request_body(charge),
            )
    except RateLimiterUnavailable as error:
        # The charge log has no record of it, so it was not sent.
        requeue_unsent(charge, error)
    except errors.UnsendableRequest as error:  # a retry would fail in the same way
        transitions.mark_refused(charge, error)
    except errors.UpstreamError as error:
        failpoints.hit_failpoint("answered")
        apply_error(charge, error)
    else:
        failpoints.hit_failpoint("answered")
        log_records.log_charge_reply(charge, reply)
        keep_answer(charge, reply.answer)
        transitions.apply_reply(charge, reply)


def confirm_token_refusal(charge: Charge, error: errors.Unauthorized) -> None:
    """A 401 is evidence only if a free read with the same token gets one, too: that read marks the
    token as revoked."""
    try:
        calls.call_upstream(
            charge.token, tokens.PROFILE_OPERATION, Priority.PERSON, patience=PERMIT_TIMEOUT_S
        )
    except errors.Unauthorized:
        return
    except (errors.UpstreamError, RateLimitExhausted):
        pass  # not known either
    error.is_documented = False


def apply_error(charge: Charge, error: errors.UpstreamError) -> None:
    """Apply an answer outside 2xx, or a lost one, by what it proves (`error.outcome`)."""
    if isinstance(error, errors.Unauthorized):
        confirm_token_refusal(charge, error)
    if error.outcome is errors.ErrorOutcome.NOT_SENT:
        requeue_unsent(charge, error)
    elif error.outcome is errors.ErrorOutcome.REFUSED:
        keep_answer(charge, error.answer)
        transitions.mark_refused(charge, error)
    else:
        sentence = error.user_message
        if isinstance(error, errors.RateLimited) and error.is_retry_requested:
            sentence = f"{delay_reason(charge, error)} {CHECKED_FIRST}"
        if isinstance(error, errors.ResourceBusy):
            sentence += job_effects.adopt_busy_job(charge)
        transitions.mark_unknown(charge, error, sentence)


def keep_answer(charge: Charge, answer: Answer | None) -> None:
    """Keep the service's answer for the script whose charge it is."""
    if charge.api_key_id and answer is not None:
        StoredAnswer.objects.filter(charge=charge).update(
            status=answer.status, headers=dict(answer.headers), body=answer.body
        )


def is_claim_current(charge: Charge) -> bool:
    """Whether the charge is still claimed by this attempt. A worker that was suspended after its
    claim has lost it: the charge may have been settled as never charged and repeated."""
    claimed = Charge.objects.filter(
        pk=charge.pk, state=ChargeState.SENDING, attempts=charge.attempts
    )
    return claimed.exists()


def build_path_params(charge: Charge) -> dict[str, str]:
    """The charge's path parameters, completed with the job's remote id."""
    path = dict(charge.path)
    if charge.job and charge.job.remote_id:
        for name in get_operation(charge.operation).path_parameters:
            path.setdefault(name, charge.job.remote_id)
    return path


def build_request_body(charge: Charge) -> dict[str, Any]:
    """A multipart form if files go with the charge, else JSON. A retry has no body, not even an
    empty one."""
    files: UploadFiles = [
        (upload.field, (upload.name, bytes(upload.content), upload.content_type))
        for upload in charge.uploads.order_by("pk")
    ]
    body = KINDS[charge.job.kind].request_body(charge) if charge.job else charge.body
    if files := files or stored_files_to_send(charge):
        return {"data": body, "files": files}
    return {"json": body or None}


def stored_files_to_send(charge: Charge) -> UploadFiles:
    """The files that wait with the job, decrypted for this request alone. Their names are ours: a
    member's may say more than they want to tell the service.

    Raises `StoredFilesUnreadable`.
    """
    job, operation = charge.job, get_operation(charge.operation)
    field = KINDS[job.kind].file_field if job and operation.creates else ""
    if not job or not field:
        return []
    files = []
    try:
        for number, file in enumerate(job.stored_files.all(), start=1):
            name = f"{number}.{MEDIA_EXTENSIONS.get(file.content_type, 'bin')}"
            files.append((field, (name, read_stored_file(file), file.content_type)))
    except EncryptionError:
        raise StoredFilesUnreadable(operation) from None
    return files


def requeue_unsent(charge: Charge, error: Exception) -> None:
    """No connection was made: return the charge to `held`, as it was before this attempt."""
    fields = {"due_at": next_attempt_at(charge, error), "sent_at": charge.first_sent_at}
    if Charge.objects.transition(charge, ChargeState.HELD, **fields):
        transitions.mark_delayed(charge, delay_reason(charge, error))


def postpone_charge(charge: Charge, error: Exception) -> None:
    """Nothing was sent yet; the sweep tries again, for at most 15 minutes."""
    held = Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD)
    held.update(due_at=next_attempt_at(charge, error))
    transitions.mark_delayed(charge, delay_reason(charge, error))


def delay_reason(charge: Charge, error: Exception) -> str:
    """What the charge waits for, as a sentence for people."""
    is_pool_full = isinstance(error, RatePoolExhausted) or (
        isinstance(error, errors.RateLimited) and not error.is_token_wide
    )
    until = transitions.give_up_at(charge)
    if is_pool_full and get_operation(charge.operation).rate_pool == RatePool.SCRAPING:
        return SCRAPING_POOL_FULL.format(until=until)
    if isinstance(error, errors.RateLimited):
        return RATE_LIMITED.format(until=until)
    return getattr(error, "user_message", "") or RATE_LIMIT_USED_UP


def next_attempt_at(charge: Charge, error: Exception) -> datetime:
    """When to try again, or when the charge is given up, whichever is earlier."""
    given_up_at = transitions.give_up_at(charge) + timedelta(seconds=1)
    return min(timezone.now() + retry_delay(error), given_up_at)


def retry_delay(error: Exception) -> timedelta:
    if isinstance(error, RateLimitExhausted):
        return timedelta(seconds=max(1.0, error.wait))
    default = timeouts.retry_interval()
    if isinstance(error, errors.UpstreamError):
        return timedelta(seconds=error.retry_delay_s(default.total_seconds()))
    return default
