"""Write a charge's request, answer and end to the charge log."""

from __future__ import annotations

from typing import Any

from django.core import serializers
from django.db import transaction

from proxyapi import charge_log
from proxyapi.charge_log import ChargeLogKind, ChargeLogRecord
from proxyapi.models import Charge, DatabaseEpoch
from proxyapi.upstream.reply import Reply


def log_charge_request(charge: Charge) -> bool:
    """Record that the charge is about to be sent; return False if this attempt was sent before."""
    rows = [charge, charge.job, charge.job.draft_or_none] if charge.job else [charge]
    content = {"rows": serializers.serialize("python", filter(None, rows))}
    return charge_log.append_request_record(
        _build_log_record(ChargeLogKind.REQUEST, charge, content)
    )


def log_charge_reply(charge: Charge, reply: Reply) -> None:
    cost = reply.credits.cost if reply.credits else None
    charge_log.append_result_record(
        _build_log_record(ChargeLogKind.ANSWER, charge, {"data": reply.data, "cost": cost})
    )


def log_charge_end(charge: Charge) -> None:
    """Record after the commit how the charge was settled, if it was ever sent."""
    if not charge.attempts:
        return
    content = {
        "state": charge.state,
        "cost": charge.cost,
        "booked_at": charge.booked_at,
        "reason": charge.reason,
        "code": charge.code,
        "decided_by": charge.decided_by_id,
    }
    record = _build_log_record(ChargeLogKind.END, charge, content)
    transaction.on_commit(lambda: charge_log.append_result_record(record))


def _build_log_record(
    kind: ChargeLogKind, charge: Charge, content: dict[str, Any]
) -> ChargeLogRecord:
    epoch = str(DatabaseEpoch.objects.get_or_create_current().id)
    return ChargeLogRecord(kind, epoch, str(charge.pk), charge.attempts, content=content)
