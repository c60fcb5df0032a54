"""Charges that are stopped, of a team or of one person, and the banner above their pages."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models import Membership
from dashboard.shared.formatting import clock
from dashboard.shared.suspension import is_suspended, suspension_text
from proxyapi.models import Tenant
from proxyapi.refusals import ChargesStopped

PERSON_PAUSED = (
    "Not sent. {by} paused the charges of {name} on {at}: “{reason}”. Nothing was charged. {who} "
    "can allow them again."
)
WHO_ALLOWS = "An owner, admin or treasurer"


class PersonPaused(ChargesStopped):
    """Somebody paused the charges of one person, those of their API keys too."""


def check_person_may_charge(by: Membership) -> None:
    """Raise `PersonPaused` if the charges of this member are paused now. One query.

    The caller has locked the team's row: a pause releases held charges under the same lock, so a
    charge is either refused here or released there.
    """
    paused = Membership.with_deactivated.exclude(charges_paused_at=None).filter(pk=by.pk).first()
    if paused is None or paused.charges_paused_at is None:
        return
    local = paused.charges_paused_at.astimezone(by.team.tenant.zone)
    sentence = PERSON_PAUSED.format(
        by=paused.charges_paused_by,
        name=by.user,
        at=f"{local.day} {local:%b} at {local:%H:%M}",
        reason=paused.charge_pause_reason,
        who=WHO_ALLOWS,
    )
    raise PersonPaused(sentence)


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


def build_charge_pause_notice(reader: Membership) -> ChargeStopNotice:
    """The banner for a person whose charges are paused; empty for others. No query."""
    if reader.charges_paused_at is None:
        return ChargeStopNotice()
    return ChargeStopNotice(
        f"{reader.charges_paused_by} paused your charges at {clock(reader.charges_paused_at)}.",
        f"“{reader.charge_pause_reason}” Nothing that costs credits is sent for you, your API "
        f"keys or your agents. Running renders go on. {WHO_ALLOWS} can allow your charges again "
        "under Members.",
    )
