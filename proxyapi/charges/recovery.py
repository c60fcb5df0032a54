"""Recovery: find out that the database went back in time, and restore the charges it lost.

Contract: what the charge log says was sent is never sent again. A charge that the database still
holds as unsent, or does not know at all, becomes `unknown` and is settled by what the log knows of
its end, else by reading (rule 2). What cannot be restored is listed for a person.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any, cast
from uuid import uuid4

import redis
from django.contrib.auth import get_user_model
from django.core import serializers
from django.db import Error as DatabaseError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from proxyapi import charge_log
from proxyapi.charge_log import ChargeLogKind, ChargeLogRecord
from proxyapi.charges import job_effects, timeouts, transitions
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    DatabaseEpoch,
    Draft,
    Job,
    Token,
    TopUpChange,
    TopUpChangeState,
)
from proxyapi.models.account import parse_timestamp
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES
from proxyapi.models.top_up_change import OPEN_CHANGE_STATES
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.redis_client import connect_redis
from proxyapi.upstream.reply import Reply, ReplyCredits

RESTORED_CODE = "RESTORED"
ALREADY_SENT_REASON = (
    "It was sent before the database was restored. It is not sent again. Its outcome is being "
    "checked."
)
MAYBE_SENT_REASON = (
    "The database was restored from a backup, and this may have been sent since. It is not sent "
    "again. Its outcome is being checked."
)
APPROVAL_LOST_REASON = (
    "The database was restored from a backup, and this may have been sent since. Nothing was "
    "sent. Request it again if you still need it."
)
TOP_UP_LOST_REASON = (
    "Not saved. The database was restored from a backup. Check the setting and save it again."
)
SUPERSEDED_REASON = (
    "The same request was sent before the database was restored. Nothing was sent twice."
)
RECOVERY_LOCK_S = 600
log = logging.getLogger(__name__)


@dataclass
class RecoveryReport:
    """The result of a recovery, by charge ids; `lost` has a sentence for each charge in the log
    that this database cannot hold."""

    recovered: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """The result in words, for the operator."""
        summary = (
            f"Charges sent after the backup and restored: {len(self.recovered)}. Charges that may "
            f"have been sent after it and are not sent again: {len(self.unsure)}."
        )
        return [summary] + [f"Not restored: {sentence}" for sentence in self.lost]


def mark_already_sent(charge: Charge) -> None:
    """The log already has this attempt, so the database has forgotten it. It is settled by
    reading."""
    fields = {"code": RESTORED_CODE, "reason": ALREADY_SENT_REASON, "due_at": timezone.now()}
    lost_at = timeouts.latest_completion(charge)
    if Charge.objects.transition(charge, ChargeState.UNKNOWN, lost_at=lost_at, **fields):
        job_effects.publish_charge_events(charge)


def recover_if_restored() -> RecoveryReport | None:
    """Recover if the database is older than the newest log record: one read of Redis, one of the
    database.

    Raises `RateLimiterUnavailable` if Redis does not answer.
    """
    newest = charge_log.newest_record()
    if newest is None or not is_unknown_to_database(newest):
        return None
    return recover_charges()


def recover_at_startup() -> RecoveryReport | None:
    """Like `recover_if_restored`, but with the files as well as Redis. Open charges without any log
    mean that the database was moved here without its log."""
    candidates = [charge_log.newest_record(), charge_log.newest_record_on_disk()]
    newest = [record for record in candidates if record is not None]
    if any(is_unknown_to_database(record) for record in newest):
        return recover_charges()
    if newest:
        return None
    if Charge.objects.open().exists():
        return recover_charges()
    charge_log.append_checkpoint_record(str(DatabaseEpoch.objects.get_or_create_current().id))
    return None


def is_unknown_to_database(record: ChargeLogRecord) -> bool:
    """Whether the database is of a time before this record was written."""
    if record.epoch != str(DatabaseEpoch.objects.get_or_create_current().id):
        return True
    if record.kind is ChargeLogKind.CHECKPOINT:
        return False
    stored = Charge.objects.filter(pk=record.charge, attempts__gte=record.attempt)
    return not stored.exists()


def recover_charges(*, doubt_all: bool = False) -> RecoveryReport | None:
    """Restore every charge of the log, begin a new epoch, and return what was done.

    A log that does not know this database's epoch is empty or belongs to another installation: then
    whatever may have been sent counts as sent. `doubt_all` assumes this, because the log went back
    in time together with the database.

    Only one process recovers at a time; None if another one was faster. A crash leaves the epoch
    unchanged, so the next process starts again. Raises `RateLimiterUnavailable`.
    """
    try:
        with connect_redis().lock(
            "reelroom:recovery", timeout=RECOVERY_LOCK_S, blocking_timeout=RECOVERY_LOCK_S
        ):
            newest = charge_log.newest_record()
            if newest and not is_unknown_to_database(newest) and not doubt_all:
                return None
            return _recover_locked(doubt_all)
    except (redis.RedisError, redis.exceptions.LockError):
        raise RateLimiterUnavailable(1.0) from None


def _recover_locked(doubt_all: bool) -> RecoveryReport:
    log.warning("the database is older than the charge log: restoring the charges it lost")
    report, records = RecoveryReport(), charge_log.load_log_records()
    epoch = DatabaseEpoch.objects.get_or_create_current()
    for of_charge in last_attempts(records):
        recover_charge(of_charge, report)
    if doubt_all or str(epoch.id) not in {record.epoch for record in records}:
        mark_unsent_doubtful(report)
    unsent = TopUpChange.objects.filter(state__in=OPEN_CHANGE_STATES, sent_at=None)
    unsent.update(
        state=TopUpChangeState.REFUSED, reason=TOP_UP_LOST_REASON, settled_at=timezone.now()
    )
    # The balance is read again at once; the ledger mirror continues from its last position.
    Account.objects.update(refreshed_at=None)
    epoch = DatabaseEpoch.objects.create(number=epoch.number + 1, report=asdict(report))
    charge_log.append_checkpoint_record(str(epoch.id))
    return report


def last_attempts(records: Iterable[ChargeLogRecord]) -> list[dict[ChargeLogKind, ChargeLogRecord]]:
    """The last attempt of each charge with its answer and its end, in the order of the requests."""
    attempts: dict[str, dict[ChargeLogKind, ChargeLogRecord]] = {}
    for record in records:
        if record.kind is ChargeLogKind.REQUEST:
            attempts.pop(record.charge, None)
            attempts[record.charge] = {ChargeLogKind.REQUEST: record}
        elif record.charge in attempts:
            attempt_records = attempts[record.charge]
            if attempt_records[ChargeLogKind.REQUEST].attempt == record.attempt:
                attempt_records[record.kind] = record
    return list(attempts.values())


def recover_charge(
    records: Mapping[ChargeLogKind, ChargeLogRecord], report: RecoveryReport
) -> None:
    request = records[ChargeLogKind.REQUEST]
    try:
        with transaction.atomic():
            charge = restore_as_unknown(request, report)
            if charge is not None:
                apply_logged_end(charge, records)
    except (DatabaseError, LookupError, ValueError, serializers.base.DeserializationError):
        log.exception("charge %s could not be restored from the log", request.charge)
        report.lost.append(unrestored_sentence(request, "it could not be restored"))


def restore_as_unknown(request: ChargeLogRecord, report: RecoveryReport) -> Charge | None:
    """Return the charge of that request as one with a lost answer; None if it is settled or cannot
    be restored."""
    logged, job, draft = deserialize_rows(request)
    stored = Charge.objects.filter(pk=logged.pk).first()
    if stored is not None and stored.attempts >= request.attempt:
        return stored if stored.state in UNDECIDED_STATES else None
    if stored is not None and not stored.is_open:
        return None
    if missing := missing_reference(logged):
        report.lost.append(
            unrestored_sentence(request, f"this database does not have its {missing}")
        )
        return None
    Account.objects.lock_upstream_account(logged.account_id)
    if job is not None:
        restore_job(job, draft, logged.token_id)
    refuse_unsent_duplicates(logged)
    logged.state, logged.code, logged.reason = (
        ChargeState.UNKNOWN,
        RESTORED_CODE,
        ALREADY_SENT_REASON,
    )
    logged.lost_at, logged.due_at = timeouts.latest_completion(logged), timezone.now()
    logged.save(force_insert=stored is None, force_update=stored is not None)
    report.recovered.append(str(logged.pk))
    job_effects.publish_charge_events(logged)
    return Charge.objects.get_with_relations(logged.pk)


def deserialize_rows(request: ChargeLogRecord) -> tuple[Charge, Job | None, Draft | None]:
    deserialized = serializers.deserialize(
        "python", request.content["rows"], ignorenonexistent=True
    )
    rows = {type(row.object): row.object for row in deserialized}
    return (
        cast(Charge, rows[Charge]),
        cast("Job | None", rows.get(Job)),
        cast("Draft | None", rows.get(Draft)),
    )


def missing_reference(charge: Charge) -> str:
    """The name of what the charge needs and the database lacks; a missing token is replaced by
    another one of its account."""
    if not Account.objects.filter(pk=charge.account_id, tenant=charge.tenant_id).exists():
        return "account"
    if not get_user_model()._default_manager.filter(pk=charge.member_id).exists():
        return "member"
    if not Token.objects.filter(pk=charge.token_id).exists():
        tokens = Token.objects.filter(account=charge.account_id)
        other = sorted(tokens.best_first(), key=lambda token: token.owner_id != charge.member_id)
        if not other:
            return "token"
        charge.token_id = other[0].pk
    return ""


def restore_job(logged: Job, draft: Draft | None, token_id: Any) -> None:
    """Restore the job as it was when its charge was sent, with its remote id and the settings
    sent."""
    stored = Job.objects.select_for_update(of=("self",)).filter(pk=logged.pk).first()
    if logged.remote_id and logged.is_remote_id_taken(logged.remote_id):
        logged.remote_id = None
    if stored is None:
        logged.token_id = token_id
        logged.save(force_insert=True)
    elif stored.remote_id is None:
        stored.remote_id, stored.title = logged.remote_id, logged.title
        stored.save(update_fields=["remote_id", "title"])
    else:
        return
    if draft is not None:
        draft.save()


def refuse_unsent_duplicates(charge: Charge) -> None:
    """Refuse unsent charges of the same operation, or of the same form or quote, that were created
    after the restore. The form's nonce is of the charge that was sent."""
    if charge.job_id is None:
        same = Q(account=charge.account_id, job=None, operation=charge.operation, body=charge.body)
    else:
        same = Q(job=charge.job_id, operation=charge.operation)
    same |= Q(tenant=charge.tenant_id, nonce=charge.nonce)
    unsent = Charge.objects.open().filter(
        same, state__in=[ChargeState.DRAFT, ChargeState.HELD], attempts=0
    )
    for twin in unsent.exclude(pk=charge.pk):
        transitions.release_hold(twin, SUPERSEDED_REASON, None)
        Charge.objects.filter(pk=twin.pk, nonce=charge.nonce).update(nonce=uuid4())


def apply_logged_end(charge: Charge, records: Mapping[ChargeLogKind, ChargeLogRecord]) -> None:
    """Bring the charge to the end that the log records; without one it is settled by reading."""
    if answer := records.get(ChargeLogKind.ANSWER):
        transitions.apply_reply(charge, logged_reply(answer))
        charge = Charge.objects.get_with_relations(charge.pk)
    end = records.get(ChargeLogKind.END)
    if end is None or charge.state not in UNDECIDED_STATES:
        return
    stored = end.content
    if stored["state"] in CHARGED_STATES:
        if not charge.is_proven_executed:
            job_effects.apply_result(charge, {})
            job_effects.mark_script_unread(charge)
        booked_at = parse_timestamp(stored["booked_at"])
        transitions.mark_charged(charge, ChargeState.MATCHED, Decimal(stored["cost"]), booked_at)
    elif stored["state"] == ChargeState.REFUSED:
        transitions.release_hold(charge, stored["reason"], None, stored.get("code", ""))


def logged_reply(answer: ChargeLogRecord) -> Reply:
    cost = answer.content["cost"]
    credits = None if cost is None else ReplyCredits(Decimal(cost), None)
    return Reply(
        data=answer.content["data"],
        meta={},
        credits=credits,
        rate_limit=None,
        status=200,
    )


def mark_unsent_doubtful(report: RecoveryReport) -> None:
    """It is not known what was sent since: held charges are read back first, drafts are
    withdrawn."""
    now = timezone.now()
    for charge in Charge.objects.open().exclude(state=ChargeState.UNKNOWN).select_related("job"):
        if str(charge.pk) in report.recovered:
            continue
        with transaction.atomic():
            Account.objects.lock_upstream_account(charge.account_id)
            if charge.state == ChargeState.DRAFT:
                transitions.release_hold(charge, APPROVAL_LOST_REASON, None)
            else:
                sent_at = charge.sent_at or charge.held_at or charge.created_at
                fields = {"sent_at": sent_at, "lost_at": now, "due_at": now, "code": RESTORED_CODE}
                Charge.objects.transition(
                    charge, ChargeState.UNKNOWN, reason=MAYBE_SENT_REASON, **fields
                )
                job_effects.publish_charge_events(charge)
            report.unsure.append(str(charge.pk))


def unrestored_sentence(request: ChargeLogRecord, why: str) -> str:
    """Describes a charge that cannot be restored, for the operator."""
    rows = {row["model"]: row for row in request.content["rows"]}
    charge = rows["proxyapi.charge"]["fields"]
    job = rows.get("proxyapi.job", {}).get("fields", {})
    title = f" of “{job['title']}”" if job.get("title") else ""
    remote = f", number {job['remote_id']} at the service" if job.get("remote_id") else ""
    return (
        f"{charge['operation']}{title}{remote}, about {charge['quote'] or charge['hold']} cr, "
        f"sent {charge['sent_at']}: {why}."
    )
