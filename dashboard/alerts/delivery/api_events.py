"""Deliver events of the API: each webhook gets those it chose, once.

A webhook stores the position of the last event that it was given, as a stream of a script does. So
an event that is committed late, or whose task was lost, is found by the next run. An `AlertEvent`
that is listed nowhere refers to it, so that its deliveries are those of an alert.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.urls import reverse

from dashboard.models import AlertEvent, AlertWebhook, Delivery, DeliveryChannel, Team
from dashboard.shared import enqueue
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.notices import build_delivery
from proxyapi.models import ApiEvent, ApiEventType, Job

STATES = {"completed": "completed", "failed": "failed", "unknown": "unknown"}  # for the icon


def enqueue_deliveries(event: ApiEvent, **_: object) -> None:
    """Receiver of `event_recorded`. Most teams have no webhook, and need no task."""
    if AlertWebhook.objects.filter(team__tenant=event.tenant_id).exists():
        enqueue.enqueue_after_commit(enqueue.SEND_EVENTS_TASK, event.tenant_id)


def tenants_with_new_events() -> Iterable[UUID]:
    """The tenants with a webhook that was not given everything yet."""
    new = ApiEvent.objects.filter(tenant=OuterRef("team__tenant"), position=None)
    is_behind = Q(event_position__lt=F("team__tenant__last_event")) | Q(Exists(new))
    hooks = AlertWebhook.objects.filter(is_behind).order_by()
    return hooks.values_list("team__tenant", flat=True).distinct()


def schedule_event_deliveries(tenant_id: UUID) -> list[Delivery]:
    """Create what is to be sent of new events, and return it."""
    last = ApiEvent.objects.number_new(tenant_id)
    hooks = AlertWebhook.objects.filter(team__tenant=tenant_id, event_position__lt=last)
    return [row for pk in hooks.values_list("pk", flat=True) for row in give_new_events(pk, last)]


@transaction.atomic
def give_new_events(webhook_id: UUID, last: int) -> list[Delivery]:
    """Create the deliveries to one webhook of what it was not given yet, up to the position
    `last`."""
    hooks = AlertWebhook.objects.select_for_update(of=("self",), no_key=True)
    hook = hooks.select_related("team").filter(pk=webhook_id).first()
    if hook is None or hook.event_position >= last:
        return []  # removed, or another worker was faster
    events = ApiEvent.objects.filter(tenant=hook.team.tenant_id, event_type__in=hook.event_types)
    new = events.after(hook.event_position).filter(position__lte=last)
    hook.event_position = last
    hook.save(update_fields=["event_position"])
    if hook.disabled_at is not None:
        return []
    alerts = [get_alert_event(hook.team, event) for event in new]
    return Delivery.objects.bulk_create(
        build_delivery(alert, DeliveryChannel.WEBHOOK, hook.host, hook) for alert in alerts
    )


def get_alert_event(team: Team, event: ApiEvent) -> AlertEvent:
    """The row that the deliveries of this event to all webhooks share."""
    label = ApiEventType(event.event_type).label
    amount = event.data.get("credits") or event.data.get("cost") or event.data.get("price")
    facts = [event.data.get("resource"), f"{amount} cr" if amount else ""]
    alert, _ = AlertEvent.objects.get_or_create(
        api_event=event,
        defaults={
            "team": team,
            "subject": str(event.pk),
            "in_portal": False,
            "state": STATES.get(event.event_type.partition(".")[2], "info"),
            "title": f"{event.event_type}: {label}",
            "text": ", ".join(filter(None, facts)),
            "url": page_of(event),
            "happened_at": event.happened_at,
        },
    )
    return alert


def page_of(event: ApiEvent) -> str:
    """The page of the portal that shows what the event tells of."""
    if job_id := event.data.get("job"):
        return job_page_url(Job.objects.filter(pk=job_id).first())
    url = str(event.data["url"])
    return url.removeprefix(settings.PORTAL_URL) if "/api/" not in url else reverse("ledger")
