"""Who was told that a refund does not come: read as columns of its charge, without a query."""

from __future__ import annotations

from django.db.models import Case, CharField, OuterRef, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Cast, Concat, Replace, Substr

from dashboard.models import AlertEvent, AlertKind, Delivery, DeliveryChannel, DeliveryState, User
from dashboard.models.label import JsonList
from dashboard.shared.formatting import clock
from proxyapi.models import Charge

UUID_GROUPS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))  # first digit and length, of 32 digits
REFUND_OWED = Q(refund_owed_at__isnull=False, refunded_at__isnull=True)


def build_subject() -> Concat:
    """Return the charge's id as `AlertEvent.subject` spells it: SQLite keeps ids without
    hyphens."""
    digits = Replace(Cast(OuterRef("pk"), CharField()), Value("-"))
    parts: list[Substr | Value] = []
    for start, length in UUID_GROUPS:
        parts += [Substr(digits, start, length), Value("-")]
    return Concat(*parts[:-1], output_field=CharField())


def with_refund_alerts(charges: QuerySet[Charge]) -> QuerySet[Charge]:
    """Annotate when the first alert of an owed refund was raised, and the names of those to whom
    the mail server took an e-mail about it."""
    about = {
        "rule__kind": AlertKind.REFUND_OWED,
        "team__tenant": OuterRef("tenant"),
        "subject": build_subject(),
    }
    events = AlertEvent.objects.filter(**about).order_by("happened_at")
    emails = Delivery.objects.filter(
        **{f"event__{name}": value for name, value in about.items()},
        channel=DeliveryChannel.EMAIL,
        state=DeliveryState.DELIVERED,
    )
    recipients = User.objects.filter(email=OuterRef("address")).values("name")[:1]
    names = emails.order_by().values("channel").annotate(names=JsonList(Subquery(recipients)))
    return charges.annotate(
        refund_alert_at=Case(
            When(REFUND_OWED, then=Subquery(events.values("happened_at")[:1])),
        ),
        refund_alert_names=Case(When(REFUND_OWED, then=Subquery(names.values("names")))),
    )


def refund_alert_text(charge: Charge) -> str:
    """Return such as "Mira and Thea were told." of a charge of `with_refund_alerts`; "" without an
    alert."""
    raised_at = getattr(charge, "refund_alert_at", None)
    if raised_at is None:
        return ""
    names = getattr(charge, "refund_alert_names", None) or ()
    first = sorted({name.split()[0] for name in names if name and name.split()})
    if not first:
        return f"An alert was raised at {clock(raised_at)}."
    listed = f"{', '.join(first[:-1])} and {first[-1]}" if len(first) > 1 else first[0]
    return f"{listed} {'were' if len(first) > 1 else 'was'} told."
