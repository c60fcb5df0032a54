"""Who was told that a refund does not come."""

from __future__ import annotations

from dashboard.models import AlertEvent, AlertKind, DeliveryChannel, DeliveryState, User
from dashboard.shared.formatting import clock
from proxyapi.models import Charge


def refund_alert_text(charge: Charge) -> str:
    """Return such as "Mira and Thea were told." of a charge whose refund is owed: to whom the mail
    server took an e-mail about it; "" without an alert.

    At most two queries, once for the charge as it was loaded: to join the alerts to every charge of
    a list took longer than to ask for the few that are owed a refund.
    """
    told: str | None = getattr(charge, "refund_alert", None)
    if told is None:
        told = charge.refund_alert = load_refund_alert(charge)  # type: ignore[attr-defined]
    return told


def load_refund_alert(charge: Charge) -> str:
    events = AlertEvent.objects.filter(
        rule__kind=AlertKind.REFUND_OWED, team__tenant=charge.tenant_id, subject=str(charge.pk)
    )
    raised_at = events.order_by("happened_at").values_list("happened_at", flat=True).first()
    if raised_at is None:
        return ""
    emails = events.filter(
        deliveries__channel=DeliveryChannel.EMAIL, deliveries__state=DeliveryState.DELIVERED
    )
    told = User.objects.filter(email__in=emails.values("deliveries__address"))
    first = sorted(
        {name.split()[0] for name in told.values_list("name", flat=True) if name.strip()}
    )
    if not first:
        return f"An alert was raised at {clock(raised_at)}."
    listed = f"{', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else first[0]
    return f"{listed} {'were' if len(first) > 1 else 'was'} told."
