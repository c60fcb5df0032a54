"""What a charge leaves in the charge log: its request, its answer and its end."""

from __future__ import annotations

from typing import Any

from django.core import serializers
from django.db import transaction
from django.db.models import Model

from proxyapi import charge_log
from proxyapi.charge_log import Kind, Record
from proxyapi.models import Charge, DatabaseEpoch
from proxyapi.upstream.reply import Reply


def log_request(charge: Charge) -> bool:
    """Record that the charge is about to be sent; False when this very attempt was sent before."""
    rows: list[Model] = [charge] if charge.job is None else [charge, charge.job]
    content = {"rows": serializers.serialize("python", rows)}
    return charge_log.append_request(_record(Kind.REQUEST, charge, content))


def log_answer(charge: Charge, reply: Reply) -> None:
    cost = reply.credits.cost if reply.credits else None
    charge_log.append(_record(Kind.ANSWER, charge, {"data": reply.data, "cost": cost}))


def log_end(charge: Charge) -> None:
    """Record after the commit how the charge was settled, if it was ever sent."""
    if not charge.tries:
        return
    content = {
        "state": charge.state,
        "cost": charge.cost,
        "booked_at": charge.booked_at,
        "reason": charge.reason,
        "code": charge.code,
        "decided_by": charge.decided_by_id,
    }
    record = _record(Kind.END, charge, content)
    transaction.on_commit(lambda: charge_log.append(record))


def _record(kind: Kind, charge: Charge, content: dict[str, Any]) -> Record:
    epoch = str(DatabaseEpoch.objects.current().id)
    return Record(kind, epoch, str(charge.pk), charge.tries, content=content)
