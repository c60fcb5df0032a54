"""The banner above every page of a team whose charges are stopped."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.formatting import clock
from proxyapi.models import Tenant


@dataclass(frozen=True, slots=True)
class ChargeStopNotice:
    """Every member reads the same; empty if charges are allowed."""

    title: str = ""
    text: str = ""


def build_charge_stop_notice(tenant: Tenant) -> ChargeStopNotice:
    """No query."""
    if tenant.charges_stopped_at is None:
        return ChargeStopNotice()
    title = (
        f"{tenant.charges_stopped_by} stopped all charges at {clock(tenant.charges_stopped_at)}."
    )
    return ChargeStopNotice(
        title,
        f"“{tenant.charge_stop_reason}” Nothing that costs credits is sent. Running renders go on. "
        "An owner or admin can allow charges again under Operations.",
    )
