"""An alert as an email: plain text, one recipient, no secrets."""

from __future__ import annotations

import smtplib

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.models import Delivery
from dashboard.shared.notices import alert_recipients
from dashboard.shared.notifications import undeliverable_reason

SMTP_PERMANENT_CODES = range(500, 600)  # replies of SMTP
ADDRESS_LEFT = "Nobody who may see this alert has this address any more."


def send_alert_email(delivery: Delivery) -> None:
    """Send the alert to the mail server. Raises `DeliveryFailed`, `Undeliverable` if its person may
    not see it any more."""
    event = delivery.event
    reason = undeliverable_reason(event)
    if not reason and delivery.address not in {user.email for user in alert_recipients(event)}:
        reason = ADDRESS_LEFT
    if reason:
        raise Undeliverable(reason)
    context = {"event": event, "team": event.team.name, "portal": settings.PORTAL_URL}
    with timezone.override(event.team.tenant.zone):
        body = render_to_string("alerts/email.txt", context)
    message = EmailMessage(
        # A header has no line breaks, but older names may contain some.
        subject=" ".join(f"{event.team.name}: {event.title}".split()),
        body=body,
        to=[delivery.address],
        headers={"Auto-Submitted": "auto-generated", "X-Reelroom-Alert": str(event.pk)},
    )
    if delivery.attachment:
        name = f"{event.notification.replace('_', '-')}-{event.subject}.csv"
        message.attach(name, delivery.attachment, "text/csv")
    try:
        message.send()
    except smtplib.SMTPRecipientsRefused as error:
        raise recipients_refused_error(error.recipients) from None
    except smtplib.SMTPResponseException as error:
        raise smtp_error(error.smtp_code) from None
    except (smtplib.SMTPException, OSError) as error:
        raise DeliveryFailed(
            f"The mail server did not accept it ({type(error).__name__})."
        ) from None


def recipients_refused_error(recipients: dict[str, tuple[int, bytes]]) -> DeliveryFailed:
    code = next((code for code, _ in recipients.values()), 0)
    kind = Undeliverable if code in SMTP_PERMANENT_CODES else DeliveryFailed
    return kind(f"The mail server rejected this address ({code}).", code)


def smtp_error(code: int) -> DeliveryFailed:
    """Never permanent, even for a refused sign-in: the settings may be fixed before the last
    attempt."""
    return DeliveryFailed(f"The mail server answered {code}.", code)
