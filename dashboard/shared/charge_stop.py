"""The banner above every page of a team whose charges are stopped."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.formatting import clock
from dashboard.shared.suspension import is_suspended, suspension_text
from proxyapi.models import Tenant


@dataclass(frozen=True, slots=True)
class ChargeStopNotice:
    """Every member reads the same; empty if charges are allowed. `reloads`: the open page must not
    stay."""

    title: str = ""
    text: str = ""
    reloads: bool = False


def build_charge_stop_notice(tenant: Tenant) -> ChargeStopNotice:
    """No query. Pages of a suspended team that are open get its notice, and then reload."""
    if is_suspended(tenant):
        return ChargeStopNotice("This team is suspended.", suspension_text(tenant), reloads=True)
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
